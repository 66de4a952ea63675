/* SPDX-License-Identifier: MIT
 *
 * Grid: how an iteration space is cut into blocks, and which worker gets which of them.
 *
 * The space is cut along up to MS_CUTS axes; a block is one combination of ranges, numbered
 * row-major (with two axes: block = ra * ranges_b + rb). One axis is the space axis: whoever owns
 * a range of it owns all blocks in that range. It is the first one, or, in a hyperplane sweep, the
 * one after the `sequential` axes that are swept. Pure functions on plain records. */
#ifndef MS_PLAN_GRID_H
#define MS_PLAN_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "depend/meaning.h"
#include "depend/strategy_traits.h"

#define MS_CUTS        MS_MAX_DIMS
#define MS_MOST_BLOCKS (1u << 24)

/* Compared as bytes: no padding, and what is beyond `count` is zero. */
typedef struct ms_grid {
  ms_strategy strategy;
  uint32_t count;           /* axes */
  uint32_t sequential;      /* hyperplane: how many of the first axes are swept; else 0 */
  uint32_t ranges[MS_CUTS]; /* along each axis */
  uint32_t first, last;     /* positions of the plan's order that are run, `last` not included;
                               0, 0: all */
  uint32_t reach[2];        /* hyperplane: a block of range r waits, of the phase before, for ranges
                               r - (reach[0] - 1) .. r + (reach[1] - 1); 0: for all on that side */
  uint32_t together;        /* ordered loops: blocks k * together .. come before the next so many;
                               those in between interleave; 0: the plan's order is the loop's */
} ms_grid;

/* Product of the ranges, or 0 when they make no valid grid (none, or too many blocks). */
uint32_t ms_grid_blocks(const ms_grid *grid);

/* The range of `block` along `axis`. */
uint32_t ms_grid_range(const ms_grid *grid, uint32_t block, uint32_t axis);

/* The axis whose ranges have owners. */
uint32_t ms_grid_space(const ms_grid *grid);

/* Whether of blocks in the same range of `axis` each follows the one before it in plan order. */
bool ms_grid_chains(const ms_grid *grid, uint32_t axis);

/* What keeps a grid from being run, NULL when nothing does (static storage). */
const char *ms_grid_refusal(const ms_grid *grid);

/* Who runs the blocks of a range of the space axis: `worker` the first `blocks` of them in plan
 * order, or all where there are not more, and the next worker the others. */
typedef struct ms_owner {
  uint32_t worker, blocks;
} ms_owner;

#define MS_WHOLE UINT32_MAX /* as `blocks`: all of them */

/* Fills in the loads of the ranges of the space axis as long as nothing is known of their blocks:
 * one for each, so that empty ranges spread, too. `grid` can be run. */
void ms_grid_loads(const ms_grid *grid, uint64_t *load);

/* Gives each range of the space axis to one of `workers` workers, contiguously, such that the
 * largest load is the least possible. With `split` a range may have two owners where that makes the
 * largest load clearly less: blocks of a range are taken to be equally heavy. `load` and `owner`
 * have an entry per range. MS_OPT for a grid that cannot be run or no worker. */
int ms_grid_assign(const ms_grid *grid, const uint64_t *load, uint32_t workers, bool split,
                   ms_owner *owner, ms_error *err);

#endif
