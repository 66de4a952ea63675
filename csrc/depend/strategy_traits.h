/* SPDX-License-Identifier: MIT
 *
 * What strategies are like: one table, from which placement, grids, order, schedule, the movement
 * of operands, reports, pictures and the checker take what they need (Lua: plan/strategy.lua).
 *
 * When a strategy is legal, and which is taken, is said in strategy.c. Constant data. */
#ifndef MS_DEPEND_STRATEGY_TRAITS_H
#define MS_DEPEND_STRATEGY_TRAITS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ms_strategy {
  MS_INDEPENDENT,
  MS_PARTITION,
  MS_SKEW,
  MS_ROTATE,
  MS_WAVEFRONT,
  MS_HYPERPLANE,
  MS_ROUNDS,
  MS_LEVELS,
  MS_SERIALLY,
  MS_STRATEGIES /* how many there are */
} ms_strategy;

/* As `chains`: ranges of all axes. */
#define MS_CHAINS_ALL INT32_MAX

typedef struct ms_strategy_traits {
  const char *name, *noun; /* as users see it: "rotate", "rotation" */
  /* How a report says it; $dims, $row, $outer (what is swept) and $last are the plan's. */
  const char *words;
  /* How many axes a grid has beside swept ones, and the error for one with fewer or more. */
  int32_t least_axes, most_axes;
  const char *axes_words;
  bool any_axis; /* it may be cut along any dimension: the analysis names none */
  bool sweeps;   /* the first axes are swept, one value after the other: a block waits for the
                    phase before, as far as a distance reaches; the axis behind them has owners, else
                    the first one */
  bool alone;    /* the first worker runs all blocks */
  /* The serial order of the blocks, when it is not row-major: by step, in each of which a space
   * range meets another range of the other axes; by range of the second axis, then the first. */
  bool rotated, turned;
  /* Of so many of the first axes, blocks that share a range come one after the other, in the serial
   * order: who has run one hands the range on to who runs the next, and what follows it travels. */
  int32_t chains;
  bool one_way;   /* what is handed on never comes back to a worker that had it */
  bool unordered; /* only for loops whose iterations may come in any order */
} ms_strategy_traits;

/* What a strategy is like; NULL beyond the last. */
const ms_strategy_traits *ms_strategy_traits_of(int strategy);

/* Whether blocks wait for blocks of other workers, whoever has which. */
bool ms_strategy_waits(int strategy);

/* The strategy of a name, MS_STRATEGIES if there is none. */
ms_strategy ms_strategy_find(const char *name);

/* A strategy's name. */
const char *ms_strategy_name(ms_strategy strategy);

#endif
