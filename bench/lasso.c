/* SPDX-License-Identifier: MIT
 *
 * The lasso by coordinate descent, by hand: what bench/adaptive.lua compares with. Column j has the
 * entries first[j] .. first[j + 1] - 1. */
#include <stdint.h>

/* One pass over all coordinates; v = X alpha. */
void bench_lasso_pass(int64_t columns, const int64_t *first, const int32_t *row,
                      const double *value, const double *squares, const double *y, double lambda,
                      double *alpha, double *v) {
  for (int64_t j = 0; j < columns; j++) {
    double scale = squares[j], slope = 0;
    if (!(scale > 0)) continue;
    for (int64_t k = first[j]; k < first[j + 1]; k++) slope += value[k] * (y[row[k]] - v[row[k]]);
    double old = alpha[j], new = old + slope / scale, shrink = lambda / scale;
    new = new > shrink ? new - shrink : new < -shrink ? new + shrink : 0;
    double change = new - old;
    alpha[j] = new;
    if (change == 0) continue;
    for (int64_t k = first[j]; k < first[j + 1]; k++) v[row[k]] += change * value[k];
  }
}
