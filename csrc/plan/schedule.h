/* SPDX-License-Identifier: MIT
 *
 * Schedule: which block of a grid runs where, in which order, and after which others.
 *
 * A strategy says three things: the serial order of the blocks (the plan's meaning, order.h), an
 * owner for each, and for each the blocks that it has to wait for. Whoever executes only relies on
 * those: blocks of one owner run in plan order, and no block starts before its predecessors are
 * finished. Which blocks are forced before which others is a function of strategy and ranges only;
 * workers and weights decide nothing but the owners.
 *
 * A schedule may run a part of the plan's order only: what comes before it is done, and what comes
 * after it is another's business.
 *
 * Where blocks come in phases (hyperplane) a block waits for those of the previous one that the
 * grid's reach names, and through them for all earlier phases of their ranges, which belong to the
 * same owners. Since owners keep the plan's order, the last such block of each owner stands for its
 * others.
 *
 * Nothing is kept for each block: the tables have entries for ranges and for workers, and what is
 * asked of a block is computed from them. Pure: no I/O, no clock. Immutable once made. */
#ifndef MS_PLAN_SCHEDULE_H
#define MS_PLAN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "plan/grid.h"
#include "plan/order.h"

/* Blocks of one owner: those of ranges of the space axis that lie side by side, or, of one range,
 * those number from .. to - 1 in plan order. */
typedef struct ms_portion {
  ms_block_box box;         /* the ranges' blocks */
  uint32_t from, to;        /* MS_WHOLE as `to`: all of them */
  ms_block_key first, last; /* where it is some blocks: keys of the first and the last one */
} ms_portion;

/* What a worker has of a schedule. */
typedef struct ms_workload {
  uint32_t first, count; /* its portions, */
  uint32_t end;          /* and behind which range the last one ends, if it is of whole ranges */
  uint32_t done;         /* its blocks that come before the part of the order that is run, */
  uint32_t blocks;       /* and how many of its blocks are run */
} ms_workload;

typedef struct ms_schedule {
  ms_grid grid;
  ms_order order;
  uint32_t block_count, workers;
  ms_owner *range_owner;             /* of each range of the space axis */
  ms_portion *portions;              /* one worker's after the other's */
  ms_workload *load;                 /* by worker */
  uint32_t first, count;             /* positions of the plan's order that are run, */
  uint32_t before_first, after_last; /* and the blocks around them; MS_NO_BLOCK: none */
  uint32_t chains;                   /* axes along which blocks wait for each other: the first
                                        so many */
  uint32_t phase_blocks;             /* blocks of one phase; 0: there are no phases */
  bool alone;                        /* one worker runs all: nobody waits for anybody */
  uint32_t *phase_workers, phase_worker_count; /* have ranges: a block has an edge to each */
} ms_schedule;

/* Makes the schedule for a grid whose ranges along the space axis belong to `range_owner`. MS_OPT
 * for grids that cannot be run, and for a range of two owners in a sweep. */
ms_schedule *ms_schedule_new(const ms_grid *grid, const ms_owner *range_owner, uint32_t workers,
                             ms_error *err);

/* A block's place in the order of those that are run, from 0. */
uint32_t ms_schedule_position(const ms_schedule *schedule, uint32_t block);

/* Whether a block is in the part of the plan's order that the schedule runs. */
bool ms_schedule_runs(const ms_schedule *schedule, uint32_t block);

/* The worker that runs a block. */
uint32_t ms_schedule_owner(const ms_schedule *schedule, uint32_t block);

/* Whether a number is that of a block that a worker runs. */
bool ms_schedule_owns(const ms_schedule *schedule, uint32_t worker, uint64_t block);

/* How many of its owner's blocks that are run come before a block. */
uint32_t ms_schedule_rank(const ms_schedule *schedule, uint32_t block);

/* How many blocks a worker runs. */
uint32_t ms_schedule_share(const ms_schedule *schedule, uint32_t worker);

/* Of the blocks that a worker runs number `rank` in plan order, and the one after `block`, which is
 * one of its own; MS_NO_BLOCK: there is none. */
uint32_t ms_schedule_own(const ms_schedule *schedule, uint32_t worker, uint32_t rank);
uint32_t ms_schedule_next(const ms_schedule *schedule, uint32_t worker, uint32_t block);

/* Edges of a block: how many blocks it waits for at most, and as many may wait for it. */
uint32_t ms_schedule_edges(const ms_schedule *schedule);

/* The blocks that `block` waits for, by number of the edge; MS_NO_BLOCK where there is none, or
 * where all that it could wait for are its owner's own. */
uint32_t ms_schedule_before(const ms_schedule *schedule, uint32_t block, uint32_t edge);

/* Where there are no phases: the block that takes over the range of axis `edge` from `block`, which
 * waits for it; MS_NO_BLOCK as above. */
uint32_t ms_schedule_after(const ms_schedule *schedule, uint32_t block, uint32_t edge);

/* The workers other than its owner that wait for `block`, by number of the edge; UINT32_MAX where
 * none does. May name one twice. */
uint32_t ms_schedule_listener(const ms_schedule *schedule, uint32_t owner, uint32_t block,
                              uint32_t edge);

/* Whether another worker waits for a block. */
bool ms_schedule_is_awaited(const ms_schedule *schedule, uint32_t block);

/* When a block comes: failures of blocks that come earlier are told before those of later ones.
 * Blocks of one turn have iterations that come before and after each other's. */
uint32_t ms_schedule_turn(const ms_schedule *schedule, uint32_t block);

/* Workers that use range `range` of `axis` first and last; UINT32_MAX when the grid has no such
 * range. */
uint32_t ms_schedule_first_user(const ms_schedule *schedule, uint32_t axis, uint32_t range);
uint32_t ms_schedule_last_user(const ms_schedule *schedule, uint32_t axis, uint32_t range);

/* Frees a schedule and nulls the caller's pointer. */
void ms_schedule_destroy(ms_schedule **schedule);

#endif
