/* SPDX-License-Identifier: MIT
 *
 * Triples: reads a table "row id, column id[, value]" into a sparse array with id maps. */
#ifndef MS_READ_TRIPLES_H
#define MS_READ_TRIPLES_H

#include "array/array.h"
#include "array/duplicates.h"
#include "base/api.h"
#include "read/byte_range.h"

typedef struct MS_API_TYPE ms_triples {
  const char *separator; /* NULL: as the first line suggests */
  const char *comment;   /* lines that begin with it are skipped; NULL: none are */
  int64_t skip;          /* lines to skip at the start */
  int32_t no_header;     /* what follows them is known to be no header */
  int32_t square;        /* one id map for rows and columns */
  int32_t type;          /* of the values */
  int32_t duplicates;    /* ms_duplicates */
  ms_array *like;        /* two-dimensional: its id maps and extents are used; or NULL */
  int64_t range_bytes;   /* bytes that a thread reads at a time; 0: as fits */
  int32_t threads;       /* 0: as many as there are processors; the result does not depend on it */
  ms_read_progress *progress; /* the caller's, or NULL */
} ms_triples;

/* Reads files, plain or gzip, whose lines follow each other; the first one shows the format. Two
 * columns give the value 1; columns after the third are ignored. Returns an array with one
 * reference, or NULL and nothing half read: MS_FIL with file and line for what is wrong in a file,
 * MS_ARR for memory and extents. */
ms_array *ms_triples_read_files(const char *const *paths, int64_t count, const ms_triples *options,
                                ms_error *err);

#endif
