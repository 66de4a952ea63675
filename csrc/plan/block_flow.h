/* SPDX-License-Identifier: MIT
 *
 * Block flow: of an array that the blocks of a loop read and write, one after the other in the
 * plan's order, what comes to a block from before the loop, what it hands over, and what it leaves.
 *
 * That follows from the lists of what each block reads and writes (needs.h): a block that reads an
 * element has it from the last block before it that writes it. A block's values go to blocks of
 * other ranges of the space axis, which may be other workers'; a range has one owner. Pure. */
#ifndef MS_PLAN_BLOCK_FLOW_H
#define MS_PLAN_BLOCK_FLOW_H

#include "base/api.h"
#include "base/error.h"
#include "plan/needs.h"
#include "plan/plan.h"

typedef struct MS_API_TYPE ms_block_flow {
  ms_needs *first;  /* of what a block reads: what no earlier block writes */
  ms_needs *handed; /* of the elements that a block writes: those that a later block of another
                       range reads */
  ms_needs *last;   /* of the elements that a block writes: those that no later block writes */
} ms_block_flow;

/* Finds the flow from what each block writes, and what it reads that it has not itself written for
 * sure. The caller frees the lists. MS_ARR when memory is out; MS_BUG for lists of other blocks or
 * arrays than each other's, or the plan's. */
MS_API int ms_block_flow_find(const ms_needs *writes, const ms_needs *reads, const ms_plan *plan,
                              ms_block_flow *flow, ms_error *err);

#endif
