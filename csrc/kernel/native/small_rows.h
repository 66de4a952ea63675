/* SPDX-License-Identifier: MIT
 *
 * Rows of int32 arrays that are known to be small, for native kernels: see c_small_sum.h. A part of
 * the native prelude; a block has one record for each of its loops that ask. */
#ifndef MS_KERNEL_NATIVE_SMALL_ROWS_H
#define MS_KERNEL_NATIVE_SMALL_ROWS_H

#include <stdint.h>

/* Small are integers from -2^24 on and below 2^24. */
#define MS_SMALL 0x1000000u

/* Rows that are remembered: those of a stencil come again in the next iterations. */
#define MS_SMALL_ROWS 8

typedef struct ms_small_rows {
  const int32_t *row[MS_SMALL_ROWS];
  int64_t count[MS_SMALL_ROWS];
  uint32_t next;
  int large; /* a row was not small: others are not looked at */
} ms_small_rows;

/* Whether the `count` integers from `row` on, which do not change while the record lasts, are
 * small. */
static inline int ms_are_small(ms_small_rows *known, const int32_t *row, int64_t count) {
  for (int k = 0; k < MS_SMALL_ROWS; k++) {
    if (known->row[k] == row && known->count[k] >= count) return 1;
  }
  uint32_t any = 0;
  for (int64_t k = 0; k < count; k++) any |= (uint32_t)row[k] + MS_SMALL;
  if (any >= 2 * MS_SMALL) {
    known->large = 1;
    return 0;
  }
  known->row[known->next] = row;
  known->count[known->next] = count;
  known->next = (known->next + 1) % MS_SMALL_ROWS;
  return 1;
}

#endif
