/* SPDX-License-Identifier: MIT
 *
 * Directory: see directory.h. */
#include "base/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#define PREFIX     "meissa-"
#define LOCK       "lock"
#define LONGEST    "/w9999.9999999999" /* a worker and its incarnation */
#define YOUNG      60                  /* seconds in which a start must have locked */
#define MAKE_TRIES 100

/* The kernel's directory record; readdir would allocate, which a signal handler must not do. */
struct entry {
  uint64_t inode;
  int64_t next;
  unsigned short length;
  unsigned char type;
  char name[];
};

void ms_directory_clear(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  union {
    struct entry align;
    char bytes[2048];
  } room;
  for (;;) {
    long got = syscall(SYS_getdents64, fd, room.bytes, sizeof room.bytes);
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const struct entry *each = (const struct entry *)(const void *)(room.bytes + at);
      if (strcmp(each->name, ".") != 0 && strcmp(each->name, "..") != 0) {
        unlinkat(fd, each->name, 0);
      }
      at += each->length;
    }
  }
  close(fd);
  rmdir(path);
}

/* True when `path` is ours to sweep: a directory of this user whose driver is dead. */
static int is_stale(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return 0;
  struct stat about;
  int stale = 0;
  if (fstat(fd, &about) == 0 && about.st_uid == geteuid()) {
    int lock = openat(fd, LOCK, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (lock >= 0) {
      stale = flock(lock, LOCK_EX | LOCK_NB) == 0;
      close(lock);
    } else {
      stale = errno == ENOENT && time(NULL) - about.st_mtime > YOUNG;
    }
  }
  close(fd);
  return stale;
}

/* Removes directories of dead drivers below `base`. Returns how many. */
static int sweep(const char *base) {
  DIR *list = opendir(base);
  if (list == NULL) return 0;
  int swept = 0;
  for (struct dirent *each; (each = readdir(list)) != NULL;) {
    char path[512];
    if (strncmp(each->d_name, PREFIX, sizeof PREFIX - 1) != 0) continue;
    int length = snprintf(path, sizeof path, "%s/%s", base, each->d_name);
    if (length < 0 || (size_t)length >= sizeof path || !is_stale(path)) continue;
    ms_directory_clear(path);
    swept++;
  }
  closedir(list);
  return swept;
}

/* Locks the directory's lock file; fails when a sweeper was faster. */
static int take_lock(ms_directory *directory) {
  char path[MS_DIRECTORY_SIZE + sizeof LOCK + 1];
  snprintf(path, sizeof path, "%s/" LOCK, directory->path);
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  struct stat opened, there;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 && stat(path, &there) == 0 &&
      opened.st_ino == there.st_ino) {
    directory->lock = fd;
    return 0;
  }
  close(fd);
  return -1;
}

/* Tries to make the directory below `base`; 0 when it could. */
static int make_below(ms_directory *directory, const char *base) {
  if (base == NULL || base[0] != '/') return -1;
  sweep(base);
  for (unsigned attempt = 0; attempt < MAKE_TRIES; attempt++) {
    unsigned salt = ((unsigned)ms_clock_now() + attempt) & 0xFFFFFu;
    int length = snprintf(directory->path, sizeof directory->path, "%s/" PREFIX "%ld-%05x", base,
                          (long)getpid(), salt);
    if (length < 0 || (size_t)length + sizeof LONGEST - 1 > MS_DIRECTORY_PATH) return -1;
    if (mkdir(directory->path, 0700) == 0) {
      if (take_lock(directory) == 0) return 0;
      ms_directory_clear(directory->path);
    } else if (errno != EEXIST) {
      return -1;
    }
  }
  return -1;
}

int ms_directory_make(ms_directory *directory, ms_error *err) {
  const char *bases[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
  for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
    if (make_below(directory, bases[i]) == 0) return 0;
  }
  directory->path[0] = '\0';
  directory->lock = -1;
  return ms_error_set(err, MS_NET,
                      "no private directory for sockets can be made in XDG_RUNTIME_DIR, TMPDIR or "
                      "/tmp: make one of them writable, or set MEISSA_TRANSPORT=tcp");
}

void ms_directory_remove(ms_directory *directory) {
  if (directory->path[0] == '\0') return;
  ms_directory_clear(directory->path);
  if (directory->lock >= 0) close(directory->lock);
  directory->path[0] = '\0';
  directory->lock = -1;
}
