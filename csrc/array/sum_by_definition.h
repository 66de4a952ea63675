/* SPDX-License-Identifier: MIT
 *
 * For tests: sums as reduce.h defines them. */
#ifndef MS_ARRAY_SUM_BY_DEFINITION_H
#define MS_ARRAY_SUM_BY_DEFINITION_H

#include "array/reduce.h"

/* The sum of x, one addition at a time. */
static double sum_by_definition(const double *x, int64_t count, int lanes, bool in_float) {
  double total = 0;
  for (int64_t first = 0; first < count; first += MS_REDUCE_CHUNK) {
    double part[16] = {0};
    for (int64_t k = 0; k < MS_REDUCE_CHUNK && first + k < count; k++) {
      double sum = part[k % lanes] + x[first + k];
      part[k % lanes] = in_float ? (double)(float)sum : sum;
    }
    for (int half = lanes / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; k++) {
        double sum = part[k] + part[k + half];
        part[k] = in_float ? (double)(float)sum : sum;
      }
    }
    total += part[0];
  }
  return total;
}

#endif
