/* SPDX-License-Identifier: MIT
 *
 * Labels: the id map of one dimension, from positions 0..count-1 to the ids that a file had.
 *
 * Ids are either integers or byte strings, in any order; no id occurs twice.
 * Immutable but for the table, which the first search for a string may make; shared by reference
 * count. Used by one thread, or searched by several once it is prepared. */
#ifndef MS_ARRAY_LABELS_H
#define MS_ARRAY_LABELS_H

#include <stdint.h>

#include "base/api.h"
#include "base/error.h"

typedef struct ms_labels {
  uint32_t references;
  uint32_t mask; /* strings: slots in `table`, less one */
  int64_t count;
  int64_t *numbers;  /* NULL for strings */
  uint64_t *offsets; /* strings: label p is bytes[offsets[p] .. offsets[p+1]) */
  char *bytes;
  uint32_t *table; /* strings: position + 1 by hash, 0 empty; linear probing; NULL at first */
  uint32_t *order; /* numbers: positions by ascending number; NULL when that is their order */
} ms_labels;

/* Maps with one reference; the vectors (from malloc) become the map's, and are freed on failure
 * too. MS_FIL: a number or string that occurs twice; MS_ARR: memory. */
MS_API ms_labels *ms_labels_numbers(int64_t *numbers, int64_t count, ms_error *err);
MS_API ms_labels *ms_labels_strings(char *bytes, uint64_t *offsets, int64_t count, ms_error *err);
/* The same of strings that are known to occur once each, which are read when one is sought. */
MS_API ms_labels *ms_labels_distinct(char *bytes, uint64_t *offsets, int64_t count, ms_error *err);

/* The map of the `count` positions from `first` on. MS_ARR: memory. */
ms_labels *ms_labels_slice(const ms_labels *labels, int64_t first, int64_t count, ms_error *err);

/* The map whose position place[p] has the label that p has in this one, which may be NULL: the
 * labels are then the numbers 1..count. MS_ARR: memory. */
ms_labels *ms_labels_moved(const ms_labels *labels, const int32_t *place, int64_t count,
                           ms_error *err);

/* Takes a reference. */
void ms_labels_retain(ms_labels *labels);

/* Gives up a reference (NULL allowed) and nulls the caller's pointer. */
MS_API void ms_labels_release(ms_labels **labels);

/* The position of an id, -1 when there is none. */
MS_API int64_t ms_labels_find_number(const ms_labels *labels, int64_t number);
MS_API int64_t ms_labels_find_string(ms_labels *labels, const char *text, uint64_t length);

/* Has the table made, so that several threads may search. MS_ARR: memory. */
int ms_labels_prepare(ms_labels *labels, ms_error *err);

/* The hash of the string tables. */
uint32_t ms_labels_hash(const char *text, uint64_t length);

#endif
