/* SPDX-License-Identifier: MIT
 *
 * Walks: see block_walk.h. */
#include "plan/block_walk.h"

#include <stdbool.h>

ms_block_walk ms_block_walk_of(const ms_grid *grid, const ms_layout *layout) {
  ms_order order = ms_order_of(grid);
  return (ms_block_walk){
      .layout = layout, .order = order, .all = ms_order_whole(&order), .block = MS_NO_BLOCK};
}

static void move_bounds(ms_block_walk *walk, uint32_t axis) {
  const ms_layout_axis *of = &walk->layout->axes[axis];
  int64_t *at = walk->bounds + of->at;
  at[0] = ms_layout_begin(of, walk->range[axis]);
  at[1] = ms_layout_begin(of, (int64_t)walk->range[axis] + 1) - of->step;
}

/* Whether there is a block after this one, to which ranges and bounds are moved. */
static bool count_up(ms_block_walk *walk) {
  const ms_order *order = &walk->order;
  for (uint32_t k = order->count; k-- > 0;) {
    uint32_t axis = order->axis[k];
    bool up = ++walk->range[axis] < order->ranges[axis];
    if (!up) walk->range[axis] = 0;
    if (walk->layout->of_entries == 0) move_bounds(walk, axis);
    if (up) return true;
  }
  return false;
}

static uint32_t block_of(const ms_block_walk *walk) {
  uint32_t block = 0;
  for (uint32_t d = 0; d < walk->order.count; d++) {
    block = block * walk->order.ranges[d] + walk->range[d];
  }
  return block;
}

uint32_t ms_block_walk_next(ms_block_walk *walk) {
  if (walk->order.n > 0 || walk->block == MS_NO_BLOCK) {
    walk->block = ms_order_next(&walk->order, &walk->all, walk->block);
    if (walk->block != MS_NO_BLOCK) ms_layout_bounds(walk->layout, walk->block, walk->bounds);
    return walk->block;
  }
  if (!count_up(walk)) return walk->block = MS_NO_BLOCK;
  walk->block = block_of(walk);
  if (walk->layout->of_entries != 0) ms_layout_bounds(walk->layout, walk->block, walk->bounds);
  return walk->block;
}
