/* SPDX-License-Identifier: MIT
 *
 * Small runs: see small_run.h. */
#include "job/small_run.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "base/clock.h"
#include "base/history.h"
#include "base/trace.h"
#include "depend/strategy_traits.h"
#include "job/crew.h"
#include "job/report.h"
#include "job/small_keep.h"
#include "plan/block_walk.h"

/* What is known of a block with these bounds. */
static int32_t prospect_of(const ms_small_run *run, const int64_t *bounds) {
  return run->entry(bounds, run->arguments.slots, NULL, run->fault);
}

int32_t ms_small_run_prospect(const ms_small_run *run, const ms_plan *plan) {
  int64_t bounds[MS_LAYOUT_BOUNDS];
  int32_t worst = MS_NATIVE_ENDS;
  /* Where one block with all iterations would go through to its end, all do. */
  ms_layout_whole(&plan->layout, plan->blocks, bounds);
  if (prospect_of(run, bounds) == MS_NATIVE_ENDS) return MS_NATIVE_ENDS;
  for (uint32_t block = 0; block < plan->blocks && worst < MS_NATIVE_DOUBTFUL; block++) {
    ms_layout_bounds(&plan->layout, block, bounds);
    int32_t says = prospect_of(run, bounds);
    if (says > worst) worst = says;
  }
  return worst;
}

/* Slots that a block leaves, the mark included. */
static uint64_t width_of(const ms_small_run *run) {
  return 1 + 2 * (uint64_t)run->count;
}

/* Room for what blocks leave for a buffer, if there is one. */
static bool make_part_room(ms_small_run *run, uint64_t blocks) {
  if (run->merge_count == 0 || blocks <= run->part_room) return true;
  if (blocks > SIZE_MAX / sizeof *run->parts) return false;
  ms_pending_part *grown = realloc(run->parts, (size_t)blocks * sizeof *run->parts);
  if (grown == NULL) return false;
  run->parts = grown;
  run->part_room = blocks;
  return true;
}

static bool make_room(ms_small_run *run, uint64_t blocks) {
  if (!make_part_room(run, blocks)) return false;
  uint64_t needed = width_of(run) * blocks;
  if (needed <= run->room) return true;
  if (needed > SIZE_MAX / sizeof *run->left) return false;
  ms_native_slot *grown = realloc(run->left, (size_t)needed * sizeof *run->left);
  if (grown == NULL) return false;
  run->left = grown;
  run->room = needed;
  return true;
}

/* ---- stages ---- */

static uint32_t stage_count(const ms_small_run *run, const ms_plan *plan) {
  return run->merge_count > 0 && plan->stages.count > 0 ? plan->stages.count : 1;
}

/* Whether nothing can fail once something is merged. */
static bool merges_last(const ms_small_run *run, const ms_plan *plan) {
  bool sure = stage_count(run, plan) == 1;
  for (uint32_t m = 0; m < run->merge_count; m++)
    sure = sure && ms_merge_is_sure(run->merges[m].array, plan->blocks);
  return sure;
}

/* How many blocks a stage has. */
static uint32_t blocks_of(const ms_small_run *run, const ms_plan *plan, uint32_t stage) {
  if (stage_count(run, plan) == 1) return plan->blocks;
  return plan->stages.ends[stage] - ms_stages_first(&plan->stages, stage);
}

/* Some blocks one after the other: those of a stage, in the order of the plan. */
typedef struct stage_blocks {
  uint32_t first, count;
  uint32_t members; /* threads that have run them; more than one: the order is by number */
} stage_blocks;

/* The report of a member, from 0. */
static ms_text *report_of(ms_small_run *run, uint32_t member) {
  return member == 0 ? &run->report : ms_small_members_get(run->others, member - 1).report;
}

/* What blocks have put into a buffer, in the plan's order: how many parts. */
static uint32_t gather_parts(ms_small_run *run, const ms_small_merge *into,
                             const stage_blocks *stage) {
  uint32_t count = 0, left = 0;
  memset(run->parts, 0, stage->count * sizeof *run->parts);
  for (uint32_t m = 0; m < stage->members; m++) {
    const ms_text *report = report_of(run, m);
    size_t at = 0;
    ms_record record;
    while (ms_report_next(report->bytes, report->length, &at, &record) > 0) {
      if (record.kind != MS_REPORT_PENDING + into->number) continue;
      uint32_t place = stage->members > 1 ? record.block - stage->first : count++;
      if (place >= stage->count) continue; /* there is none */
      run->parts[place] = (ms_pending_part){record.bytes, (size_t)record.size};
    }
  }
  for (uint32_t b = 0; b < stage->count; b++) {
    if (run->parts[b].size > 0) run->parts[left++] = run->parts[b];
  }
  return left;
}

/* Adds to an array what the blocks of a stage have put into its buffer. */
static bool merge_one(ms_small_run *run, const ms_small_merge *into, const stage_blocks *stage) {
  ms_merge merge = {.arrays = &into->array, .array_count = 1, .parts = run->parts};
  ms_error err;
  ms_error_clear(&err);
  merge.part_count = gather_parts(run, into, stage);
  return ms_merge_all(&merge, 1, NULL, &err) == 0;
}

static void drop_reports(ms_small_run *run, const stage_blocks *stage) {
  for (uint32_t m = 0; m < stage->members; m++) {
    report_of(run, m)->length = 0;
    report_of(run, m)->failed = false;
  }
}

static bool merge_stage(ms_small_run *run, const stage_blocks *stage) {
  bool merged = true;
  for (uint32_t m = 0; m < stage->members; m++) merged = merged && !report_of(run, m)->failed;
  for (uint32_t m = 0; merged && m < run->merge_count; m++) {
    merged = merge_one(run, &run->merges[m], stage);
  }
  drop_reports(run, stage);
  return merged;
}

/* ---- blocks ---- */

/* Takes the floating-point state that workers have; what it was before. */
static unsigned take_control(void) {
  unsigned before = _mm_getcsr();
  _mm_setcsr(MS_NATIVE_CONTROL);
  return before;
}

/* What the caller runs blocks with. */
static ms_small_member caller_of(ms_small_run *run) {
  return (ms_small_member){.slots = run->arguments.slots,
                           .memory = run->arguments.memory,
                           .fault = run->fault,
                           .report = &run->report};
}

/* Whether a block went through to its end. */
static bool run_block(const ms_small_run *run, const ms_small_member *by, uint32_t block,
                      const int64_t *bounds, ms_native_slot *left, unsigned long long job) {
  left->whole = run->mark;
  if (by->memory != NULL) ms_block_local_begin(by->memory, block);
  ms_trace(MS_TRACE_BLOCKS, "begin job=0 block=%u", block);
  ms_history("begin job=%llu block=%u", job, block);
  bool ran = run->entry(bounds, by->slots, left + 1, by->fault) == MS_NATIVE_RAN;
  ms_trace(MS_TRACE_BLOCKS, "%s job=0 block=%u", ran ? "end" : "fail", block);
  if (by->memory != NULL && ran) ms_block_local_take(by->memory, block, by->report);
  if (by->memory != NULL && !ran) ms_block_local_discard(by->memory);
  if (ran) ms_history("commit job=%llu block=%u", job, block);
  return ran;
}

/* ---- blocks by several threads ---- */

/* ns of work that is left for others to be called: so long may those who sleep take to come. */
#define WORTH 30000u

typedef struct shared {
  ms_small_run *run;
  const ms_layout *layout;
  atomic_bool failed;
  ms_crew_pieces blocks;
} shared;

uint32_t ms_small_run_members(const ms_plan *plan, uint32_t members) {
  const ms_strategy_traits *of = ms_strategy_traits_of(plan->grid.strategy);
  /* Blocks that share a range come one after the other; with one axis each has its own. */
  bool chained = of->chains > 1 || (of->chains == 1 && plan->grid.count > 1);
  return of->alone || of->sweeps || chained ? 1 : members;
}

/* Whether other threads may run blocks. A history is of one thread. */
static bool is_shareable(const ms_small_run *run, const ms_plan *plan) {
  return !ms_history_wanted && ms_small_run_members(plan, run->members) > 1;
}

/* Whether the blocks that are left when `done` are over, which took so long, or as long as the last
 * time, are worth calling the crew. It is asked now and then. */
static bool is_worth_calling(const ms_small_run *run, uint64_t began, uint32_t done,
                             uint32_t blocks) {
  if (blocks - done < 2) return false; /* the caller runs the last one as soon */
  if (done == 0) return run->pace * blocks >= WORTH;
  if ((done & (done - 1)) != 0 || (done & 0x55555555u) == 0) return false;
  return (ms_clock_now() - began) / done * (blocks - done) >= WORTH;
}

/* Whether the crew will be called before the first block, as far as is known. */
static bool calls_at_once(const ms_small_run *run, const ms_plan *plan) {
  return is_shareable(run, plan) && is_worth_calling(run, 0, 0, blocks_of(run, plan, 0));
}

/* A thread's part of a run: takes blocks that no other thread has taken until none are left, at
 * first those of its own share. */
static void run_shares(void *context, uint32_t member) {
  shared *of = context;
  ms_small_member by =
      member == 0 ? caller_of(of->run) : ms_small_members_get(of->run->others, member - 1);
  if (member > 0) take_control(); /* which the crew's threads keep */
  uint32_t tried = 0, block;
  while (ms_crew_take(&of->blocks, member, &tried, &block)) {
    if (atomic_load(&of->failed)) return;
    int64_t bounds[MS_LAYOUT_BOUNDS];
    ms_layout_bounds(of->layout, block, bounds);
    ms_native_slot *left = of->run->left + block * width_of(of->run);
    if (!run_block(of->run, &by, block, bounds, left, 0)) atomic_store(&of->failed, true);
  }
}

/* Runs the blocks of a stage from number `done` on together with the crew; false: nothing has been
 * done. */
static bool run_together(ms_small_run *run, const ms_plan *plan, stage_blocks *stage, uint32_t done,
                         bool *ran) {
  shared of = {.run = run, .layout = &plan->layout};
  ms_crew_share_out(&of.blocks, run->members, stage->first + done, stage->count - done);
  uint32_t members = of.blocks.members;
  if (!ms_small_members_ready(&run->others, &run->arguments, members - 1)) return false;
  if (!ms_crew_call(members, run_shares, &of)) return false;
  run_shares(&of, 0);
  ms_crew_dismiss();
  stage->members = members;
  *ran = !atomic_load(&of.failed);
  return true;
}

/* Whether the blocks of a stage went through to their ends. */
static bool run_stage(ms_small_run *run, const ms_plan *plan, stage_blocks *stage,
                      ms_block_walk *walk, unsigned long long job) {
  bool shareable = is_shareable(run, plan), ran = true;
  const ms_small_member caller = caller_of(run);
  uint64_t began = shareable ? ms_clock_now() : 0;
  for (uint32_t b = 0; b < stage->count && ran; b++) {
    if (shareable && is_worth_calling(run, began, b, stage->count)) {
      if (run_together(run, plan, stage, b, &ran)) {
        for (; run->merge_count > 0 && b < stage->count; b++) ms_block_walk_next(walk);
        break;
      }
      shareable = false;
    }
    uint32_t block = ms_block_walk_next(walk);
    ms_native_slot *left = run->left + (stage->first + b) * width_of(run);
    ran = run_block(run, &caller, block, walk->bounds, left, job);
  }
  if (shareable && stage->count > 0) {
    double threads = stage->members;
    run->pace = (double)(ms_clock_now() - began) / stage->count * threads;
  }
  return ran;
}

/* Whether all blocks went through to their ends, and what they have put into buffers was merged. */
static bool run_all(ms_small_run *run, const ms_plan *plan) {
  ms_block_walk walk = ms_block_walk_of(&plan->grid, &plan->layout);
  uint32_t first = 0;
  for (uint32_t s = 0; s < stage_count(run, plan); s++) {
    stage_blocks stage = {.first = first, .count = blocks_of(run, plan, s), .members = 1};
    unsigned long long job = ms_history_own_job();
    ms_history("loop job=%llu blocks=%u ordered=0", job, stage.count);
    bool ran = run_stage(run, plan, &stage, &walk, job);
    ms_history("%s job=%llu", ran ? "end" : "fail", job);
    if (!ran) drop_reports(run, &stage);
    if (!ran || !merge_stage(run, &stage)) return false;
    first += stage.count;
  }
  return true;
}

int32_t ms_small_run_blocks(ms_small_run *run, const ms_plan *plan) {
  if (!make_room(run, plan->blocks)) return MS_SMALL_NOT_NOW;
  int32_t prospect = ms_small_run_prospect(run, plan), combined = 0;
  if (prospect == MS_NATIVE_ENDLESS) return MS_SMALL_NEVER;
  if (prospect == MS_NATIVE_DOUBTFUL) return MS_SMALL_NOT_NOW;
  bool sure = merges_last(run, plan);
  uint32_t kept = sure ? run->own_count : run->written_count;
  /* What blocks put into buffers may find no memory. */
  if (prospect == MS_NATIVE_ENDS && run->merge_count == 0) kept = 0;
  uint32_t members = calls_at_once(run, plan) ? run->members : 1;
  if (!ms_small_keep(run, kept, members)) return MS_SMALL_NOT_NOW;
  unsigned control = take_control();
  bool ran = run_all(run, plan);
  if (ran) {
    combined = ms_results_combine(run->rules, run->count, (const char *)run->left, plan->blocks,
                                  run->scalars);
  }
  _mm_setcsr(control);
  if (!ran) ms_small_keep_restore(run, kept);
  if (!ran) return MS_SMALL_NOT_NOW;
  return combined == 0 ? MS_SMALL_RAN : MS_SMALL_UNCOMBINED;
}

void ms_small_run_free(ms_small_run *run) {
  free(run->left);
  free(run->kept);
  free(run->parts);
  ms_text_free(&run->report);
  ms_small_members_free(&run->others);
  run->left = NULL;
  run->kept = NULL;
  run->parts = NULL;
  run->room = run->kept_room = run->part_room = 0;
}
