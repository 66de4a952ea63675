/* SPDX-License-Identifier: MIT
 *
 * Travel: see travel.h. */
#include "plan/travel.h"

#include <string.h>

#include "depend/verdict.h"

static const char *const names[MS_MOVEMENTS] = {"cached",  "served",    "broadcast", "local",
                                                "rotated", "scattered", "exchanged", "versioned"};

ms_movement ms_movement_find(const char *name) {
  uint32_t movement = 0;
  while (movement < MS_MOVEMENTS && strcmp(names[movement], name) != 0) movement++;
  return movement;
}

/* The axis along a dimension of the space; as many as there are: none. */
static uint32_t axis_of(const ms_grid *grid, const int32_t *dims, int32_t dim) {
  uint32_t axis = 0;
  while (axis < grid->count && (dim < 0 || dims[axis] != dim)) axis++;
  return axis;
}

static ms_movement movement_of(const ms_array_plan *array, const ms_grid *grid, uint32_t axis) {
  bool along = axis < grid->count, stays = !along || axis == ms_grid_space(grid);
  if (ms_strategy_traits_of(grid->strategy)->alone) return MS_MOVE_SCATTERED;
  if (array->placement == MS_PLACE_HALO) return MS_MOVE_EXCHANGED;
  if (along && array->array_dim >= 0) return stays ? MS_MOVE_LOCAL : MS_MOVE_ROTATED;
  return stays ? MS_MOVE_SCATTERED : MS_MOVE_EXCHANGED;
}

static ms_writes writes_of(const ms_array_plan *array, const ms_grid *grid, const int32_t *dims) {
  const ms_written *written = &array->writes;
  ms_writes writes = {.blind = array->read ? 0 : 1};
  for (uint32_t d = 0; d < MS_ARRAY_DIMS; d++) {
    int64_t low = written->low[d], high = written->high[d];
    writes.low[d] = low - 1;
    writes.high[d] = high < low ? low - 1 : high; /* or nothing */
  }
  for (uint32_t k = 0; k < written->follow_count && writes.follows < MS_FOLLOWS; k++) {
    const ms_followed *each = &written->follow[k];
    uint32_t axis = axis_of(grid, dims, (int32_t)each->loop_dim);
    if (axis == grid->count) continue;
    writes.follow[writes.follows++] = (ms_follow){
        .dim = each->array_dim, .axis = axis, .scale = each->scale, .offset = each->offset};
  }
  return writes;
}

/* Of a sparse array the values of its entries, any of them: no cut says which a block may write. */
static ms_travel travel_of_entries(const ms_grid *grid) {
  ms_travel travel = {.written = true, .movement = MS_MOVE_SCATTERED, .scale = 1};
  if (ms_strategy_waits(grid->strategy)) travel.movement = MS_MOVE_EXCHANGED;
  travel.writes = (ms_writes){.high = {MS_WRITES_ALL}, .blind = MS_WRITES_SEEN};
  return travel;
}

ms_travel ms_travel_of(const ms_array_plan *array, const ms_grid *grid, const int32_t *dims) {
  if (array->sparse) return travel_of_entries(grid);
  uint32_t axis = axis_of(grid, dims, array->loop_dim);
  ms_travel travel = {.written = true,
                      .movement = movement_of(array, grid, axis),
                      .scale = 1,
                      .writes = writes_of(array, grid, dims)};
  bool rows = travel.movement == MS_MOVE_LOCAL || travel.movement == MS_MOVE_ROTATED;
  if (rows) travel.cut = axis;
  if (array->array_dim >= 0) {
    travel.array_dim = (uint32_t)array->array_dim;
    travel.scale = array->scale;
    travel.offset = array->offset;
  }
  return travel;
}
