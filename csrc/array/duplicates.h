/* SPDX-License-Identifier: MIT
 *
 * Duplicates: entries of a sparse array that have equal coordinates, and what becomes of them. */
#ifndef MS_ARRAY_DUPLICATES_H
#define MS_ARRAY_DUPLICATES_H

#include "array/array.h"

typedef enum ms_duplicates {
  MS_DUPLICATES_KEEP, /* all entries stay */
  MS_DUPLICATES_SUM,  /* one entry, at the place of the first, with the sum */
  MS_DUPLICATES_LAST, /* one entry, at the place of the first, with the last value */
  MS_DUPLICATES_ERROR /* refused */
} ms_duplicates;

/* Where the entries of an array were read: entry e in line lines[e] of paths[files[e]]. */
typedef struct ms_places {
  uint32_t *lines, *files;
  const char *const *paths;
} ms_places;

/* Deals with entries that have equal coordinates, in place. `places`, if given, are named by
 * MS_DUPLICATES_ERROR. */
int ms_duplicates_merge(ms_array *array, int duplicates, const ms_places *places, ms_error *err);

#endif
