/* SPDX-License-Identifier: MIT
 *
 * Paths: the files that a path, a directory or a pattern stands for.
 *
 * The caller owns the list. Used by one thread. */
#ifndef MS_READ_PATHS_H
#define MS_READ_PATHS_H

#include <stdint.h>

#include "base/api.h"
#include "base/error.h"

typedef struct ms_paths {
  int64_t count;
  char **paths; /* in the order of their bytes */
} ms_paths;

/* A file is itself; a directory stands for the files in it (not in directories below, none whose
 * name begins with a dot); a text with *, ? or [] that is no file for the files that it matches.
 * NULL with MS_FIL when there is none, MS_ARR for memory. */
MS_API ms_paths *ms_paths_find(const char *text, ms_error *err);

/* Frees the list (NULL allowed). */
MS_API void ms_paths_free(ms_paths *paths);

#endif
