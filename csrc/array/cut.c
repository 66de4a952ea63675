/* SPDX-License-Identifier: MIT
 *
 * Cuts: where ranges of index values begin and end. See partition.h. */
#include "array/partition.h"

int64_t ms_cut_range(int64_t lo, int64_t hi, int64_t step, int64_t ranges, int64_t *bounds) {
  bounds[0] = lo;
  if (step == 0 || ranges < 1 || (step > 0 ? lo > hi : lo < hi)) return 0;
  /* Unsigned, because hi - lo may exceed what int64 holds. */
  uint64_t span = step > 0 ? (uint64_t)hi - (uint64_t)lo : (uint64_t)lo - (uint64_t)hi;
  uint64_t stride = step > 0 ? (uint64_t)step : UINT64_C(0) - (uint64_t)step;
  uint64_t less_one = span / stride; /* number of values, less one */
  if ((uint64_t)ranges - 1 > less_one) ranges = (int64_t)less_one + 1;
  uint64_t n = (uint64_t)ranges;
  uint64_t each = less_one / n, more = less_one % n + 1;
  if (more == n) {
    each++;
    more = 0;
  }
  uint64_t at = (uint64_t)lo;
  for (uint64_t r = 0; r < n; r++) {
    at += (each + (r < more ? 1 : 0)) * (uint64_t)step;
    bounds[r + 1] = (int64_t)at;
  }
  return ranges;
}

int64_t ms_cut_weights(const int64_t *weights, int64_t extent, int64_t ranges, int64_t *bounds) {
  if (ranges > extent) ranges = extent;
  int64_t left = 0, at = 0;
  for (int64_t i = 0; i < extent; i++) left += weights[i];
  bounds[0] = 0;
  for (int64_t r = 0; r < ranges; r++) {
    int64_t behind = ranges - r - 1; /* ranges after this one, each needs an index value */
    int64_t taken = weights[at++];
    if (behind == 0) at = extent;
    /* Twice, to compare with the exact share left / (behind + 1) rounded to a half. */
    int64_t share = 2 * left / (behind + 1);
    while (at < extent - behind && 2 * taken + weights[at] <= share) taken += weights[at++];
    left -= taken;
    bounds[r + 1] = at;
  }
  return ranges;
}
