/* SPDX-License-Identifier: MIT
 *
 * Small runs: a loop's blocks in the driver's process, for loops that take less time than workers
 * need to get going.
 *
 * The same compiled kernel runs the same blocks in the plan's order, with the floating-point state
 * that workers have, and leaves the same results: the bits are those of workers. Nothing can stop a
 * run half-way, as the kernel says of every block before the first one begins (native.h), so there
 * is no log. All memory but `left` belongs to the caller. One thread. */
#ifndef MS_JOB_SMALL_RUN_H
#define MS_JOB_SMALL_RUN_H

#include "base/api.h"
#include "job/block_local.h"
#include "kernel/native/combine.h"
#include "kernel/native/native.h"
#include "plan/plan.h"

typedef struct MS_API_TYPE ms_small_run {
  ms_native_block *entry;
  const ms_native_slot *slots;
  ms_native_fault *fault;
  const ms_block_local *memory; /* that blocks have to themselves, without buffers; or NULL */
  int64_t mark;                 /* the slot that a block's results begin with */
  const ms_combine_rule *rules; /* how results are combined, */
  uint32_t count;               /* as many as a block leaves */
  ms_native_slot *scalars;      /* two a result: before the run what ms_results_combine takes, after
                                   it what it gives */
  ms_native_slot
      *left;     /* what blocks left, as ms_results_combine takes it; made by the first run */
  uint64_t room; /* slots there */
} ms_small_run;

typedef enum ms_small_answer {
  MS_SMALL_RAN,       /* `scalars` holds what is to be assigned */
  MS_SMALL_NOT_NOW,   /* nothing has been done: a block might stop, with these bounds or slots */
  MS_SMALL_NEVER,     /* nothing has been done: blocks of this kernel might always */
  MS_SMALL_UNCOMBINED /* blocks ran, and what they have `left` is no numbers: it is to be combined
                         otherwise */
} ms_small_answer;

/* Runs all blocks of a plan. */
MS_API int32_t ms_small_run_blocks(ms_small_run *run, const ms_plan *plan);

/* Frees what the runs have made. */
MS_API void ms_small_run_free(ms_small_run *run);

#endif
