/* SPDX-License-Identifier: MIT
 *
 * Object: a compiled kernel in this process.
 *
 * It is loaded from bytes in anonymous memory, so nothing can be exchanged between check and use,
 * and no file system needs to permit execution. The record keeps the memory's descriptor as long
 * as the object is loaded: the loader takes equal paths for the same object. Loading is for one
 * thread; the loaded function may be called by any. */
#ifndef MS_KERNEL_COMPILE_OBJECT_H
#define MS_KERNEL_COMPILE_OBJECT_H

#include <stddef.h>

#include "base/api.h"
#include "base/error.h"
#include "kernel/native/native.h"

typedef struct ms_object {
  ms_native_block *block;
  void *handle;
  int fd;
} ms_object;

/* Loads a shared object. MS_WRK with the loader's words. */
MS_API ms_object *ms_object_load(const char *bytes, size_t size, ms_error *err);

/* Unloads an object that nothing runs any more (NULL allowed). */
MS_API void ms_object_unload(ms_object *object);

#endif
