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
  return schedule->phase_blocks > 0 ? schedule->phase_worker_count : schedule->chains;
}

/* Whether all blocks along an edge are their owner's own: nobody waits there for anybody. */
static bool is_own(const ms_schedule *schedule, uint32_t block, uint32_t axis) {
  const ms_grid *grid = &schedule->grid;
  if (axis != 0) return false;
  const ms_owner *owner = &schedule->range_owner[ms_grid_range(grid, block, 0)];
  return owner->blocks >= schedule->block_count / grid->ranges[0];
}

/* Ranges lo .. hi - 1 of the axis that has owners; none where hi is not greater. */
typedef struct span {
  int64_t lo, hi;
} span;

/* Which ranges of the phase before a range waits for. */
static span awaited_by(const ms_grid *grid, int64_t range) {
  span all = {0, grid->ranges[grid->sequential]};
  if (grid->reach[0] > 0 && range >= grid->reach[0]) all.lo = range - grid->reach[0] + 1;
  if (grid->reach[1] > 0 && range + grid->reach[1] < all.hi) all.hi = range + grid->reach[1];
  return all;
}

/* The last range of a span that is a worker's own, or -1. Its portions are in ascending order. */
static int64_t last_own(const ms_schedule *schedule, uint32_t worker, span in) {
  const ms_workload *load = &schedule->load[worker];
  uint32_t space = schedule->grid.sequential;
  for (uint32_t p = load->count; p-- > 0;) {
    const ms_block_box *box = &schedule->portions[load->first + p].box;
    int64_t lo = box->lo[space], hi = box->hi[space];
    if (in.hi < hi) hi = in.hi;
    if (hi > lo && hi > in.lo) return hi - 1;
  }
  return -1;
}

static uint32_t edge_worker(const ms_schedule *schedule, uint32_t edge) {
  return schedule->phase_workers[edge];
}

/* The block of a phase that stands for those of one worker that a block of the next phase waits
 * for: the last of them. */
static uint32_t phase_before(const ms_schedule *schedule, uint32_t block, uint32_t edge) {
  uint32_t size = schedule->phase_blocks;
  if (block < size) return MS_NO_BLOCK;
  int64_t last =
      last_own(schedule, edge_worker(schedule, edge), awaited_by(&schedule->grid, block % size));
  return last < 0 ? MS_NO_BLOCK : (block / size - 1) * size + (uint32_t)last;
}

uint32_t ms_schedule_before(const ms_schedule *schedule, uint32_t block, uint32_t edge) {
  uint32_t before;
  if (schedule->phase_blocks > 0) {
    before = phase_before(schedule, block, edge);
  } else {
    if (is_own(schedule, block, edge)) return MS_NO_BLOCK;
    before = ms_order_ahead(&schedule->order, edge, block);
  }
  return before != MS_NO_BLOCK && ms_schedule_runs(schedule, before) ? before : MS_NO_BLOCK;
}

uint32_t ms_schedule_after(const ms_schedule *schedule, uint32_t block, uint32_t edge) {
  if (is_own(schedule, block, edge)) return MS_NO_BLOCK;
  uint32_t after = ms_order_after(&schedule->order, edge, block);
  return after != MS_NO_BLOCK && ms_schedule_runs(schedule, after) ? after : MS_NO_BLOCK;
}

/* The first range from `from` on that is a worker's own, or -1. */
static int64_t first_own(const ms_schedule *schedule, uint32_t worker, int64_t from) {
  const ms_workload *load = &schedule->load[worker];
  uint32_t space = schedule->grid.sequential;
  for (uint32_t p = 0; p < load->count; p++) {
    const ms_block_box *box = &schedule->portions[load->first + p].box;
    if (box->hi[space] > from) return box->lo[space] > from ? box->lo[space] : from;
  }
  return -1;
}

/* Which ranges of the next phase wait for a range as the last one of its owner. */
static span waiting_for(const ms_schedule *schedule, int64_t range) {
  const ms_grid *grid = &schedule->grid;
  int64_t down = grid->reach[0], up = grid->reach[1];
  int64_t next = first_own(schedule, schedule->range_owner[range].worker, range + 1);
  span all = {0, grid->ranges[grid->sequential]};
  if (down > 0 && range + down < all.hi) all.hi = range + down;
  if (up > 0 && range >= up) all.lo = range - up + 1;
  if (next < 0) return all;
  if (up == 0) return (span){0, 0}; /* they wait for the next one, too */
  if (next - up + 1 < all.hi) all.hi = next - up + 1;
  return all;
}

/* Whether the edge's worker has a block in the next phase that waits for this one. */
static bool is_heard(const ms_schedule *schedule, uint32_t block, uint32_t edge) {
  uint32_t size = schedule->phase_blocks, end = schedule->first + schedule->count;
  if (block / size + 1 >= end / size + (end % size != 0)) return false; /* there is no next phase */
  return last_own(schedule, edge_worker(schedule, edge), waiting_for(schedule, block % size)) >= 0;
}

uint32_t ms_schedule_listener(const ms_schedule *schedule, uint32_t owner, uint32_t block,
                              uint32_t edge) {
  uint32_t after, next;
  if (schedule->alone) return UINT32_MAX;
  if (schedule->phase_blocks > 0) {
    next = is_heard(schedule, block, edge) ? edge_worker(schedule, edge) : UINT32_MAX;
  } else {
    after = ms_schedule_after(schedule, block, edge);
    next = after == MS_NO_BLOCK ? UINT32_MAX : ms_schedule_owner(schedule, after);
  }
  return next == owner ? UINT32_MAX : next;
}

bool ms_schedule_is_awaited(const ms_schedule *schedule, uint32_t block) {
  uint32_t owner = ms_schedule_owner(schedule, block);
  for (uint32_t edge = 0; edge < ms_schedule_edges(schedule); edge++) {
    if (ms_schedule_listener(schedule, owner, block, edge) != UINT32_MAX) return true;
  }
  return false;
}
