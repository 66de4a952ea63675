/* SPDX-License-Identifier: MIT
 *
 * Walks: all blocks of a grid one after the other in the plan's serial order (order.h), each with
 * its bounds (layout.h), for loops so short that finding each block anew would tell.
 *
 * Where keys are ranges, a step counts the ranges of the last axes up, and moves the bounds of
 * those alone; rotations ask order.h each time. Plain records; the layout has to live as long. */
#ifndef MS_PLAN_BLOCK_WALK_H
#define MS_PLAN_BLOCK_WALK_H

#include "plan/layout.h"
#include "plan/order.h"

typedef struct ms_block_walk {
  const ms_layout *layout;
  ms_order order;
  ms_block_box all;
  uint32_t block;          /* where the walk is; MS_NO_BLOCK: before the first one */
  uint32_t range[MS_CUTS]; /* of the block, along each axis, where these are counted */
  int64_t bounds[MS_LAYOUT_BOUNDS];
} ms_block_walk;

/* A walk before the first block of a grid that can be run. */
ms_block_walk ms_block_walk_of(const ms_grid *grid, const ms_layout *layout);

/* Goes to the next block, whose bounds are then `bounds`; MS_NO_BLOCK: there is none. */
uint32_t ms_block_walk_next(ms_block_walk *walk);

#endif
