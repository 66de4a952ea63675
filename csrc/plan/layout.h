/* SPDX-License-Identifier: MIT
 *
 * Layout: which iterations a block of a grid holds.
 *
 * Of a sparse space a block is entries one behind the other; else it is a box: from each axis that
 * is cut one of its ranges, all of the other dimensions. The values of an axis are cut evenly: its
 * ranges differ by one value at most, longer ones first; an axis that is swept has one value a
 * range. So a layout is a few numbers, and travels as they are. This is the one place where a
 * block's number becomes bounds: for kernels, for messages, in the driver and on workers. Pure. All
 * memory belongs to the caller. */
#ifndef MS_PLAN_LAYOUT_H
#define MS_PLAN_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/api.h"
#include "plan/grid.h"

/* Where the ranges of one axis lie. */
typedef struct ms_layout_axis {
  int64_t at; /* of a range's two bounds among the block's, the first one's index */
  int64_t ranges;
  int64_t first, step;  /* the first value, and from one to the next */
  int64_t each, longer; /* values of a range; so many of the first ones have one more */
} ms_layout_axis;

typedef struct MS_API_TYPE ms_layout {
  const int64_t *starts;     /* entries: block b has starts[b] .. starts[b+1]-1, from 0; or */
  uint32_t of_entries;       /* 1: entries, 0: boxes */
  uint32_t ordered;          /* 1: iterations have an order; 0: they have not */
  uint32_t dims, axis_count; /* boxes: dimensions, and axes in the order of the grid, of which */
  ms_range extents[MS_MAX_DIMS]; /* the last varies fastest; what a dimension runs over */
  ms_layout_axis axes[MS_CUTS];
} ms_layout;

/* An axis of `values` values, cut into `ranges` ranges, 1 or more and no more than that; `at` is
 * left 0. */
ms_layout_axis ms_layout_cut(int64_t first, int64_t step, int64_t values, int64_t ranges);

/* The first value of a range of an axis, and that behind the last one for the range after it. */
static inline int64_t ms_layout_begin(const ms_layout_axis *axis, int64_t range) {
  int64_t more = range < axis->longer ? range : axis->longer;
  return axis->first + (range * axis->each + more) * axis->step;
}

/* The range of an axis that a value of the axis lies in. */
static inline int64_t ms_layout_range(const ms_layout_axis *axis, int64_t value) {
  int64_t at = (value - axis->first) / axis->step, long_ones = axis->longer * (axis->each + 1);
  if (at < long_ones) return at / (axis->each + 1);
  return axis->longer + (at - long_ones) / axis->each;
}

/* Most bounds that a block has. */
#define MS_LAYOUT_BOUNDS (2 * MS_MAX_DIMS + 2)

/* Puts where block `block` lies into `bounds`: the first and the last entry, from 1, or the first
 * and the last value of each dimension and, of a grid along a row, of that. */
MS_API void ms_layout_bounds(const ms_layout *layout, uint32_t block, int64_t *bounds);

/* The same of one block with all iterations of so many blocks; `bounds` has room for
 * MS_LAYOUT_BOUNDS. */
void ms_layout_whole(const ms_layout *layout, uint32_t blocks, int64_t *bounds);

/* How many iterations block `block` has at most, those of its box. */
uint64_t ms_layout_size(const ms_layout *layout, uint32_t block);

/* Writes a layout into a message, without `starts`: how many bytes, less than it has itself. */
MS_API size_t ms_layout_write(const ms_layout *layout, void *bytes);

/* Reads a layout from a message. -1 for bytes that are no layout. */
MS_API int ms_layout_read(const void *bytes, size_t size, ms_layout *layout);

#endif
