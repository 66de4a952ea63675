/* SPDX-License-Identifier: MIT
 *
 * The bounds of blocks against nested loops over the axes. */
#include "plan/layout.h"

#include "base/test.h"

static void test_entries(void) {
  static const int64_t starts[] = {0, 5, 5, 9};
  int64_t bounds[2];
  ms_layout layout = {.starts = starts};
  for (uint32_t block = 0; block < 3; block++) {
    ms_layout_bounds(&layout, block, bounds);
    CHECK(bounds[0] == starts[block] + 1 && bounds[1] == starts[block + 1]);
  }
}

/* A sweep along a row, one value a range, then the third dimension downwards, then the first. The
 * second dimension has no axis: a block has all of it. */
static void test_axes(void) {
  enum { PHASES = 4, DOWN = 3, UP = 2 };
  static const int64_t down[DOWN + 1] = {10, 4, -2, -5}, up[UP + 1] = {1, 4, 8};
  const ms_layout_axis axes[] = {
      {.at = 6, .ranges = PHASES, .first = -3, .step = 2},
      {.at = 4, .ranges = DOWN, .bounds = down, .step = -3},
      {.at = 0, .ranges = UP, .bounds = up, .step = 1},
  };
  static const int64_t extents[6] = {1, 7, 17, 19, 10, -2};
  int64_t bounds[8] = {0};
  ms_layout layout = {.extents = extents, .dims = 3, .axes = axes, .axis_count = 3};
  uint32_t block = 0;
  for (int64_t phase = 0; phase < PHASES; phase++) {
    for (int64_t d = 0; d < DOWN; d++) {
      for (int64_t u = 0; u < UP; u++) {
        ms_layout_bounds(&layout, block++, bounds);
        CHECK(bounds[0] == up[u] && bounds[1] == up[u + 1] - 1);
        CHECK(bounds[2] == 17 && bounds[3] == 19);
        CHECK(bounds[4] == down[d] && bounds[5] == down[d + 1] + 3);
        CHECK(bounds[6] == -3 + 2 * phase && bounds[7] == bounds[6]);
      }
    }
  }
}

int main(void) {
  test_entries();
  test_axes();
  return ms_test_end();
}
