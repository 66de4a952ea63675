/* SPDX-License-Identifier: MIT
 *
 * The cache: what is complete is found, what is not is not, and the oldest goes first. The specs
 * attack it from outside (spec/kernel/native_compile_spec.lua). */
#include "kernel/compile/cache.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/test.h"

#define BODY 1000

static char directory[] = "/tmp/meissa-cache-XXXXXX";
static ms_cache cache;

static const char *key_of(unsigned number) {
  static char key[MS_DIGEST_SIZE + 1];
  snprintf(key, sizeof key, "%032x", number);
  return key;
}

/* Writes a file as a compiler might: an ELF header with a section table at the end, of which
 * `missing` bytes are not there. */
static void write_object(const char *name, unsigned char fill, size_t missing) {
  Elf64_Ehdr head = {.e_type = ET_DYN,
                     .e_machine = EM_X86_64,
                     .e_shoff = sizeof head + BODY - sizeof(Elf64_Shdr),
                     .e_shnum = 1,
                     .e_shentsize = sizeof(Elf64_Shdr)};
  memcpy(head.e_ident, ELFMAG, SELFMAG);
  unsigned char body[BODY];
  memset(body, fill, sizeof body);
  int fd = openat(cache.fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  CHECK(fd >= 0 && write(fd, &head, sizeof head) == sizeof head);
  CHECK(write(fd, body, sizeof body - missing) == (ssize_t)(sizeof body - missing));
  close(fd);
}

static int publish(unsigned number, uint64_t limit) {
  ms_error err = {0};
  write_object("tmp.1.so", (unsigned char)number, 0);
  int failed = ms_cache_publish(&cache, "tmp.1.so", key_of(number), limit, &err);
  CHECK(faccessat(cache.fd, "tmp.1.so", F_OK, 0) != 0);
  return failed;
}

static bool finds(unsigned number) {
  ms_text object = {0};
  bool found = ms_cache_find(&cache, key_of(number), &object);
  CHECK(!found || object.length == sizeof(Elf64_Ehdr) + BODY);
  CHECK(!found || object.bytes[sizeof(Elf64_Ehdr)] == (char)number);
  ms_text_free(&object);
  return found;
}

static void test_publish(void) {
  CHECK(!finds(1));
  CHECK(publish(1, MS_CACHE_LIMIT) == 0 && finds(1));
  CHECK(publish(2, MS_CACHE_LIMIT) == 0 && finds(2) && finds(1));
  ms_text object;
  CHECK(ms_cache_read(directory, key_of(2), &object) == sizeof(Elf64_Ehdr) + BODY);
  ms_cache_release(&object);
  CHECK(ms_cache_read(directory, key_of(3), &object) == 0);
  CHECK(ms_cache_read(directory, "../../etc/passwd", &object) == 0);
  CHECK(ms_cache_read("/nonexistent", key_of(2), &object) == 0);
}

static void test_refusal(void) {
  ms_error err = {0};
  write_object("tmp.2.so", 9, 1);
  CHECK(ms_cache_publish(&cache, "tmp.2.so", key_of(9), MS_CACHE_LIMIT, &err) != 0);
  CHECK(err.code == MS_WRK && faccessat(cache.fd, "tmp.2.so", F_OK, 0) != 0 && !finds(9));
  ms_error_clear(&err);
  CHECK(ms_cache_publish(&cache, "tmp.3.so", key_of(9), MS_CACHE_LIMIT, &err) != 0);
  CHECK(err.code == MS_WRK);
}

/* Dates the object `number` back by so many seconds. */
static void age(unsigned number, long seconds) {
  char name[64];
  snprintf(name, sizeof name, "%s.so", key_of(number));
  struct timespec times[2];
  clock_gettime(CLOCK_REALTIME, &times[0]);
  times[0].tv_sec -= seconds;
  times[1] = times[0];
  CHECK(utimensat(cache.fd, name, times, 0) == 0);
}

static void test_eviction(void) {
  for (unsigned number = 1; number <= 6; number++) {
    CHECK(publish(number, MS_CACHE_LIMIT) == 0);
    age(number, 100 - (long)number);
  }
  CHECK(finds(1)); /* used last, now */
  int other = openat(cache.fd, "notes.txt", O_WRONLY | O_CREAT, 0600);
  CHECK(other >= 0);
  close(other);
  CHECK(publish(7, 4000) == 0);
  CHECK(finds(7) && finds(1) && finds(6));
  CHECK(!finds(2) && !finds(3) && !finds(4) && !finds(5));
  CHECK(faccessat(cache.fd, "notes.txt", F_OK, 0) == 0);
  CHECK(publish(8, 1) == 0 && finds(8) && !finds(7)); /* the newest stays, whatever the limit */
}

static void test_leftovers(void) {
  write_object("tmp.77.so", 1, 0);
  write_object("tmp.78.so", 1, 0);
  struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
  CHECK(utimensat(cache.fd, "tmp.77.so", old, 0) == 0);
  CHECK(publish(1, MS_CACHE_LIMIT) == 0);
  CHECK(faccessat(cache.fd, "tmp.77.so", F_OK, 0) != 0);
  CHECK(faccessat(cache.fd, "tmp.78.so", F_OK, 0) == 0);
}

/* Readers see one complete object or none while writers replace and evict. */
static void test_crowd(void) {
  enum { CROWD = 4, ROUNDS = 200 };
  pid_t crowd[CROWD];
  for (int p = 0; p < CROWD; p++) {
    crowd[p] = fork();
    if (crowd[p] != 0) continue;
    ms_test_limit(60);
    ms_test_failed = 0;
    for (unsigned k = 0; k < ROUNDS; k++) {
      char name[32];
      ms_error err = {0};
      unsigned number = 20 + k % 5;
      snprintf(name, sizeof name, "tmp.%ld.so", (long)getpid());
      write_object(name, (unsigned char)number, 0);
      CHECK(ms_cache_publish(&cache, name, key_of(number), 3000, &err) == 0);
      finds(20 + (k + 1) % 5);
    }
    _exit(ms_test_failed == 0 ? 0 : 1);
  }
  for (int p = 0; p < CROWD; p++) {
    int status = -1;
    CHECK(waitpid(crowd[p], &status, 0) == crowd[p] && status == 0);
  }
}

int main(void) {
  ms_error err = {0};
  ms_test_limit(60);
  CHECK(mkdtemp(directory) != NULL);
  CHECK(ms_cache_open(&cache, directory, false, &err) == 0);
  test_publish();
  test_refusal();
  test_eviction();
  test_leftovers();
  test_crowd();
  ms_cache_close(&cache);
  CHECK(cache.fd < 0);
  ms_directory_clear(directory);
  CHECK(access(directory, F_OK) != 0);
  return ms_test_end();
}
