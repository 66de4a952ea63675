/* SPDX-License-Identifier: MIT
 *
 * Products with columns: see product_columns.h. */
#include "array/product_columns.h"

#include "array/lanes.h"

/* The partial sums of lanes.h for each column, added up as there. */
#define COLUMNS_DOT(number, LANES)                                             \
  do {                                                                         \
    number s[LANES][MS_COLUMNS_MOST];                                          \
    for (int64_t lane = 0; lane < (LANES); lane++) {                           \
      for (int64_t c = 0; c < columns; c++) s[lane][c] = 0;                    \
    }                                                                          \
    for (int64_t k = 0; k < count; k++) {                                      \
      number *restrict to = s[k % (LANES)];                                    \
      const number *restrict from = a + k * stride, factor = x[k * x_stride];  \
      for (int64_t c = 0; c < columns; c++) to[c] += from[c] * factor;         \
    }                                                                          \
    for (int64_t half = (LANES) / 2; half > 0; half /= 2) {                    \
      for (int64_t lane = 0; lane < half; lane++) {                            \
        for (int64_t c = 0; c < columns; c++) s[lane][c] += s[lane + half][c]; \
      }                                                                        \
    }                                                                          \
    for (int64_t c = 0; c < columns; c++) out[c] = s[0][c];                    \
  } while (0)

void ms_product_columns_double(double *out, const double *a, int64_t stride, const double *x,
                               int64_t x_stride, int64_t columns, int64_t count) {
  COLUMNS_DOT(double, MS_DOUBLE_LANES);
}

void ms_product_columns_float(double *out, const float *a, int64_t stride, const float *x,
                              int64_t x_stride, int64_t columns, int64_t count) {
  COLUMNS_DOT(float, MS_FLOAT_LANES);
}
