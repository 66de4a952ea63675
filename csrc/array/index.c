/* SPDX-License-Identifier: MIT
 *
 * Index of a sparse array: see index.h. Sorting is a radix sort, one stable counting pass for each
 * 16 bits of each coordinate, last dimension first. */
#include "array/index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 16
#define DIGITS     ((size_t)1 << DIGIT_BITS)
/* Rows of which there are more than this many times the entries are searched, not listed. */
#define SPARSE_ROWS 4

/* One stable pass by bits [shift, shift + 16) of the keys. */
static void sort_by_digit(const uint32_t *from, uint32_t *to, int64_t count, const int32_t *keys,
                          int shift, int64_t *start) {
  memset(start, 0, (DIGITS + 1) * sizeof *start);
  for (int64_t i = 0; i < count; i++) {
    start[((uint32_t)keys[i] >> shift & (DIGITS - 1)) + 1]++;
  }
  for (size_t digit = 0; digit < DIGITS; digit++) start[digit + 1] += start[digit];
  for (int64_t i = 0; i < count; i++) {
    to[start[(uint32_t)keys[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
  }
}

uint32_t *ms_index_order(const ms_array *array, ms_error *err) {
  size_t count = (size_t)array->count;
  uint32_t *order = malloc((count + 1) * sizeof *order);
  uint32_t *other = malloc((count + 1) * sizeof *other);
  int64_t *start = malloc((DIGITS + 1) * sizeof *start);
  if (order == NULL || other == NULL || start == NULL) {
    free(order);
    order = NULL;
    ms_error_memory(err, MS_ARR, "the order of %zu entries", count);
  } else {
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    for (int d = array->dim_count - 1; d >= 0; d--) {
      for (int shift = 0; shift < 32 && (array->dims[d] - 1) >> shift > 0; shift += DIGIT_BITS) {
        sort_by_digit(order, other, array->count, array->coords[d], shift, start);
        uint32_t *swap = order;
        order = other;
        other = swap;
      }
    }
  }
  free(other);
  free(start);
  return order;
}

/* The start of every row, or NULL if they are too many (or memory is short: search works too). */
static int64_t *row_starts(const ms_array *array) {
  int64_t rows = array->dims[0];
  if (rows > 1024 && rows / SPARSE_ROWS > array->count) return NULL;
  int64_t *start = calloc((size_t)rows + 1, sizeof *start);
  if (start == NULL) return NULL;
  for (int64_t i = 0; i < array->count; i++) start[array->coords[0][i] + 1]++;
  for (int64_t row = 0; row < rows; row++) start[row + 1] += start[row];
  return start;
}

const ms_index *ms_index_get(ms_array *array, ms_error *err) {
  if (array->index != NULL) return array->index;
  if (ms_array_check(array, err) != 0) return NULL;
  ms_index *index = calloc(1, sizeof *index);
  uint32_t *order = index == NULL ? NULL : ms_index_order(array, err);
  if (order == NULL) {
    free(index);
    ms_error_memory(err, MS_ARR, "the order of a sparse array's entries");
    return NULL;
  }
  index->order = order;
  index->repeats = -1;
  index->row_start = row_starts(array);
  array->index = index;
  return index;
}

void ms_index_destroy(ms_index **index) {
  if (*index == NULL) return;
  free((*index)->order);
  free((*index)->row_start);
  free(*index);
  *index = NULL;
}

/* The first place in [low, high) whose coordinate d is at least `value`. */
static int64_t first_from(const ms_array *array, int d, int64_t low, int64_t high, int64_t value) {
  const uint32_t *order = array->index->order;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (array->coords[d][order[middle]] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

int ms_index_range(ms_array *array, const int32_t *at, int count, int64_t *first, int64_t *last,
                   ms_error *err) {
  const ms_index *index = ms_index_get(array, err);
  if (index == NULL) return -1;
  int64_t low = 0, high = array->count;
  for (int d = 0; d < count; d++) {
    if (d == 0 && index->row_start != NULL) {
      low = index->row_start[at[0]];
      high = index->row_start[at[0] + 1];
      continue;
    }
    low = first_from(array, d, low, high, at[d]);
    high = first_from(array, d, low, high, (int64_t)at[d] + 1);
  }
  *first = low;
  *last = high;
  return 0;
}

int64_t ms_index_find(ms_array *array, const int32_t *at, ms_error *err) {
  int64_t first, last;
  if (ms_index_range(array, at, array->dim_count, &first, &last, err) != 0) return -2;
  if (first == last) return -1;
  if (last - first == 1) return array->index->order[first];
  ms_error_set(err, MS_ARR,
               "there are %" PRId64
               " entries with these subscripts; loop over them, or read with duplicates = \"sum\"",
               last - first);
  return -2;
}

int ms_index_repeats(ms_array *array, ms_error *err) {
  if (ms_index_get(array, err) == NULL) return -1;
  ms_index *index = array->index;
  if (index->repeats >= 0) return index->repeats;
  index->repeats = 0;
  for (int64_t i = 1; i < array->count && !index->repeats; i++) {
    int d = 0;
    while (d < array->dim_count &&
           array->coords[d][index->order[i]] == array->coords[d][index->order[i - 1]])
      d++;
    index->repeats = d == array->dim_count;
  }
  return index->repeats;
}
