/* SPDX-License-Identifier: MIT
 *
 * Memory file: see memory_file.h. */
#include "base/memory_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

int ms_memory_file_make(const char *name, size_t size, ms_code code, ms_error *err) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size) {
    return ms_error_set(err, code,
                        "shared memory of %zu MB is a file for the system, and this process may "
                        "have files of %llu kB at most; raise the limit: ulimit -f unlimited",
                        size / 1000000 + 1, (unsigned long long)limit.rlim_cur / 1024);
  }
  int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) {
    return ms_error_set(err, code, "cannot make shared memory: %s%s", strerror(errno),
                        errno == EMFILE ? " (raise it with ulimit -n)" : "");
  }
  if (ftruncate(fd, (off_t)size) == 0) return fd;
  ms_error_set(err, code, "cannot make %zu MB of shared memory: %s", size / 1000000 + 1,
               strerror(errno));
  close(fd);
  return -1;
}
