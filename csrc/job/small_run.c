/* SPDX-License-Identifier: MIT
 *
 * Small runs: see small_run.h. */
#include "job/small_run.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "base/history.h"
#include "base/trace.h"
#include "plan/order.h"

#define MOST_BOUNDS (2 * MS_MAX_DIMS + 2)

/* How a process begins: rounding to nearest, subnormal numbers as they are, no traps. */
#define USUAL_CONTROL 0x1f80u

int32_t ms_small_run_prospect(const ms_small_run *run, const ms_plan *plan) {
  int64_t bounds[MOST_BOUNDS];
  int32_t worst = MS_NATIVE_ENDS;
  for (uint32_t block = 0; block < plan->blocks && worst < MS_NATIVE_DOUBTFUL; block++) {
    ms_layout_bounds(&plan->layout, block, bounds);
    int32_t says = run->entry(bounds, run->slots, NULL, run->fault);
    if (says > worst) worst = says;
  }
  return worst;
}

/* Keeps what may be written; false where that is too much. */
static bool keep(ms_small_run *run) {
  uint64_t needed = 0, at = 0;
  if (run->written_count == MS_SMALL_UNKEPT) return false;
  for (uint32_t s = 0; s < run->written_count; s++) needed += run->written[s].size;
  if (needed > run->kept_room) {
    char *grown = realloc(run->kept, (size_t)needed);
    if (grown == NULL) return false;
    run->kept = grown;
    run->kept_room = needed;
  }
  for (uint32_t s = 0; s < run->written_count; at += run->written[s++].size) {
    memcpy(run->kept + at, run->written[s].data, (size_t)run->written[s].size);
  }
  return true;
}

static void put_back(const ms_small_run *run) {
  uint64_t at = 0;
  for (uint32_t s = 0; s < run->written_count; at += run->written[s++].size) {
    memcpy(run->written[s].data, run->kept + at, (size_t)run->written[s].size);
  }
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

/* Whether all blocks went through to their ends. */
static bool run_all(const ms_small_run *run, const ms_plan *plan) {
  unsigned long long job = ms_history_own_job();
  int64_t bounds[MOST_BOUNDS];
  ms_order order = ms_order_of(&plan->grid);
  ms_block_box all = ms_order_whole(&order);
  ms_native_slot *left = run->left;
  ms_history("loop job=%llu blocks=%u ordered=0", job, plan->blocks);
  for (uint32_t block = ms_order_next(&order, &all, MS_NO_BLOCK); block != MS_NO_BLOCK;
       block = ms_order_next(&order, &all, block), left += width_of(run)) {
    ms_layout_bounds(&plan->layout, block, bounds);
    left->whole = run->mark;
    if (run->memory != NULL) ms_block_local_begin(run->memory, block);
    ms_trace(MS_TRACE_BLOCKS, "begin job=0 block=%u", block);
    ms_history("begin job=%llu block=%u", job, block);
    bool ran = run->entry(bounds, run->slots, left + 1, run->fault) == MS_NATIVE_RAN;
    ms_trace(MS_TRACE_BLOCKS, "%s job=0 block=%u", ran ? "end" : "fail", block);
    if (!ran) {
      ms_history("fail job=%llu", job);
      return false;
    }
    ms_history("commit job=%llu block=%u", job, block);
  }
  ms_history("end job=%llu", job);
  return true;
}

int32_t ms_small_run_blocks(ms_small_run *run, const ms_plan *plan) {
  if (!make_room(run, plan->blocks)) return MS_SMALL_NOT_NOW;
  int32_t prospect = ms_small_run_prospect(run, plan), combined = 0;
  if (prospect == MS_NATIVE_ENDLESS) return MS_SMALL_NEVER;
  if (prospect == MS_NATIVE_DOUBTFUL) return MS_SMALL_NOT_NOW;
  if (prospect == MS_NATIVE_MAY_STOP && !keep(run)) return MS_SMALL_NOT_NOW;
  unsigned control = _mm_getcsr();
  _mm_setcsr(USUAL_CONTROL);
  bool ran = run_all(run, plan);
  if (ran) {
    combined = ms_results_combine(run->rules, run->count, (const char *)run->left, plan->blocks,
                                  run->scalars);
  }
  _mm_setcsr(control);
  if (!ran) put_back(run);
  if (!ran) return MS_SMALL_NOT_NOW;
  return combined == 0 ? MS_SMALL_RAN : MS_SMALL_UNCOMBINED;
}

void ms_small_run_free(ms_small_run *run) {
  free(run->left);
  free(run->kept);
  run->left = NULL;
  run->kept = NULL;
  run->room = run->kept_room = 0;
}
