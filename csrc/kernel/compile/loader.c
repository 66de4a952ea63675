/* SPDX-License-Identifier: MIT
 *
 * Loader: see loader.h. */
#include "kernel/compile/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010u /* Linux 6.3: where anonymous memory is not executable unless asked */
#endif

/* Anonymous memory with these bytes; -1 with errno. */
static int hold(const char *bytes, size_t size) {
  int fd = memfd_create("meissa-kernel", MFD_CLOEXEC | MFD_EXEC);
  if (fd < 0 && errno == EINVAL) fd = memfd_create("meissa-kernel", MFD_CLOEXEC);
  while (fd >= 0 && size > 0) {
    ssize_t wrote = write(fd, bytes, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      close(fd);
      return -1;
    }
    bytes += wrote;
    size -= (size_t)wrote;
  }
  return fd;
}

ms_loaded_kernel *ms_loader_load(const char *bytes, size_t size, ms_error *err) {
  ms_loaded_kernel *object = calloc(1, sizeof *object);
  if (object == NULL) {
    ms_error_memory(err, MS_WRK, "a compiled kernel");
    return NULL;
  }
  object->fd = hold(bytes, size);
  if (object->fd < 0) {
    ms_error_set(err, MS_WRK, "no memory for a compiled loop: %s", strerror(errno));
    free(object);
    return NULL;
  }
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", object->fd);
  object->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *entry = object->handle == NULL ? NULL : dlsym(object->handle, MS_NATIVE_ENTRY);
  if (entry == NULL) {
    const char *why = dlerror();
    ms_error_set(err, MS_WRK, "a compiled loop cannot be loaded: %s", why == NULL ? "?" : why);
    ms_loader_unload(object);
    return NULL;
  }
  memcpy(&object->block, &entry, sizeof entry); /* as POSIX has it: no conversion in C */
  return object;
}

void ms_loader_unload(ms_loaded_kernel *object) {
  if (object == NULL) return;
  if (object->handle != NULL) dlclose(object->handle);
  close(object->fd);
  free(object);
}
