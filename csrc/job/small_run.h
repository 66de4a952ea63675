/* SPDX-License-Identifier: MIT
 *
 * Small runs: a loop's blocks in the driver's process, for loops that take less time than workers
 * need to get going.
 *
 * The same compiled kernel runs the same blocks in the plan's order, with the floating-point state
 * that workers have, and leaves the same results: the bits are those of workers. Where the kernel
 * says of every block, before the first one begins, that it goes through to its end (native.h),
 * there is no log; where blocks may stop, or put something into buffers, for which memory may be
 * out, what they may write is kept until the end, and put back if one does. What blocks put into
 * buffers that add is merged after each stage; what that may write is kept, too, where it may fail
 * or further stages follow. All memory but what runs make belongs to the caller.
 *
 * Where blocks wait for no other, threads of this process (crew.h) help with those that are left,
 * once these are known to take long enough. What a block leaves lies at the block's place, or in
 * the report of who ran it, and is combined and merged in the plan's order. */
#ifndef MS_JOB_SMALL_RUN_H
#define MS_JOB_SMALL_RUN_H

#include "base/api.h"
#include "job/small_member.h"
#include "kernel/native/combine.h"
#include "kernel/native/native.h"
#include "plan/plan.h"
#include "sync/merge.h"

/* Memory that a loop may write. */
typedef struct MS_API_TYPE ms_small_span {
  void *data;
  uint64_t size; /* in bytes */
} ms_small_span;

/* An array to which is added, after each stage, what blocks have put into a buffer. */
typedef struct MS_API_TYPE ms_small_merge {
  ms_array *array;
  uint32_t number; /* of the buffer, in the arguments' memory */
} ms_small_merge;

typedef struct MS_API_TYPE ms_small_run {
  ms_native_block *entry;
  ms_small_arguments arguments;
  ms_native_fault *fault;
  uint32_t members; /* threads that may run blocks at the same time; up to 1: the caller's alone */
  double pace;      /* ns that a block took the last time; 0: not known */
  int64_t mark;     /* the slot that a block's results begin with */
  const ms_combine_rule *rules; /* how results are combined, */
  uint32_t count;               /* as many as a block leaves */
  ms_native_slot *scalars;      /* two a result: before the run what ms_results_combine takes, after
                                   it what it gives */
  const ms_small_merge *merges; /* one for each buffer, in the order of merging, */
  uint32_t merge_count;         /* so many */
  ms_small_span *written; /* all that the loop may write: first what blocks write themselves, */
  uint32_t own_count;     /* so many, */
  uint32_t written_count; /* behind them the arrays that buffers are merged into; all together */
  /* Made by the first run that needs it: */
  char *kept; /* what was in `written` before, */
  uint64_t kept_room;
  ms_native_slot *left;   /* what blocks left, as ms_results_combine takes it, */
  uint64_t room;          /* slots there */
  ms_text report;         /* what blocks of the stage have put into buffers, */
  ms_pending_part *parts; /* and into one of them; room for one of each block */
  uint64_t part_room;
  ms_small_members *others; /* who help, with what their blocks have to themselves */
} ms_small_run;

typedef enum ms_small_answer {
  MS_SMALL_RAN,       /* `scalars` holds what is to be assigned */
  MS_SMALL_NOT_NOW,   /* nothing has been done, or all is as before: a block has stopped, or may not
                         end, with these bounds and slots; or merging has failed */
  MS_SMALL_NEVER,     /* nothing has been done: that may be so of this kernel always */
  MS_SMALL_UNCOMBINED /* blocks ran, and what they have `left` is no numbers: it is to be combined
                         otherwise */
} ms_small_answer;

/* Bytes that are kept at most. Copying so many takes somewhat longer than workers need to get
 * going; whether that pays is seen by the time that executions take. */
#define MS_SMALL_MOST_KEPT ((uint64_t)1 << 20)

/* What is known of a plan's blocks before they run: the worst ms_native_prospect. */
MS_API int32_t ms_small_run_prospect(const ms_small_run *run, const ms_plan *plan);

/* How many of `members` threads may run blocks of a plan at the same time, as far as blocks wait
 * for others. */
MS_API uint32_t ms_small_run_members(const ms_plan *plan, uint32_t members);

/* Runs all blocks of a plan. */
MS_API int32_t ms_small_run_blocks(ms_small_run *run, const ms_plan *plan);

/* Frees what the runs have made. */
MS_API void ms_small_run_free(ms_small_run *run);

#endif
