/* SPDX-License-Identifier: MIT
 *
 * Triples: reads a table "row id, column id[, value]" into a sparse array with id maps. */
#ifndef MS_ARRAY_TRIPLES_H
#define MS_ARRAY_TRIPLES_H

#include "array/array.h"

typedef enum ms_duplicates {
  MS_DUPLICATES_KEEP, /* all entries stay */
  MS_DUPLICATES_SUM,  /* one entry, at the place of the first, with the sum */
  MS_DUPLICATES_LAST, /* one entry, at the place of the first, with the last value */
  MS_DUPLICATES_ERROR /* refused */
} ms_duplicates;

typedef struct ms_triples {
  const char *separator; /* NULL: as the first line suggests */
  const char *comment;   /* lines that begin with it are skipped; NULL: none are */
  int64_t skip;          /* lines to skip at the start */
  int32_t square;        /* one id map for rows and columns */
  int32_t type;          /* of the values */
  int32_t duplicates;    /* ms_duplicates */
  ms_array *like;        /* two-dimensional: its id maps and extents are used; or NULL */
  int64_t piece;         /* bytes that a thread reads at a time; 0: as fits */
  int32_t threads;       /* 0: as many as there are processors; the result does not depend on it */
} ms_triples;

/* Reads a file, plain or gzip. Two columns give the value 1; columns after the third are ignored.
 * Returns an array with one reference, or NULL and nothing half read: MS_FIL with file and line
 * for what is wrong in the file, MS_ARR for memory and extents. */
MS_API ms_array *ms_triples_read(const char *path, const ms_triples *options, ms_error *err);

/* Deals with entries that have equal coordinates, in place. `lines`, if given, are the line
 * numbers of the entries for MS_DUPLICATES_ERROR, which is placed in `path`. */
int ms_triples_merge(ms_array *array, int duplicates, const char *path, const uint32_t *lines,
                     ms_error *err);

#endif
