/* SPDX-License-Identifier: MIT
 *
 * Schedule, what waits for what: see schedule.h.
 *
 * In a rotation and in a wavefront a range of any axis is handed on from the block that used it to
 * the next one in plan order that does; in a partition only a space range is. So a block's
 * predecessors are the blocks before it in the boxes of those that share a range with it. In a
 * wavefront's order that says that block (a, b) follows (a - 1, b) and (a, b - 1).
 *
 * That is the gate's rule (sync/gate.h) for rounds that follow the diagonals, worked out without
 * lists: sync/gate_schedule_test.c holds one against the other. */
#include "plan/schedule.h"

uint32_t ms_schedule_edges(const ms_schedule *schedule) {
  if (schedule->alone) return 0;
  return schedule->phase_blocks > 0 ? schedule->closer_count : schedule->chains;
}

/* Whether all blocks along an edge are their owner's own: nobody waits there for anybody. */
static bool is_own(const ms_schedule *schedule, uint32_t block, uint32_t axis) {
  const ms_grid *grid = &schedule->grid;
  if (axis != 0) return false;
  const ms_owner *owner = &schedule->range_owner[ms_grid_range(grid, block, 0)];
  return owner->blocks >= schedule->block_count / grid->ranges[0];
}

uint32_t ms_schedule_before(const ms_schedule *schedule, uint32_t block, uint32_t edge) {
  uint32_t size = schedule->phase_blocks, before = MS_NO_BLOCK;
  if (size == 0) {
    if (is_own(schedule, block, edge)) return MS_NO_BLOCK;
    before = ms_order_ahead(&schedule->order, edge, block);
  } else if (block >= size) {
    before = (block / size - 1) * size + schedule->closers[edge];
  }
  return before != MS_NO_BLOCK && ms_schedule_runs(schedule, before) ? before : MS_NO_BLOCK;
}

uint32_t ms_schedule_after(const ms_schedule *schedule, uint32_t block, uint32_t edge) {
  if (is_own(schedule, block, edge)) return MS_NO_BLOCK;
  uint32_t after = ms_order_after(&schedule->order, edge, block);
  return after != MS_NO_BLOCK && ms_schedule_runs(schedule, after) ? after : MS_NO_BLOCK;
}

/* Whether the last block of a phase's owner is waited for: whether there is a next phase. */
static bool is_closer(const ms_schedule *schedule, uint32_t block) {
  uint32_t size = schedule->phase_blocks, end = schedule->first + schedule->count;
  bool closes = false;
  if (block / size + 1 >= end / size + (end % size != 0)) return false;
  for (uint32_t e = 0; e < schedule->closer_count; e++) {
    closes = closes || schedule->closers[e] == block % size;
  }
  return closes;
}

uint32_t ms_schedule_listener(const ms_schedule *schedule, uint32_t owner, uint32_t block,
                              uint32_t edge) {
  uint32_t after, next;
  if (schedule->alone) return UINT32_MAX;
  if (schedule->phase_blocks > 0) {
    after = is_closer(schedule, block) ? schedule->closers[edge] : MS_NO_BLOCK;
  } else {
    after = ms_schedule_after(schedule, block, edge);
  }
  if (after == MS_NO_BLOCK) return UINT32_MAX;
  next = ms_schedule_owner(schedule, after);
  return next == owner ? UINT32_MAX : next;
}

bool ms_schedule_is_awaited(const ms_schedule *schedule, uint32_t block) {
  uint32_t owner = ms_schedule_owner(schedule, block);
  for (uint32_t edge = 0; edge < ms_schedule_edges(schedule); edge++) {
    if (ms_schedule_listener(schedule, owner, block, edge) != UINT32_MAX) return true;
  }
  return false;
}
