/* SPDX-License-Identifier: MIT
 *
 * Reach: see reach.h. */
#include "plan/reach.h"

/* The fewest iterations that a range of an axis has. */
static int64_t shortest_range(const ms_plan_axis *axis, int64_t ranges) {
  int64_t shortest = INT64_MAX;
  for (int64_t r = 0; r < ranges; r++) {
    int64_t length = (axis->starts[r + 1] - axis->starts[r]) / axis->values.step;
    if (length < shortest) shortest = length;
  }
  return shortest;
}

void ms_reach_find(const ms_verdict *verdict, ms_plan *plan) {
  ms_grid *grid = &plan->grid;
  const ms_plan_axis *axis = &plan->axes[grid->sequential];
  if (grid->strategy != MS_HYPERPLANE || axis->starts == NULL || axis->dim < 0) return;
  int64_t ranges = grid->ranges[grid->sequential], shortest = shortest_range(axis, ranges);
  int64_t furthest[2] = {verdict->furthest.down[axis->dim], verdict->furthest.up[axis->dim]};
  for (int side = 0; side < 2; side++) {
    if (shortest < 1 || furthest[side] == INT64_MAX) continue;
    int64_t reach = 1 + furthest[side] / shortest + (furthest[side] % shortest != 0);
    grid->reach[side] = reach < ranges ? (uint32_t)reach : 0;
  }
}
