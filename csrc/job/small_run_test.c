/* SPDX-License-Identifier: MIT
 *
 * Small runs: all blocks in the plan's order or none, floating point as on workers, results
 * combined block by block, also where several threads run them. */
#include "job/small_run.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <xmmintrin.h>

#include "array/touched.h"
#include "base/clock.h"
#include "base/test.h"
#include "base/threads.h"
#include "depend/verdict.h"

enum { BLOCKS = 12, VALUES = 100, MARK = 77 };

static double values[VALUES + 1], written[VALUES + 1];
static int64_t first_of[64];
static uint32_t called, asked;
static int64_t last_that_holds;
static int32_t otherwise, at_best;
static int64_t stops_at;
static bool leaves_nil;

/* Adds value by value; refuses blocks beyond a bound. */
static int32_t sum_block(const int64_t *bounds, const ms_native_slot *slots,
                         ms_native_slot *results, ms_native_fault *fault) {
  (void)fault;
  if (results == NULL) {
    asked++;
    return bounds[1] <= last_that_holds ? at_best : otherwise;
  }
  double sum = -0.0;
  const double *from = slots[0].pointer;
  for (int64_t i = bounds[0]; i <= bounds[1]; i++) sum += from[i];
  first_of[called++] = bounds[0];
  written[bounds[0]] = -1;
  if (bounds[0] <= stops_at && stops_at <= bounds[1]) return MS_NATIVE_SUBSCRIPT;
  results[0].number = sum;
  results[1].whole = leaves_nil ? MS_NATIVE_NIL : MS_NATIVE_NUMBER;
  return MS_NATIVE_RAN;
}

static ms_plan make_plan(void) {
  ms_plan plan = {.blocks = BLOCKS};
  plan.grid = (ms_grid){.strategy = MS_INDEPENDENT, .count = 1, .ranges = {BLOCKS}, .last = BLOCKS};
  plan.layout = (ms_layout){.dims = 1, .axis_count = 1};
  plan.layout.extents[0] = (ms_range){1, VALUES, 1};
  plan.layout.axes[0] = ms_layout_cut(1, 1, VALUES, BLOCKS);
  return plan;
}

static void test_sum(ms_small_run *run, const ms_plan *plan, ms_native_slot *scalars) {
  called = 0;
  last_that_holds = VALUES;
  scalars[0].number = 0.25;
  scalars[1].whole = MS_NATIVE_NONE;
  CHECK(ms_small_run_blocks(run, plan) == MS_SMALL_RAN);
  double expected = 0.25;
  for (uint32_t b = 0; b < BLOCKS; b++) {
    int64_t bounds[2];
    ms_layout_bounds(&plan->layout, b, bounds);
    double sum = -0.0;
    for (int64_t i = bounds[0]; i <= bounds[1]; i++) sum += values[i];
    expected += sum;
    CHECK(first_of[b] == bounds[0]);
    CHECK(run->left[3 * b].whole == MARK);
  }
  CHECK(called == BLOCKS);
  CHECK(scalars[0].number == expected && scalars[1].whole == MS_NATIVE_NUMBER);
}

/* One block with all iterations is asked; each for itself where that says too little. */
static void test_prospect(const ms_small_run *run, const ms_plan *plan) {
  asked = 0;
  last_that_holds = VALUES;
  CHECK(ms_small_run_prospect(run, plan) == MS_NATIVE_ENDS && asked == 1);
  asked = 0;
  last_that_holds = VALUES - 1;
  otherwise = MS_NATIVE_MAY_STOP;
  CHECK(ms_small_run_prospect(run, plan) == MS_NATIVE_MAY_STOP && asked == 1 + BLOCKS);
}

static void test_refused(ms_small_run *run, const ms_plan *plan) {
  called = 0;
  last_that_holds = VALUES - 1; /* all but the last one hold */
  otherwise = MS_NATIVE_DOUBTFUL;
  CHECK(ms_small_run_prospect(run, plan) == MS_NATIVE_DOUBTFUL);
  CHECK(ms_small_run_blocks(run, plan) == MS_SMALL_NOT_NOW);
  otherwise = MS_NATIVE_ENDLESS;
  CHECK(ms_small_run_blocks(run, plan) == MS_SMALL_NEVER);
  CHECK(called == 0);
}

/* Blocks that may stop leave nothing if one does. */
static void test_stop(ms_small_run *run, const ms_plan *plan, ms_native_slot *scalars) {
  last_that_holds = VALUES;
  at_best = MS_NATIVE_MAY_STOP;
  called = 0;
  CHECK(ms_small_run_prospect(run, plan) == MS_NATIVE_MAY_STOP);
  ms_small_span much = {NULL, MS_SMALL_MOST_KEPT + 1};
  run->written = &much;
  run->own_count = run->written_count = 1;
  CHECK(ms_small_run_blocks(run, plan) == MS_SMALL_NOT_NOW && called == 0);
  ms_small_span spans[] = {{written, 40 * sizeof *written},
                           {written + 40, (VALUES - 39) * sizeof *written}};
  run->written = spans;
  run->own_count = run->written_count = 2;
  for (int i = 0; i <= VALUES; i++) written[i] = i;
  stops_at = 61;
  CHECK(ms_small_run_blocks(run, plan) == MS_SMALL_NOT_NOW);
  CHECK(called > 6 && called < BLOCKS);
  for (int i = 0; i <= VALUES; i++) CHECK(written[i] == i);
  stops_at = 0;
  test_sum(run, plan, scalars);
  for (uint32_t b = 0; b < BLOCKS; b++) CHECK(written[first_of[b]] == -1);
  at_best = MS_NATIVE_ENDS;
  run->written = NULL;
  run->own_count = run->written_count = 0;
}

/* Blocks that end may find no memory for what they put into a buffer: what they write is kept. */
static void test_buffer(ms_small_run *run, const ms_plan *plan) {
  ms_error err;
  int64_t dims[] = {4};
  ms_array *sums = ms_array_dense(MS_DOUBLE, 1, dims, &err);
  ms_small_merge merge = {.array = sums};
  ms_small_span much = {NULL, MS_SMALL_MOST_KEPT + 1};
  last_that_holds = VALUES;
  at_best = MS_NATIVE_ENDS;
  called = 0;
  run->merges = &merge;
  run->merge_count = 1;
  run->written = &much;
  run->own_count = run->written_count = 1;
  CHECK(sums != NULL && ms_small_run_prospect(run, plan) == MS_NATIVE_ENDS);
  CHECK(ms_small_run_blocks(run, plan) == MS_SMALL_NOT_NOW && called == 0);
  run->merges = NULL;
  run->written = NULL;
  run->merge_count = run->own_count = run->written_count = 0;
  ms_array_release(sums);
}

/* Subnormal numbers count, whatever the process has chosen, and keeps. */
static void test_control(ms_small_run *run, const ms_plan *plan, ms_native_slot *scalars) {
  for (int i = 0; i <= VALUES; i++) values[i] = 0x1p-1060;
  last_that_holds = VALUES;
  scalars[0].number = 0;
  scalars[1].whole = MS_NATIVE_NONE;
  called = 0;
  unsigned control = _mm_getcsr(), flushing = control | 0x8040u;
  _mm_setcsr(flushing);
  CHECK(ms_small_run_blocks(run, plan) == MS_SMALL_RAN);
  unsigned after = _mm_getcsr();
  _mm_setcsr(control);
  CHECK(after == flushing);
  CHECK(scalars[0].number == VALUES * 0x1p-1060);
}

static void test_uncombined(ms_small_run *run, const ms_plan *plan, ms_native_slot *scalars) {
  scalars[0].number = 1;
  called = 0;
  leaves_nil = true;
  CHECK(ms_small_run_blocks(run, plan) == MS_SMALL_UNCOMBINED);
  CHECK(called == BLOCKS && run->left[2].whole == MS_NATIVE_NIL);
}

/* On a busy machine others may come too late for a run; not for all of these. */
enum { TURNS = 10 };

static pthread_t driver;
static _Atomic uint32_t by_driver, by_others, odd_control;

/* Takes its time, and adds what is subnormal and what is not. */
static int32_t slow_block(const int64_t *bounds, const ms_native_slot *slots,
                          ms_native_slot *results, ms_native_fault *fault) {
  (void)slots, (void)fault;
  if (results == NULL) return at_best;
  *(pthread_equal(pthread_self(), driver) ? &by_driver : &by_others) += 1;
  if ((_mm_getcsr() & ~0x3fu) != MS_NATIVE_CONTROL) /* but for what has happened */
    odd_control++;
  for (uint64_t end = ms_clock_now() + MS_MILLISECOND; ms_clock_now() < end;) continue;
  results[0].number = 1.0 / (double)(bounds[0] + 2);
  results[1].whole = MS_NATIVE_NUMBER;
  return MS_NATIVE_RAN;
}

/* The sum of slow blocks, from 0.25. */
static double sum_slow(ms_small_run *run, const ms_plan *plan) {
  by_driver = by_others = odd_control = 0;
  run->scalars[0].number = 0.25;
  run->scalars[1].whole = MS_NATIVE_NONE;
  CHECK(ms_small_run_blocks(run, plan) == MS_SMALL_RAN);
  CHECK(by_driver + by_others == BLOCKS && odd_control == 0);
  for (uint32_t b = 0; b < BLOCKS; b++) CHECK(run->left[3 * b].whole == MARK);
  return run->scalars[0].number;
}

/* Others help where blocks may run at the same time; the bits are the same. */
static void test_together(ms_small_run *run, const ms_plan *plan) {
  ms_plan other = *plan;
  driver = pthread_self();
  at_best = MS_NATIVE_ENDS;
  run->entry = slow_block;
  double alone = sum_slow(run, plan);
  CHECK(by_others == 0 && ms_small_run_members(plan, 3) == 3);
  run->members = 2;
  bool helped = ms_threads_count() == 1; /* nobody can */
  for (int turn = 0; turn < TURNS; turn++) {
    CHECK(sum_slow(run, plan) == alone && by_driver > 0);
    helped = helped || by_others > 0;
  }
  CHECK(helped);
  const ms_strategy waiting[] = {MS_ROTATE, MS_WAVEFRONT, MS_HYPERPLANE,
                                 MS_ROUNDS, MS_LEVELS,    MS_SERIALLY};
  for (size_t s = 0; s < sizeof waiting / sizeof *waiting; s++) {
    other.grid.strategy = waiting[s];
    CHECK(ms_small_run_members(&other, 3) == 1);
  }
  CHECK(sum_slow(run, &other) == alone && by_others == 0);
  other.grid.strategy = MS_PARTITION;
  CHECK(ms_small_run_members(&other, 3) == 3);
  other.grid.count = 2;
  CHECK(ms_small_run_members(&other, 3) == 1);
  run->members = 0;
  run->entry = sum_block;
}

/* A buffer of one element and its mark, a scratch array of one, a plain number. */
static double pending[MS_TOUCHED_UNIT], scratch[1];
static uint8_t touched[MS_TOUCHED_BYTES(MS_TOUCHED_UNIT)];
static _Atomic uint32_t odd_scratch;

/* Takes its time, with what it has to itself in use; stops in the block of `stops_at`. */
static int32_t private_block(const int64_t *bounds, const ms_native_slot *slots,
                             ms_native_slot *results, ms_native_fault *fault) {
  if (results == NULL) return MS_NATIVE_MAY_STOP;
  *(pthread_equal(pthread_self(), driver) ? &by_driver : &by_others) += 1;
  double *sum = slots[0].pointer, *own = slots[2].pointer;
  *(uint8_t *)slots[1].pointer = 1;
  if (*own != 7) odd_scratch++;
  *own = *sum = slots[3].number / (double)(bounds[0] + 2);
  for (uint64_t end = ms_clock_now() + MS_MILLISECOND; ms_clock_now() < end;) continue;
  written[bounds[0]] = -1;
  fault->value = (double)bounds[0];
  bool stops = bounds[0] <= stops_at && stops_at <= bounds[1];
  if (*own != *sum || fault->value != (double)bounds[0]) odd_scratch++;
  results[0].number = 0;
  results[1].whole = MS_NATIVE_NUMBER;
  return stops ? MS_NATIVE_SUBSCRIPT : MS_NATIVE_RAN;
}

/* Each thread has what blocks have to themselves; what they put into buffers is merged in the
 * plan's order, and where one stops all is as before. */
static void test_private(ms_small_run *run, const ms_plan *plan) {
  ms_error err;
  int64_t dims[] = {MS_TOUCHED_UNIT};
  ms_array *sums = ms_array_dense(MS_DOUBLE, 1, dims, &err);
  CHECK(sums != NULL);
  double *sum = sums->data, alone = 0;
  const uint64_t seven = 0x401c000000000000u; /* 7.0 */
  ms_scratch_space scratch_space = {scratch, 1, seven, sizeof(double), 0};
  ms_pending_space pending_space = {pending, MS_TOUCHED_UNIT, 0, 0, touched};
  ms_block_local memory = {
      .scratch = &scratch_space, .pending = &pending_space, .scratch_count = 1, .pending_count = 1};
  ms_native_slot slots[4] = {{.pointer = pending}, {.pointer = touched}, {.pointer = scratch}};
  const ms_small_private privates[] = {
      {0, MS_SMALL_PENDING, 0}, {1, MS_SMALL_TOUCHED, 0}, {2, MS_SMALL_SCRATCH, 0}};
  ms_small_merge merge = {.array = sums};
  ms_small_span spans[] = {{written, sizeof written}, {sum, MS_TOUCHED_UNIT * sizeof *sum}};
  ms_small_run own = {.entry = private_block,
                      .arguments = {slots, 4, 3, privates, &memory},
                      .fault = run->fault,
                      .mark = MARK,
                      .rules = run->rules,
                      .count = 1,
                      .scalars = run->scalars,
                      .merges = &merge,
                      .merge_count = 1,
                      .written = spans,
                      .own_count = 1,
                      .written_count = 2};
  driver = pthread_self();
  bool helped = ms_threads_count() == 1;
  for (int round = 0; round < 2 * TURNS; round++) {
    own.members = round % 2 == 0 ? 1 : 3;
    by_driver = by_others = 0;
    *sum = 0.1;
    slots[3].number = round % 4 < 2 ? 1 : 3; /* arguments may have changed */
    CHECK(ms_small_run_blocks(&own, plan) == MS_SMALL_RAN);
    if (round % 2 == 0) alone = *sum;
    CHECK(*sum == alone && by_driver + by_others == BLOCKS && odd_scratch == 0);
    CHECK(round % 2 == 1 || by_others == 0);
    helped = helped || by_others > 0;
  }
  CHECK(helped);
  for (int i = 0; i <= VALUES; i++) written[i] = i;
  stops_at = 61;
  CHECK(ms_small_run_blocks(&own, plan) == MS_SMALL_NOT_NOW && *sum == alone);
  for (int i = 0; i <= VALUES; i++) CHECK(written[i] == i);
  stops_at = 0;
  *sum = 0.1;
  CHECK(ms_small_run_blocks(&own, plan) == MS_SMALL_RAN && *sum == alone);
  ms_small_run_free(&own);
  ms_array_release(sums);
}

int main(void) {
  ms_test_limit(60);
  for (int i = 0; i <= VALUES; i++) values[i] = 1.0 / (i + 3);
  ms_native_slot slots[1] = {{.pointer = values}}, scalars[2] = {{0}};
  ms_native_fault fault = {0};
  at_best = MS_NATIVE_ENDS;
  const ms_combine_rule rule = {.op = MS_REDUCE_SUM, .with = -1};
  ms_small_run run = {.entry = sum_block,
                      .arguments = {.slots = slots, .slot_count = 1},
                      .fault = &fault,
                      .mark = MARK,
                      .rules = &rule,
                      .count = 1,
                      .scalars = scalars};
  const ms_plan plan = make_plan();
  test_sum(&run, &plan, scalars);
  test_prospect(&run, &plan);
  test_refused(&run, &plan);
  test_stop(&run, &plan, scalars);
  test_buffer(&run, &plan);
  test_control(&run, &plan, scalars);
  test_uncombined(&run, &plan, scalars);
  leaves_nil = false;
  test_together(&run, &plan);
  test_private(&run, &plan);
  ms_small_run_free(&run);
  CHECK(run.left == NULL);
  return ms_test_end();
}
