/* SPDX-License-Identifier: MIT
 *
 * Layout: which iterations a block of a grid holds.
 *
 * Of a sparse space a block is entries one behind the other; else it is a box: from each axis that
 * is cut one of its ranges, all of the other dimensions. This is the one place where a block's
 * number becomes bounds: for kernels, for messages, in the driver and on workers. Pure. All memory
 * belongs to the caller. */
#ifndef MS_PLAN_LAYOUT_H
#define MS_PLAN_LAYOUT_H

#include <stdint.h>

#include "base/api.h"

/* Where the ranges of one axis lie. */
typedef struct ms_layout_axis {
  int64_t at; /* of a range's two bounds among the block's, the first one's index */
  int64_t ranges;
  const int64_t *bounds; /* `ranges` + 1: range r is bounds[r] .. bounds[r+1] - step; or NULL: */
  int64_t first, step;   /* range r is the value first + r step alone */
} ms_layout_axis;

typedef struct MS_API_TYPE ms_layout {
  const int64_t *starts;      /* entries: block b has starts[b] .. starts[b+1]-1, from 0; or NULL */
  const int64_t *extents;     /* else: the first and the last value of each dimension, */
  int64_t dims;               /* of so many, */
  const ms_layout_axis *axes; /* and in the order of the grid, the last varies fastest, */
  int64_t axis_count;         /* what is cut */
} ms_layout;

/* Puts where block `block` lies into `bounds`: the first and the last entry, from 1, or the first
 * and the last value of each dimension and, of a grid along a row, of that. */
MS_API void ms_layout_bounds(const ms_layout *layout, uint32_t block, int64_t *bounds);

#endif
