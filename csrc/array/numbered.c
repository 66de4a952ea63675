/* SPDX-License-Identifier: MIT
 *
 * Numbered: see numbered.h. */
#include "array/numbered.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
  int64_t x = ((const ms_numbered *)a)->number, y = ((const ms_numbered *)b)->number;
  return x < y ? -1 : x > y;
}

ms_numbered *ms_numbered_sorted(const int64_t *numbers, size_t count) {
  ms_numbered *list = malloc((count + 1) * sizeof *list);
  if (list == NULL) return NULL;
  for (size_t k = 0; k < count; k++) list[k] = (ms_numbered){numbers[k], (uint32_t)k};
  qsort(list, count, sizeof *list, compare);
  return list;
}
