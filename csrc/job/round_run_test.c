/* SPDX-License-Identifier: MIT
 *
 * Round runs: blocks in order on the versions of their rounds, until one stops; floating point as
 * on workers. */
#include "job/round_run.h"

#include <xmmintrin.h>

#include "base/test.h"

enum { VALUES = 12, RANGES = 3, ROUNDS = 4, DEPTH = 2, MARK = 77 };

static int64_t stops_in; /* a round */
static unsigned control;

/* Adds 1 to each element of its range; leaves what it has added up. */
static int32_t add_one(const int64_t *bounds, const ms_native_slot *slots, ms_native_slot *results,
                       ms_native_fault *fault) {
  const double *last = slots[0].pointer;
  double *next = slots[1].pointer, sum = 0;
  control = _mm_getcsr();
  if (bounds[0] == stops_in && bounds[2] > 1) {
    fault->line = 3;
    return MS_NATIVE_SUBSCRIPT;
  }
  for (int64_t i = bounds[2] - 1; i < bounds[3]; i++) sum += next[i] = last[i] + 1;
  results[0].number = sum;
  return MS_NATIVE_RAN;
}

/* All rounds, each of which reads the one before. */
static void test_rounds(const ms_round_run *run, double ring[DEPTH][VALUES]) {
  ms_native_slot left[ROUNDS * RANGES * 2];
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | _MM_FLUSH_ZERO_ON);
  CHECK(ms_round_run_blocks(run, 0, ROUNDS * RANGES, left) == ROUNDS * RANGES);
  CHECK((control & _MM_FLUSH_ZERO_ON) == 0 && (_mm_getcsr() & _MM_FLUSH_ZERO_ON) != 0);
  _mm_setcsr(before);
  for (int v = 0; v < VALUES; v++) {
    CHECK(ring[(ROUNDS - 1) % DEPTH][v] == v + ROUNDS && ring[ROUNDS % DEPTH][v] == v + ROUNDS - 1);
  }
  for (int b = 0; b < ROUNDS * RANGES; b++) {
    int round = b / RANGES + 1, lo = b % RANGES * VALUES / RANGES, count = VALUES / RANGES;
    CHECK(left[2 * b].whole == MARK);
    CHECK(left[2 * b + 1].number == count * (lo + round) + count * (count - 1) / 2);
  }
}

/* The first block of a round goes through, its second one stops. */
static void test_stop(const ms_round_run *run) {
  ms_native_slot left[ROUNDS * RANGES * 2];
  stops_in = 3;
  CHECK(ms_round_run_blocks(run, 0, ROUNDS * RANGES, left) == 2 * RANGES + 1);
  CHECK(run->fault->line == 3);
  CHECK(ms_round_run_blocks(run, 0, RANGES, left) == RANGES);
}

int main(void) {
  double start[VALUES], ring[DEPTH][VALUES];
  void *memory[DEPTH] = {ring[0], ring[1]};
  ms_native_slot slots[2];
  ms_native_fault fault = {0};
  ms_version_place places[2] = {{.at = &slots[0].pointer}, {.at = &slots[1].pointer, .next = 1}};
  ms_version_array array = {.start = start,
                            .ring = memory,
                            .depth = DEPTH,
                            .steady = 1,
                            .outer = 1,
                            .rows = VALUES,
                            .row = sizeof(double),
                            .scale = 1};
  ms_layout layout = {.dims = 2, .axis_count = 2};
  layout.extents[0] = (ms_range){1, ROUNDS, 1};
  layout.extents[1] = (ms_range){1, VALUES, 1};
  layout.axes[0] = ms_layout_cut(1, 1, ROUNDS, ROUNDS);
  layout.axes[1] = ms_layout_cut(1, 1, VALUES, RANGES);
  layout.axes[1].at = 2;
  ms_versions versions = {.arrays = &array,
                          .places = places,
                          .layout = &layout,
                          .array_count = 1,
                          .place_count = 2,
                          .ranges = RANGES,
                          .at = 2};
  ms_round_run run = {.entry = add_one,
                      .slots = slots,
                      .fault = &fault,
                      .versions = &versions,
                      .mark = MARK,
                      .width = 2};
  for (int v = 0; v < VALUES; v++) start[v] = v;
  test_rounds(&run, ring);
  test_stop(&run);
  return ms_test_end();
}
