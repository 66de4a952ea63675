/* SPDX-License-Identifier: MIT
 *
 * Files: a file is complete or not there; readers refuse what is short. */
#include "read/file.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/test.h"

static char directory[] = "/tmp/meissa-file-XXXXXX";
static char path[PATH_MAX];

static int files_in_directory(void) {
  int count = -2; /* . and .. */
  DIR *list = opendir(directory);
  while (list != NULL && readdir(list) != NULL) count++;
  if (list != NULL) closedir(list);
  return count;
}

static void write_text(const char *text) {
  ms_error err = {0};
  ms_file_writer *writer = ms_file_writer_open(path, &err);
  CHECK(writer != NULL);
  CHECK(ms_file_writer_write(writer, text, strlen(text), &err) == 0);
  CHECK(writer->crc == crc32(0, (const unsigned char *)text, (uInt)strlen(text)));
  CHECK(ms_file_writer_commit(writer, &err) == 0);
}

static bool holds(const char *text) {
  ms_error err = {0};
  char buffer[256] = "";
  ms_file_reader *reader = ms_file_reader_open(path, &err);
  bool same = reader != NULL && reader->size == strlen(text) &&
              ms_file_reader_read(reader, buffer, reader->size, &err) == 0 &&
              memcmp(buffer, text, strlen(text)) == 0;
  ms_file_reader_close(reader);
  return same;
}

static void test_replace(void) {
  write_text("first");
  CHECK(holds("first"));
  CHECK(chmod(path, 0640) == 0);
  write_text("second");
  CHECK(holds("second") && files_in_directory() == 1);
  struct stat state;
  CHECK(stat(path, &state) == 0 && (state.st_mode & 0777 & ~(mode_t)0640) == 0);
}

static void test_abort(void) {
  ms_error err = {0};
  write_text("kept");
  ms_file_writer *writer = ms_file_writer_open(path, &err);
  CHECK(ms_file_writer_write(writer, "half", 4, &err) == 0 && files_in_directory() == 2);
  ms_file_writer_abort(writer);
  CHECK(holds("kept") && files_in_directory() == 1);
}

/* The limit on file sizes stands in for a full disk. */
static void test_full(void) {
  ms_error err = {0};
  write_text("kept");
  struct rlimit before, small;
  getrlimit(RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 10000;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  static char bytes[100000];
  ms_file_writer *writer = ms_file_writer_open(path, &err);
  CHECK(ms_file_writer_write(writer, bytes, sizeof bytes, &err) == -1);
  CHECK(err.code == MS_FIL && strstr(err.message, "kept") != NULL);
  ms_file_writer_abort(writer);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  CHECK(holds("kept") && files_in_directory() == 1);
}

static void test_links(void) {
  char link[PATH_MAX + 8];
  struct stat state;
  write_text("target");
  snprintf(link, sizeof link, "%s.link", path);
  CHECK(symlink(path, link) == 0);
  ms_error err = {0};
  ms_file_writer *writer = ms_file_writer_open(link, &err);
  CHECK(ms_file_writer_write(writer, "through", 7, &err) == 0);
  CHECK(ms_file_writer_commit(writer, &err) == 0);
  CHECK(holds("through"));
  CHECK(lstat(link, &state) == 0 && S_ISLNK(state.st_mode));
  unlink(link);
}

static void test_refused(void) {
  ms_error err = {0};
  CHECK(ms_file_writer_open("/nowhere/at/all", &err) == NULL && err.code == MS_FIL);
  ms_error_clear(&err);
  CHECK(ms_file_writer_open(directory, &err) == NULL && strstr(err.message, "directory") != NULL);
  ms_error_clear(&err);
  CHECK(ms_file_writer_open("/dev/null", &err) == NULL && strstr(err.message, "regular") != NULL);
  ms_error_clear(&err);
  CHECK(ms_file_reader_open("/nowhere/at/all", &err) == NULL && err.code == MS_FIL);
  ms_error_clear(&err);
  CHECK(ms_file_reader_open(directory, &err) == NULL && strstr(err.message, "directory") != NULL);
  ms_error_clear(&err);
  CHECK(ms_file_reader_open("/dev/null", &err) == NULL && strstr(err.message, "regular") != NULL);
}

static void test_short(void) {
  ms_error err = {0};
  char buffer[16];
  write_text("short");
  ms_file_reader *reader = ms_file_reader_open(path, &err);
  CHECK(ms_file_reader_read(reader, buffer, 3, &err) == 0);
  CHECK(ms_file_reader_read(reader, buffer, 3, &err) == -1);
  CHECK(err.code == MS_FIL && strstr(err.message, "truncated") != NULL);
  CHECK(strcmp(err.file, path) == 0);
  ms_file_reader_close(reader);
}

static void test_elements(void) {
  ms_error err = {0};
  const int64_t dims[] = {100, 200};
  ms_array *array = ms_array_dense(MS_INT32, 2, dims, &err);
  for (int32_t i = 0; i < 20000; i++) ((int32_t *)array->data)[i] = i;
  ms_array *turned = ms_array_transpose(array, 0, 1, &err);
  ms_file_writer *writer = ms_file_writer_open(path, &err);
  CHECK(ms_file_writer_elements(writer, turned, &err) == 0 && writer->bytes == 80000);
  CHECK(ms_file_writer_commit(writer, &err) == 0);
  static int32_t back[20000];
  ms_file_reader *reader = ms_file_reader_open(path, &err);
  CHECK(ms_file_reader_read(reader, back, sizeof back, &err) == 0);
  ms_file_reader_close(reader);
  bool same = true;
  for (int32_t i = 0; i < 200; i++) {
    for (int32_t j = 0; j < 100; j++) same = same && back[i * 100 + j] == j * 200 + i;
  }
  CHECK(same);
  ms_array_release(turned);
  ms_array_release(array);
}

/* Elements with the bits of all kinds of NaN come back as one of them. */
static void test_nan(void) {
  ms_error err = {0};
  static uint64_t bits[20000];
  const int64_t dims[] = {20000};
  double nan = NAN;
  for (size_t i = 0; i < 20000; i++) {
    bits[i] = i % 3 == 0 ? 0xfff8000000000001u + i : i % 3 == 1 ? 0x7ff0000000000001u + i : i;
  }
  ms_file_writer *writer = ms_file_writer_open(path, &err);
  CHECK(ms_file_writer_write(writer, bits, sizeof bits, &err) == 0);
  CHECK(ms_file_writer_commit(writer, &err) == 0);
  ms_array *array = ms_array_dense(MS_DOUBLE, 1, dims, &err);
  ms_file_reader *reader = ms_file_reader_open(path, &err);
  CHECK(ms_file_reader_elements(reader, array, &err) == 0 && reader->position == sizeof bits);
  CHECK(ms_file_reader_elements(reader, array, &err) == -1 && err.code == MS_FIL);
  ms_file_reader_close(reader);
  for (size_t i = 0; i < 20000; i++) {
    if (i % 3 != 2) memcpy(&bits[i], &nan, sizeof nan);
  }
  CHECK(memcmp(bits, array->data, sizeof bits) == 0);
  ms_array_release(array);
}

int main(void) {
  CHECK(mkdtemp(directory) != NULL);
  snprintf(path, sizeof path, "%s/file", directory);
  test_replace();
  test_abort();
  test_full();
  test_links();
  test_refused();
  test_short();
  test_elements();
  test_nan();
  unlink(path);
  rmdir(directory);
  return ms_test_end();
}
