/* SPDX-License-Identifier: MIT
 *
 * Scan: hands the lines of several files to a reader, one after the other.
 *
 * The reader owns its context. Used by one thread. */
#ifndef MS_ARRAY_SCAN_H
#define MS_ARRAY_SCAN_H

#include <stdbool.h>

#include "array/lines.h"

/* What to read. The strings must outlive the scan. */
typedef struct ms_sources {
  const char *const *paths;
  int64_t count;
  const char *comment; /* lines that begin with it are left out; NULL: none are */
  int64_t skip;        /* lines to leave out at the start of every file */
} ms_sources;

/* Takes one line; -1 with an error ends the scan. `lines` says where it stands. */
typedef int (*ms_take_line)(void *context, const ms_lines *lines, const char *line, size_t length,
                            ms_error *err);

/* Hands on all lines but blank ones and those left out. 0, or -1: MS_FIL for files that cannot be
 * read, or what the reader said. */
int ms_scan(const ms_sources *sources, ms_take_line take, void *context, ms_error *err);

/* Whether there is nothing but blanks. */
bool ms_line_is_blank(const char *line, size_t length);

/* How many bytes of a field messages show. */
int ms_line_shown(size_t length);

#endif
