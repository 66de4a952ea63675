/* SPDX-License-Identifier: MIT
 *
 * Cuts: where ranges of index values begin and end. See partition.h. */
#include "array/partition.h"

#include <math.h>

int64_t ms_cut_ranges(double entries) {
  double ranges = ceil(entries / MS_CUT_ENTRIES);
  if (!(ranges > MS_CUT_LEAST)) return MS_CUT_LEAST;
  return ranges < MS_CUT_MOST ? (int64_t)ranges : MS_CUT_MOST;
}

uint32_t ms_cut_dimension(const int64_t *extents, uint32_t dims) {
  uint32_t best = 0;
  for (uint32_t d = 1; d < dims && extents[0] < MS_CUT_LEAST; d++) {
    if (extents[d] > extents[best]) best = d;
  }
  return best;
}

int64_t ms_partition_blocks(const ms_array *array) {
  if (array->count == 0) return 0;
  int64_t extent = array->dims[ms_cut_dimension(array->dims, (uint32_t)array->dim_count)];
  int64_t ranges = ms_cut_ranges((double)array->count);
  return extent < ranges ? extent : ranges;
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
