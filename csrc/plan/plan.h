/* SPDX-License-Identifier: MIT
 *
 * Plan: how a loop's space is cut into blocks, what each of them holds, and what they weigh.
 *
 * A plan follows from the analyser's verdict, the space and the options alone, never from workers,
 * cores or time: that is what makes results the same for any number of workers. It is made in two
 * phases: where the space is the entries of a sparse array, ms_plan_cut says how these are to be
 * put into blocks, and the plan is made with the partition that this gave.
 *
 * A plan is immutable once made. It keeps neither verdict nor space alive; its layout points into
 * the partition, which whoever uses the plan keeps. */
#ifndef MS_PLAN_PLAN_H
#define MS_PLAN_PLAN_H

#include <stdint.h>

#include "array/partition.h"
#include "base/api.h"
#include "base/error.h"
#include "depend/meaning.h"
#include "plan/layout.h"
#include "plan/stage.h"
#include "plan/travel.h"

/* What a plan is made of. */
typedef struct MS_API_TYPE ms_plan_terms {
  const void *verdict; /* an ms_verdict that can be run */
  double entries;      /* of an array that are the space; less than 0: it is ranges */
  double delay;        /* of buffers, the most iterations of a stage, may be infinite; 0: none */
  double merged;       /* elements of the arrays behind buffers */
  uint32_t ordered;    /* 1: as written, 0: in any order */
  uint32_t sparse;     /* entries of a sparse array: its dimensions, which alone can be cut; or 0 */
  uint32_t asked;      /* axes whose ranges were asked for: how many, 0: none; */
  uint32_t ask[MS_CUTS]; /* and their ranges, those of swept axes left out */
  uint32_t rounds; /* of a loop over replicas, which the partition has: they are swept, and blocks
                      wait as rounds do; 0: one by itself */
  const ms_partition *partition; /* of the entries of a sparse array, or NULL */
} ms_plan_terms;

/* What is cut: a dimension of the space, or the verdict's row. */
typedef struct ms_plan_axis {
  int32_t dim;        /* from 0; -1: the row */
  uint32_t swept;     /* 1: each range is one value; they are run one after the other */
  ms_range values;    /* all values of the axis */
  ms_layout_axis cut; /* into ranges, but where a partition cuts */
  int64_t *starts;    /* ranges + 1: range r has starts[r] .. starts[r + 1] - step; NULL: swept or
                         a row */
} ms_plan_axis;

/* Where the ranges of each cut dimension begin: range r holds the indices from start[r] until
 * before start[r + 1] (downwards where that is less); NULL when unknown. */
typedef struct ms_range_starts {
  const int64_t *start[MS_CUTS];
} ms_range_starts;

typedef struct MS_API_TYPE ms_plan {
  uint64_t id;   /* not 0; never given twice */
  ms_grid grid;  /* all of it */
  double volume; /* iterations at most */
  uint32_t blocks;
  ms_plan_axis axes[MS_CUTS]; /* as many as the grid has */
  ms_range_starts bounds;     /* those of the axes */
  ms_layout layout;
  uint64_t *loads;     /* of each range of the space axis, one for each block and its iterations or
                          entries, so that empty ranges are shared out, too; NULL: all are alike */
  ms_stages stages;    /* if their iterations are bounded */
  uint32_t bindings;   /* of the loop */
  uint32_t *array_of;  /* by binding: 1 + the number of its array; 0: it is none */
  ms_travel *travels;  /* by number: how the arrays that are written move */
  uint32_t references; /* how many users it has */
} ms_plan;

/* How many ranges are wanted for each axis, and what the axes are. The first of both phases.
 * MS_OPT: `asked` does not fit, or there were too many blocks. */
MS_API int ms_plan_cut(const ms_plan_terms *terms, ms_cut *cut, ms_error *err);

/* The plan, which the caller releases. MS_OPT as above, and where a block has more iterations than
 * buffers allow; MS_ARR when memory is out. */
MS_API ms_plan *ms_plan_new(const ms_plan_terms *terms, ms_error *err);

/* The same for a verdict that holds for other ranges, too (ms_verdict_is_steady): one for each
 * dimension. */
ms_plan *ms_plan_moved(const ms_plan_terms *terms, const ms_range *ranges, ms_error *err);

/* Keeps a plan until it is released once more; whoever is the last frees it. One thread. */
MS_API void ms_plan_keep(ms_plan *plan);
MS_API void ms_plan_release(ms_plan *plan);

/* How what a binding of the loop is moves; NULL: the loop writes none of it. */
const ms_travel *ms_plan_travel(const ms_plan *plan, uint32_t binding);

/* First and last value of range `range` of an axis. */
MS_API void ms_plan_values(const ms_plan *plan, uint32_t axis, uint32_t range, int64_t *values);

/* The block that comes after `block` in the plan's serial order; given MS_NO_BLOCK the first one;
 * MS_NO_BLOCK: there is none. */
MS_API uint32_t ms_plan_next(const ms_plan *plan, uint32_t block);

#endif
