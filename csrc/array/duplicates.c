/* SPDX-License-Identifier: MIT
 *
 * Duplicates: entries of a sparse array that have equal coordinates. See duplicates.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/duplicates.h"
#include "array/index.h"

static bool equal_entries(const ms_array *array, uint32_t a, uint32_t b) {
  for (int d = 0; d < array->dim_count; d++) {
    if (array->coords[d][a] != array->coords[d][b]) return false;
  }
  return true;
}

static int refuse(const ms_places *places, uint32_t first, uint32_t second, ms_error *err) {
  if (places == NULL) {
    return ms_error_set(err, MS_ARR, "entries %" PRIu32 " and %" PRIu32 " have equal subscripts",
                        first + 1, second + 1);
  }
  const char *path = places->paths[places->files[second]];
  if (places->files[first] == places->files[second]) {
    ms_error_set(err, MS_FIL, "the same two ids as in line %" PRIu32, places->lines[first]);
  } else {
    ms_error_set(err, MS_FIL, "the same two ids as in line %" PRIu32 " of %s", places->lines[first],
                 places->paths[places->files[first]]);
  }
  return ms_error_place(err, path, (int)places->lines[second]);
}

/* Combines the values of entries order[first .. last) into that of the first one. */
static int combine(ms_array *array, const uint32_t *order, int64_t first, int64_t last, bool sum,
                   ms_error *err) {
  const ms_type_ops *ops = ms_type_of(array->type);
  char *values = array->data;
  char *target = values + (size_t)order[first] * ops->size;
  double total = 0, each = 0;
  for (int64_t i = first; i < last; i++) {
    if (ops->widen(values + (size_t)order[i] * ops->size, &each, 1) != 1) {
      return ms_error_set(err, MS_ARR, "a value beyond 2^53 cannot be summed");
    }
    total += each;
  }
  if (!sum) {
    memcpy(target, values + (size_t)order[last - 1] * ops->size, ops->size);
  } else if (ops->narrow(&total, target, 1) != 1) {
    return ms_error_set(err, MS_ARR, "a sum of duplicates (%.17g) does not fit into type %s", total,
                        ops->name);
  }
  return 0;
}

/* Moves the entries that are not dropped together. */
static void compact(ms_array *array, const unsigned char *dropped) {
  size_t size = ms_type_of(array->type)->size;
  char *values = array->data;
  int64_t kept = 0;
  for (int64_t e = 0; e < array->count; e++) {
    if (dropped[e]) continue;
    for (int d = 0; d < array->dim_count; d++) array->coords[d][kept] = array->coords[d][e];
    memmove(values + (size_t)kept * size, values + (size_t)e * size, size);
    kept++;
  }
  array->count = kept;
}

int ms_duplicates_merge(ms_array *array, int duplicates, const ms_places *places, ms_error *err) {
  uint32_t *order = ms_index_order(array, err);
  unsigned char *dropped = order == NULL ? NULL : calloc((size_t)array->count + 1, 1);
  int failed = dropped == NULL ? ms_error_memory(err, MS_ARR, "entries with equal coordinates") : 0;
  for (int64_t first = 0, last; failed == 0 && first < array->count; first = last) {
    for (last = first + 1; last < array->count; last++) {
      if (!equal_entries(array, order[first], order[last])) break;
      dropped[order[last]] = 1;
    }
    if (last - first == 1) continue;
    if (duplicates == MS_DUPLICATES_ERROR) {
      failed = refuse(places, order[first], order[first + 1], err);
    } else {
      failed = combine(array, order, first, last, duplicates == MS_DUPLICATES_SUM, err);
    }
  }
  if (failed == 0) compact(array, dropped);
  free(order);
  free(dropped);
  return failed;
}
