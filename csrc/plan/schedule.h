/* SPDX-License-Identifier: MIT
 *
 * Schedule: which block of a grid runs where, in which order, and after which others.
 *
 * A strategy fills in three things: the serial order of the blocks (the plan's meaning), an owner
 * for each, and for each the blocks that it has to wait for. Whoever executes only relies on those:
 * blocks of one owner run in plan order, and no block starts before its predecessors are finished.
 * Which blocks are forced before which others is a function of strategy and ranges only; workers
 * and weights decide nothing but the owners.
 *
 * A schedule may run a part of the plan's order only: what comes before it is done, and what comes
 * after it is another's business.
 *
 * Where every block waits for all of the previous phase (hyperplane) there are no edges: since
 * owners keep the plan's order, the last block of each owner stands for its others.
 * Pure: no I/O, no clock. Immutable once made. */
#ifndef MS_PLAN_SCHEDULE_H
#define MS_PLAN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "plan/grid.h"

#define MS_NO_BLOCK UINT32_MAX

typedef struct ms_schedule {
  ms_grid grid;
  uint32_t block_count, workers;
  ms_owner *range_owner;           /* of each range of the space axis */
  uint32_t first, count;           /* positions of the plan's order that are run */
  uint32_t *order;                 /* plan position, from `first` on -> block */
  uint32_t *owner;                 /* block -> worker */
  uint32_t *rank;                  /* block -> how many of its owner's come before it */
  uint32_t *before_start, *before; /* block b waits for before[before_start[b] .. [b + 1]) */
  uint32_t *after_start, *after;   /* the same edges from the other end, */
  uint8_t *after_axis;             /* and the axis whose range is handed on along each */
  uint32_t phase_blocks;           /* blocks of one phase; 0: there are no phases */
  uint32_t *closers, closer_count; /* the last block of each owner in the first phase */
} ms_schedule;

/* Makes the schedule for a grid whose ranges along the space axis belong to `range_owner`. MS_OPT
 * for grids that cannot be run, and for a range of two owners in a sweep. */
ms_schedule *ms_schedule_new(const ms_grid *grid, const ms_owner *range_owner, uint32_t workers,
                             ms_error *err);

/* The blocks that `block` waits for, beside earlier ones of its owner: number i = 0, 1, .. until
 * MS_NO_BLOCK. */
uint32_t ms_schedule_before(const ms_schedule *schedule, uint32_t block, uint32_t i);

/* The workers other than its owner that wait for `block`: number i = 0, 1, .. until UINT32_MAX.
 * May name one twice. */
uint32_t ms_schedule_listener(const ms_schedule *schedule, uint32_t block, uint32_t i);

/* Fills in for each block when it comes: failures of blocks that come earlier are told before those
 * of later ones. Blocks of one turn have iterations that come before and after each other's. `turn`
 * has an entry for each block. */
void ms_schedule_turns(const ms_schedule *schedule, uint32_t *turn);

/* Workers that use range `range` of `axis` first and last; UINT32_MAX when the grid has no such
 * range. */
uint32_t ms_schedule_first_user(const ms_schedule *schedule, uint32_t axis, uint32_t range);
uint32_t ms_schedule_last_user(const ms_schedule *schedule, uint32_t axis, uint32_t range);

/* Frees a schedule and nulls the caller's pointer. */
void ms_schedule_destroy(ms_schedule **schedule);

#endif
