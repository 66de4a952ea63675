/* SPDX-License-Identifier: MIT
 *
 * Cache: see cache.h. */
#include "kernel/compile/cache.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX      ".so"
#define NAME_SIZE   (MS_DIGEST_SIZE + sizeof SUFFIX)
#define MOST_OBJECT ((off_t)64 << 20)
#define OLD         3600 /* seconds after which a compiler's file is nobody's */
#define OTHERS      (S_IRWXG | S_IRWXO)
#define ROOM        ((uint64_t)1 << 20) /* bytes for what compilers write */

/* Stands at an object's end, behind what the loader looks at. */
typedef struct seal {
  char magic[8];
  char key[MS_DIGEST_SIZE], digest[MS_DIGEST_SIZE];
  uint64_t size;
} seal;

static const char magic[8] = "meissa1";

static void name_of(const char *key, char name[NAME_SIZE]) {
  snprintf(name, NAME_SIZE, "%.*s" SUFFIX, MS_DIGEST_SIZE, key);
}

/* ---- the directory ---- */

/* Makes a directory and those above it. */
static void make_path(const char *path) {
  char copy[PATH_MAX];
  snprintf(copy, sizeof copy, "%s", path);
  for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(copy, 0700) != 0 && errno != EEXIST) return;
    *slash = '/';
  }
  mkdir(path, 0700);
}

/* Whether objects can be written: a compiler on a full disk fails without a word on why. */
static bool has_room(int fd) {
  struct statvfs disk;
  return fstatvfs(fd, &disk) != 0 || (uint64_t)disk.f_bavail * disk.f_frsize >= ROOM;
}

int ms_cache_open(ms_cache *cache, const char *path, bool make, ms_error *err) {
  *cache = (ms_cache){.fd = -1, .private = {.lock = -1}};
  if (path[0] != '/' || strlen(path) >= sizeof cache->path - 64) {
    return ms_error_set(err, MS_OPT, "'%.200s' is not an absolute path", path);
  }
  if (make) make_path(path);
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat about;
  if (fd < 0 || fstat(fd, &about) != 0) {
    bool link = errno == ELOOP || errno == ENOTDIR;
    ms_error_set(err, MS_OPT, "%.300s %s", path, link ? "is no directory" : strerror(errno));
  } else if (about.st_uid != geteuid()) {
    ms_error_set(err, MS_OPT, "%.300s belongs to another user", path);
  } else if ((about.st_mode & OTHERS) != 0) {
    ms_error_set(err, MS_OPT, "%.300s is open to other users (mode %03o, not 700)", path,
                 (unsigned)about.st_mode & 0777u);
  } else if (make && faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) != 0) {
    ms_error_set(err, MS_OPT, "%.300s is not writable", path);
  } else if (make && !has_room(fd)) {
    ms_error_set(err, MS_OPT, "%.300s is on a disk that is full", path);
  } else {
    cache->fd = fd;
    snprintf(cache->path, sizeof cache->path, "%s", path);
    return 0;
  }
  if (fd >= 0) close(fd);
  return -1;
}

/* The path that the environment asks for; false when it names none. */
static bool usual_path(char path[PATH_MAX], bool *asked) {
  const char *own = getenv("MEISSA_CACHE"), *base = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  int length = -1;
  *asked = own != NULL && own[0] != '\0';
  if (*asked) {
    length = snprintf(path, PATH_MAX, "%s", own);
  } else if (base != NULL && base[0] == '/') {
    length = snprintf(path, PATH_MAX, "%s/meissa", base);
  } else if (home != NULL && home[0] == '/') {
    length = snprintf(path, PATH_MAX, "%s/.cache/meissa", home);
  }
  return length > 0 && length < PATH_MAX;
}

int ms_cache_open_usual(ms_cache *cache, ms_error *notice, ms_error *err) {
  char path[PATH_MAX];
  bool asked;
  struct stat about;
  ms_error trouble = {0};
  ms_error_clear(notice);
  if (usual_path(path, &asked)) {
    if (ms_cache_open(cache, path, true, &trouble) == 0) return 0;
    /* A home that cannot be written to is no news. */
    bool odd = lstat(path, &about) == 0 && (about.st_uid != geteuid() || access(path, W_OK) == 0);
    if (asked || odd) *notice = trouble;
  }
  *cache = (ms_cache){.fd = -1};
  ms_directory private;
  if (ms_directory_make(&private, NULL) != 0) {
    return ms_error_set(err, MS_OPT,
                        "there is no directory for its files: make one of XDG_RUNTIME_DIR, TMPDIR "
                        "and /tmp writable, or set MEISSA_CACHE");
  }
  if (ms_cache_open(cache, private.path, false, err) != 0) {
    ms_directory_remove(&private);
    return -1;
  }
  cache->private = private;
  return 0;
}

void ms_cache_close(ms_cache *cache) {
  if (cache->fd >= 0) close(cache->fd);
  if (cache->private.path[0] != '\0') ms_directory_remove(&cache->private);
  *cache = (ms_cache){.fd = -1, .private = {.lock = -1}};
}

/* ---- reading ---- */

/* Reads a whole file; false when it is short. */
static bool read_all(int fd, size_t size, ms_text *out) {
  char bytes[16384];
  while (size > 0) {
    ssize_t got = read(fd, bytes, size < sizeof bytes ? size : sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    ms_text_append(out, bytes, (size_t)got);
    size -= (size_t)got;
  }
  return !out->failed;
}

static void seal_for(const char *bytes, size_t size, const char *key, seal *out) {
  char digest[MS_DIGEST_SIZE + 1];
  ms_digest(bytes, size, digest);
  memset(out, 0, sizeof *out);
  memcpy(out->magic, magic, sizeof out->magic);
  memcpy(out->key, key, MS_DIGEST_SIZE);
  memcpy(out->digest, digest, MS_DIGEST_SIZE);
  out->size = size;
}

/* Whether the bytes from `from` on are an object with its seal; takes the seal off. */
static bool unseal(ms_text *object, size_t from, const char *key) {
  size_t length = object->length - from;
  if (length <= sizeof(seal)) return false;
  seal expected;
  size_t size = length - sizeof expected;
  seal_for(object->bytes + from, size, key, &expected);
  if (memcmp(object->bytes + from + size, &expected, sizeof expected) != 0) return false;
  object->length = from + size;
  return true;
}

bool ms_cache_find(const ms_cache *cache, const char *key, ms_text *object) {
  char name[NAME_SIZE];
  name_of(key, name);
  int fd = openat(cache->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ELOOP) unlinkat(cache->fd, name, 0);
    return false;
  }
  struct stat about = {0};
  size_t from = object->length;
  bool good = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
              (about.st_mode & (S_IWGRP | S_IWOTH)) == 0 && about.st_nlink <= 1 &&
              about.st_size <= MOST_OBJECT && read_all(fd, (size_t)about.st_size, object) &&
              unseal(object, from, key);
  if (good) {
    futimens(fd, NULL);
  } else {
    if (!object->failed) object->length = from;
    if (about.st_nlink > 0) unlinkat(cache->fd, name, 0);
  }
  close(fd);
  return good;
}

size_t ms_cache_read(const char *path, const char *key, ms_text *object) {
  ms_cache cache;
  *object = (ms_text){0};
  if (strlen(key) != MS_DIGEST_SIZE || ms_cache_open(&cache, path, false, NULL) != 0) return 0;
  bool found = ms_cache_find(&cache, key, object);
  ms_cache_close(&cache);
  if (!found) ms_text_free(object);
  return found ? object->length : 0;
}

void ms_cache_release(ms_text *object) {
  ms_text_free(object);
}

/* ---- writing ---- */

/* Whether the bytes are a shared object of this machine that was written to its end. */
static bool is_object(const char *bytes, size_t size) {
  Elf64_Ehdr head;
  if (size < sizeof head) return false;
  memcpy(&head, bytes, sizeof head);
  return memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_type == ET_DYN &&
         head.e_machine == EM_X86_64 && head.e_shoff <= size &&
         (uint64_t)head.e_shnum * head.e_shentsize <= size - head.e_shoff;
}

typedef struct aged {
  char name[NAME_SIZE];
  struct timespec used;
  uint64_t size;
} aged;

static int by_age(const void *left, const void *right) {
  const aged *a = left, *b = right;
  if (a->used.tv_sec != b->used.tv_sec) return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
  if (a->used.tv_nsec != b->used.tv_nsec) return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
  return strcmp(a->name, b->name);
}

/* Whether a name is an object's; compilers' files, "tmp...", that were left behind are removed. */
static bool is_ours(const ms_cache *cache, const char *name, struct stat *about) {
  if (fstatat(cache->fd, name, about, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (strncmp(name, "tmp.", 4) == 0 && time(NULL) - about->st_mtime > OLD) {
    unlinkat(cache->fd, name, 0);
  }
  return strlen(name) == NAME_SIZE - 1 && strspn(name, "0123456789abcdef") == MS_DIGEST_SIZE &&
         strcmp(name + MS_DIGEST_SIZE, SUFFIX) == 0;
}

static void trim(const ms_cache *cache, uint64_t limit) {
  int fd = openat(cache->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = fd < 0 ? NULL : fdopendir(fd);
  if (list == NULL) {
    if (fd >= 0) close(fd);
    return;
  }
  aged *found = NULL;
  size_t count = 0, room = 0;
  uint64_t total = 0;
  for (struct dirent *each; (each = readdir(list)) != NULL;) {
    struct stat about;
    if (!is_ours(cache, each->d_name, &about)) continue;
    if (count == room) {
      room = room == 0 ? 64 : 2 * room;
      aged *grown = realloc(found, room * sizeof *grown);
      if (grown == NULL) break;
      found = grown;
    }
    memcpy(found[count].name, each->d_name, NAME_SIZE);
    found[count].used = about.st_mtim;
    found[count].size = (uint64_t)about.st_size;
    total += found[count++].size;
  }
  closedir(list);
  if (total > limit) qsort(found, count, sizeof *found, by_age);
  for (size_t k = 0; k + 1 < count && total > limit; k++) {
    if (unlinkat(cache->fd, found[k].name, 0) == 0) total -= found[k].size;
  }
  free(found);
}

static bool write_all(int fd, const void *bytes, size_t size) {
  for (const char *at = bytes; size > 0;) {
    ssize_t wrote = write(fd, at, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    at += wrote;
    size -= (size_t)wrote;
  }
  return true;
}

/* Checks and seals the file; 0, or -1 with *err filled. */
static int complete(int fd, const char *key, ms_error *err) {
  struct stat about;
  ms_text bytes = {0};
  seal end;
  int failed = -1;
  if (fstat(fd, &about) != 0 || about.st_size > MOST_OBJECT ||
      !read_all(fd, (size_t)about.st_size, &bytes) || bytes.length == 0 ||
      !is_object(bytes.bytes, bytes.length)) {
    ms_error_set(err, MS_WRK, "what it made is no shared object");
  } else {
    seal_for(bytes.bytes, bytes.length, key, &end);
    failed = fchmod(fd, 0600) == 0 && write_all(fd, &end, sizeof end) ? 0 : -1;
    if (failed != 0) ms_error_set(err, MS_WRK, "its output cannot be written: %s", strerror(errno));
  }
  ms_text_free(&bytes);
  return failed;
}

int ms_cache_publish(const ms_cache *cache, const char *file, const char *key, uint64_t limit,
                     ms_error *err) {
  char name[NAME_SIZE];
  name_of(key, name);
  int fd = openat(cache->fd, file, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  int failed = -1;
  if (fd < 0) {
    ms_error_set(err, MS_WRK, "its output cannot be read: %s", strerror(errno));
  } else {
    failed = complete(fd, key, err);
    close(fd);
  }
  if (failed == 0 && renameat(cache->fd, file, cache->fd, name) != 0) {
    failed = ms_error_set(err, MS_WRK, "its output cannot be kept: %s", strerror(errno));
  }
  if (failed != 0) unlinkat(cache->fd, file, 0);
  if (failed == 0) trim(cache, limit);
  return failed;
}
