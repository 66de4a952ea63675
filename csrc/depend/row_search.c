/* SPDX-License-Identifier: MIT
 *
 * The search for a row: see row_search.h. */
#include "depend/row_search.h"

#include "depend/meaning.h"

/* Largest sum of absolutes that is tried one by one, by number of dimensions. */
static const int64_t most[MS_MAX_DIMS + 1] = {0, 0, 40, 16, 8, 6, 5, 4, 4};

/* Tries the rows whose components from `at` on have absolutes summing to `left`. */
static bool try_rows(ms_row_search *rows, uint32_t at, int64_t left) {
  if (at + 1 == rows->dims) {
    rows->row[at] = left;
    if (rows->good(rows->context, rows->row, rows->dims)) return true;
    rows->row[at] = -left;
    return left != 0 && rows->good(rows->context, rows->row, rows->dims);
  }
  for (int64_t size = left; size >= 0; size--) {
    rows->row[at] = size;
    if (try_rows(rows, at + 1, left - size)) return true;
    rows->row[at] = -size;
    if (size != 0 && try_rows(rows, at + 1, left - size)) return true;
  }
  return false;
}

bool ms_row_search_smallest(ms_row_search *rows) {
  for (int64_t sum = 1; sum <= most[rows->dims]; sum++) {
    if (try_rows(rows, 0, sum)) return true;
  }
  return false;
}
