/* SPDX-License-Identifier: MIT
 *
 * Sizes of grids: those worked out by hand, and for many sizes against the rule told with roots. */
#include "plan/cutting.h"

#include <math.h>
#include <stdbool.h>

#include "base/test.h"

static int64_t ranges(double entries, double phases, double delay, int64_t axes) {
  ms_cutting cutting = {.entries = entries, .phases = phases, .delay = delay, .axes = axes};
  return ms_cutting_ranges(&cutting);
}

static void check_one_axis(void) {
  CHECK(ranges(0, 1, 0, 1) == 64 && ranges(20, 1, 0, 1) == 64);
  CHECK(ranges(1048576, 1, 0, 1) == 64 && ranges(1048577, 1, 0, 1) == 65);
  CHECK(ranges(1e7, 1, 0, 1) == 611);
  CHECK(ranges(67108864, 1, 0, 1) == 4096 && ranges(1e300, 1, 0, 1) == 4096);
}

static void check_several_axes(void) {
  CHECK(ranges(0, 1, 0, 2) == 16 && ranges(16.0 * 16 * 16384, 1, 0, 2) == 16);
  CHECK(ranges(16.0 * 16 * 16384 + 1, 1, 0, 2) == 17);
  CHECK(ranges(1e8, 1, 0, 2) == 79 && ranges(1e8 + 1, 1, 0, 2) == 101);
  CHECK(ranges(1e9, 1, 0, 2) == 1000 && ranges(1e18, 1, 0, 2) == 1024);
  CHECK(ranges(17.0 * 17 * 17 * 16384, 1, 0, 3) == 17);
  CHECK(ranges(17.0 * 17 * 17 * 16384 + 1, 1, 0, 3) == 18);
  CHECK(ranges(1e15, 1, 0, 3) == 256 && ranges(1e18, 1, 0, 4) == 64);
  CHECK(ranges(1e18, 1, 0, 8) == 8); /* 2^24 blocks go before 16 ranges */
}

static void check_sweeps(void) {
  CHECK(ranges(100 * 100, 100, 0, 1) == 8 && ranges(64 * 16 * 10, 10, 0, 1) == 64);
  CHECK(ranges(1e9, 1000, 0, 1) == 16 && ranges(1e9, 2049, 0, 1) == 8);
  CHECK(ranges(1e9, 4194304, 0, 1) == 4 && ranges(1e9, 1e8, 0, 1) == 1);
  CHECK(ranges(20 * 16 * 50, 50, 0, 1) == 20);
}

static int64_t merging(double entries, double merged, double delay) {
  ms_cutting cutting = {
      .entries = entries, .phases = 1, .delay = delay, .merged = merged, .axes = 1};
  return ms_cutting_ranges(&cutting);
}

static void check_merged(void) {
  CHECK(merging(45730, 640, INFINITY) == 64 && merging(45730, 2858, INFINITY) == 64);
  CHECK(merging(45730, 9 * 64 * 8, INFINITY) == 39 && merging(45730, 20000, INFINITY) == 9);
  CHECK(merging(45730, 45730, INFINITY) == 4 && merging(45730, 16 * 45730.0, INFINITY) == 4);
  CHECK(merging(45730, 16 * 45730.0 + 1, INFINITY) == 64); /* each leaves little of it */
  CHECK(merging(1000, 500, INFINITY) == 8 && merging(1000, 100, INFINITY) == 16);
  CHECK(merging(45730, 45730, 1e4) == 19); /* 4 a stage */
  CHECK(merging(10000, 1000, 1000) == 40); /* 4 */
  CHECK(merging(10000, 1000, 2000) == 40); /* 8 */
  CHECK(merging(10000, 1e5, 1000) == 160); /* 16: each leaves little of it */
  CHECK(merging(10000, 50, 1000) == 160);  /* 16: there is little of it */
}

static void check_buffers(void) {
  CHECK(ranges(100, 1, INFINITY, 1) == 16 && ranges(128 * 20, 1, INFINITY, 1) == 20);
  CHECK(ranges(1e9, 1, INFINITY, 1) == 64 && ranges(1e9, 1, INFINITY, 2) == 64);
  CHECK(ranges(1000, 1, 100, 1) == 160 && ranges(1000, 1, 1e6, 1) == 16);
  CHECK(ranges(1e6, 1, 1e4, 2) == 40);
  CHECK(ranges(1e12, 1, 1, 1) == 16777216 && ranges(1e12, 1, 1, 2) == 4096);
}

/* The rule for several axes as it is told: what is found is no less than the root, and one less is
 * not enough. */
static void check_roots(void) {
  bool right = true;
  for (int64_t axes = 2; axes <= 4; axes++) {
    for (double entries = 1; entries <= 1e8; entries = floor(entries * 1.07) + 1) {
      int64_t found = ranges(entries, 1, 0, axes);
      double blocks = entries / 16384;
      right &= found == 16 || (pow((double)found, (double)axes) >= blocks &&
                               pow((double)(found - 1), (double)axes) < blocks);
      right &= found >= 16;
    }
  }
  CHECK(right);
}

int main(void) {
  check_one_axis();
  check_several_axes();
  check_sweeps();
  check_buffers();
  check_merged();
  check_roots();
  return ms_test_end();
}
