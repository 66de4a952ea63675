/* SPDX-License-Identifier: MIT
 *
 * Loader: a compiled kernel in this process.
 *
 * It is loaded from bytes in anonymous memory, so nothing can be exchanged between check and use,
 * and no file system needs to permit execution. The record keeps the memory's descriptor as long
 * as the object is loaded: the loader takes equal paths for the same object. Loading is for one
 * thread; the loaded function may be called by any. */
#ifndef MS_KERNEL_COMPILE_LOADER_H
#define MS_KERNEL_COMPILE_LOADER_H

#include <stddef.h>

#include "base/api.h"
#include "base/error.h"
#include "kernel/native/native.h"

typedef struct ms_loaded_kernel {
  ms_native_block *block;
  void *handle;
  int fd;
} ms_loaded_kernel;

/* Loads a shared object. MS_WRK with the loader's words. */
MS_API ms_loaded_kernel *ms_loader_load(const char *bytes, size_t size, ms_error *err);

/* Unloads an object that nothing runs any more (NULL allowed). */
MS_API void ms_loader_unload(ms_loaded_kernel *object);

#endif
