/* SPDX-License-Identifier: MIT
 *
 * The search for a row of a transform, an integer vector over the iteration space: by growing sums
 * of absolutes over a small box, since that is where rows of real loops are. */
#ifndef MS_DEPEND_ROW_SEARCH_H
#define MS_DEPEND_ROW_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ms_row_search {
  uint32_t dims;
  int64_t *row; /* `dims` components; the one that was found */
  bool (*good)(const void *context, const int64_t *row, uint32_t dims);
  const void *context;
} ms_row_search;

/* The first good row; false: the box has none. */
bool ms_row_search_smallest(ms_row_search *rows);

#endif
