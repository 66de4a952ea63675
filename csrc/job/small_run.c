/* SPDX-License-Identifier: MIT
 *
 * Small runs: see small_run.h. */
#include "job/small_run.h"

#include <stdbool.h>
#include <stdlib.h>
#include <xmmintrin.h>

#include "base/trace.h"
#include "plan/order.h"

#define MOST_BOUNDS (2 * MS_MAX_DIMS + 2)

/* How a process begins: rounding to nearest, subnormal numbers as they are, no traps. */
#define USUAL_CONTROL 0x1f80u

/* Whether every block would go through to its end. */
static int32_t ask(const ms_small_run *run, const ms_plan *plan) {
  int64_t bounds[MOST_BOUNDS];
  for (uint32_t block = 0; block < plan->blocks; block++) {
    ms_layout_bounds(&plan->layout, block, bounds);
    int32_t says = run->entry(bounds, run->slots, NULL, run->fault);
    if (says == MS_NATIVE_ERROR) return MS_SMALL_NEVER;
    if (says != MS_NATIVE_RAN) return MS_SMALL_NOT_NOW;
  }
  return MS_SMALL_RAN;
}

/* Slots that a block leaves, the mark included. */
static uint64_t width_of(const ms_small_run *run) {
  return 1 + 2 * (uint64_t)run->count;
}

static bool make_room(ms_small_run *run, uint64_t blocks) {
  uint64_t needed = width_of(run) * blocks;
  if (needed <= run->room) return true;
  if (needed > SIZE_MAX / sizeof *run->left) return false;
  ms_native_slot *grown = realloc(run->left, (size_t)needed * sizeof *run->left);
  if (grown == NULL) return false;
  run->left = grown;
  run->room = needed;
  return true;
}

static void run_all(const ms_small_run *run, const ms_plan *plan) {
  int64_t bounds[MOST_BOUNDS];
  ms_order order = ms_order_of(&plan->grid);
  ms_block_box all = ms_order_whole(&order);
  ms_native_slot *left = run->left;
  for (uint32_t block = ms_order_next(&order, &all, MS_NO_BLOCK); block != MS_NO_BLOCK;
       block = ms_order_next(&order, &all, block), left += width_of(run)) {
    ms_layout_bounds(&plan->layout, block, bounds);
    left->whole = run->mark;
    if (run->memory != NULL) ms_block_local_begin(run->memory, block);
    ms_trace(MS_TRACE_BLOCKS, "begin job=0 block=%u", block);
    run->entry(bounds, run->slots, left + 1, run->fault);
    ms_trace(MS_TRACE_BLOCKS, "end job=0 block=%u", block);
  }
}

int32_t ms_small_run_blocks(ms_small_run *run, const ms_plan *plan) {
  if (!make_room(run, plan->blocks)) return MS_SMALL_NOT_NOW;
  int32_t answer = ask(run, plan);
  if (answer != MS_SMALL_RAN) return answer;
  unsigned control = _mm_getcsr();
  _mm_setcsr(USUAL_CONTROL);
  run_all(run, plan);
  int32_t combined = ms_results_combine(run->rules, run->count, (const char *)run->left,
                                        plan->blocks, run->scalars);
  _mm_setcsr(control);
  return combined == 0 ? MS_SMALL_RAN : MS_SMALL_UNCOMBINED;
}

void ms_small_run_free(ms_small_run *run) {
  free(run->left);
  run->left = NULL;
  run->room = 0;
}
