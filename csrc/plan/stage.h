/* SPDX-License-Identifier: MIT
 *
 * Stages: the parts of a loop with buffers between which what is pending is merged.
 *
 * Stages are consecutive blocks in the plan's serial order, as many as have at most a given number
 * of iterations together. They are a function of plan and grid alone, so the results are the same
 * for any number of workers. */
#ifndef MS_PLAN_STAGE_H
#define MS_PLAN_STAGE_H

#include <stdint.h>

#include "base/error.h"
#include "plan/layout.h"

typedef struct ms_stages {
  uint32_t count; /* 0: the loop is one stage */
  uint32_t *ends; /* of each, the position behind its last block in the plan's serial order */
} ms_stages;

/* Cuts the blocks of a grid that can be run into stages of at most `most` iterations. -1 and MS_OPT
 * when a block alone has more, MS_ARR when memory is out; then there are none. */
int ms_stages_cut(const ms_grid *grid, const ms_layout *layout, uint64_t most, ms_stages *stages,
                  ms_error *err);

/* Where stage number `stage` begins. */
static inline uint32_t ms_stages_first(const ms_stages *stages, uint32_t stage) {
  return stage == 0 ? 0 : stages->ends[stage - 1];
}

/* The loads of a stage (ms_grid_loads): those of the grid, and the iterations of its blocks. */
void ms_stages_loads(const ms_stages *stages, uint32_t stage, const ms_grid *grid,
                     const ms_layout *layout, uint64_t *load);

/* Frees what belongs to the stages. */
void ms_stages_free(ms_stages *stages);

#endif
