/* SPDX-License-Identifier: MIT
 *
 * Memory file: memory that processes share, behind a descriptor. */
#ifndef MS_BASE_MEMORY_FILE_H
#define MS_BASE_MEMORY_FILE_H

#include <stddef.h>

#include "base/error.h"

/* A file in memory of `size` zeros: its descriptor, close-on-exec, the caller's to close. No page
 * is taken before it is written to. -1: `code`, naming the limit: of descriptors, or of the size of
 * files, beyond which the kernel would end the process by SIGXFSZ. */
int ms_memory_file_make(const char *name, size_t size, ms_code code, ms_error *err);

#endif
