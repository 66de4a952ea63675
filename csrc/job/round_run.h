/* SPDX-License-Identifier: MIT
 *
 * Round runs: the blocks of rounds in the driver's process, one after the other, all by one call.
 *
 * The same compiled kernel runs the same blocks as on workers, in the order of their numbers, with
 * the floating-point state that workers have; every read is of the round before. All memory belongs
 * to the caller. One thread. */
#ifndef MS_JOB_ROUND_RUN_H
#define MS_JOB_ROUND_RUN_H

#include "base/api.h"
#include "job/version.h"
#include "kernel/native/native.h"

typedef struct MS_API_TYPE ms_round_run {
  ms_native_block *entry;
  const ms_native_slot *slots;
  ms_native_fault *fault;
  ms_versions *versions; /* whose places are among the slots */
  int64_t mark;          /* the slot that a block's results begin with */
  uint32_t width;        /* slots that a block leaves, the mark included, at least 1 */
} ms_round_run;

/* Runs blocks first .. last, the end excluded; `left` has room for what they leave, one behind the
 * other. How many went through to their ends; the next one has stopped on the way. */
MS_API uint32_t ms_round_run_blocks(const ms_round_run *run, uint32_t first, uint32_t last,
                                    ms_native_slot *left);

#endif
