/* SPDX-License-Identifier: MIT
 *
 * Stages: the parts of a loop with buffers between which what is pending is merged.
 *
 * Stages are consecutive blocks in the plan's serial order, as many as have at most a given number
 * of iterations together. They are a function of plan and grid alone, so the results are the same
 * for any number of workers. Pure functions on the caller's memory. */
#ifndef MS_SYNC_STAGE_H
#define MS_SYNC_STAGE_H

#include <stdint.h>

#include "base/api.h"
#include "base/error.h"

typedef struct ms_stages {
  uint32_t count;        /* 0: the loop is one stage, and nothing else is set */
  const uint32_t *ends;  /* of each, the position behind its last block, */
  const uint32_t *order; /* in this order of blocks, */
  const uint64_t *sizes; /* which have so many iterations */
} ms_stages;

/* Cuts `count` blocks, in the order `order`, of which block b has sizes[b] iterations, into stages
 * of at most `most`: how many, with the position behind the last block of each in `ends`, which has
 * room for `count`. -1 and MS_OPT when a block alone has more. */
MS_API int64_t ms_stages_cut(const uint32_t *order, uint32_t count, const uint64_t *sizes,
                             uint64_t most, uint32_t *ends, ms_error *err);

/* Where stage number `stage` begins. */
static inline uint32_t ms_stages_first(const ms_stages *stages, uint32_t stage) {
  return stage == 0 ? 0 : stages->ends[stage - 1];
}

/* Makes `weights`, of all blocks, the sizes of those of a stage, and 0 for others. They have been
 * those of the stage before it, or of none. */
void ms_stages_weigh(const ms_stages *stages, uint32_t stage, uint64_t *weights);

#endif
