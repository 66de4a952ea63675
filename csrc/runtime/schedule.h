/* SPDX-License-Identifier: MIT
 *
 * Schedule: which block runs where, in which order, and after which others.
 *
 * A loop's iteration space is cut along up to MS_CUTS dimensions; a block is one combination of
 * ranges, numbered row-major (block = ra * ranges_b + rb). A strategy fills in three things: the
 * serial order of the blocks (the plan's meaning), an owner for each, and for each the blocks that
 * it has to wait for. Whoever executes only relies on those: blocks of one owner run in plan
 * order, and no block starts before its predecessors are finished. Order and predecessors are a
 * function of strategy and ranges only; workers and weights decide nothing but the owners.
 * Pure: no I/O, no clock. Immutable once made. */
#ifndef MS_RUNTIME_SCHEDULE_H
#define MS_RUNTIME_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "depend/plan.h"

#define MS_CUTS        4
#define MS_MOST_BLOCKS (1u << 24)

typedef struct ms_grid {
  ms_strategy strategy;
  uint32_t count;           /* cut dimensions; the first is the space dimension */
  uint32_t ranges[MS_CUTS]; /* along each */
} ms_grid;

typedef struct ms_schedule {
  ms_grid grid;
  uint32_t block_count, workers;
  uint32_t *range_owner;           /* worker of each range of the first dimension */
  uint32_t *order;                 /* plan position -> block */
  uint32_t *owner;                 /* block -> worker */
  uint32_t *before_start, *before; /* block b waits for before[before_start[b] .. [b + 1]) */
  uint32_t *after_start, *after;   /* the same edges from the other end */
} ms_schedule;

/* Product of the ranges, or 0 when they make no valid grid (none, or too many blocks). */
uint32_t ms_grid_blocks(const ms_grid *grid);

/* The range of `block` along cut dimension `dim`. */
uint32_t ms_grid_range(const ms_grid *grid, uint32_t block, uint32_t dim);

/* Gives each range of the first dimension to one of `workers` workers, contiguously, such that the
 * largest load is the least possible. `weights` has an entry per block, NULL: all equal. `owner`
 * has room for ranges[0]. MS_OPT for an invalid grid or no worker. */
int ms_grid_assign(const ms_grid *grid, const uint64_t *weights, uint32_t workers, uint32_t *owner,
                   ms_error *err);

/* Makes the schedule for a grid whose first dimension's ranges belong to `range_owner`. MS_OPT for
 * strategies that cannot be run yet and for grids that do not fit the strategy. */
ms_schedule *ms_schedule_new(const ms_grid *grid, const uint32_t *range_owner, uint32_t workers,
                             ms_error *err);

/* Workers that use range `range` of cut dimension `dim` first and last; UINT32_MAX when the grid
 * has no such range. */
uint32_t ms_schedule_first_user(const ms_schedule *schedule, uint32_t dim, uint32_t range);
uint32_t ms_schedule_last_user(const ms_schedule *schedule, uint32_t dim, uint32_t range);

/* Frees a schedule and nulls the caller's pointer. */
void ms_schedule_destroy(ms_schedule **schedule);

#endif
