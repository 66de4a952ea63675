/* SPDX-License-Identifier: MIT
 *
 * The bounds of blocks against nested loops over the axes, even cuts, and layouts in messages. */
#include "plan/layout.h"

#include <string.h>

#include "base/test.h"

static void test_entries(void) {
  static const int64_t starts[] = {0, 5, 5, 9};
  int64_t bounds[2];
  ms_layout layout = {.starts = starts, .of_entries = 1};
  for (uint32_t block = 0; block < 3; block++) {
    ms_layout_bounds(&layout, block, bounds);
    CHECK(bounds[0] == starts[block] + 1 && bounds[1] == starts[block + 1]);
    CHECK(ms_layout_size(&layout, block) == (uint64_t)(starts[block + 1] - starts[block]));
  }
}

/* Ranges follow each other, the longer ones first, by one value. */
static void test_cut(void) {
  for (int64_t values = 1; values < 40; values++) {
    for (int64_t ranges = 1; ranges <= values; ranges++) {
      for (int64_t step = -3; step <= 3; step += 2) {
        ms_layout_axis axis = ms_layout_cut(17, step, values, ranges);
        int64_t before = (values + ranges - 1) / ranges;
        CHECK(ms_layout_begin(&axis, 0) == 17);
        CHECK(ms_layout_begin(&axis, ranges) == 17 + values * step);
        for (int64_t r = 0; r < ranges; r++) {
          int64_t length = (ms_layout_begin(&axis, r + 1) - ms_layout_begin(&axis, r)) / step;
          CHECK(length <= before && length >= values / ranges);
          before = length;
        }
      }
    }
  }
}

enum { PHASES = 4, DOWN = 3, UP = 2 };

/* A sweep along a row, one value a range, then the third dimension downwards, then the first. The
 * second dimension has no axis: a block has all of it. */
static ms_layout make_layout(void) {
  ms_layout layout = {.dims = 3,
                      .axis_count = 3,
                      .extents = {{1, 7, 1}, {17, 21, 2}, {10, -2, -3}},
                      .axes = {ms_layout_cut(-3, 2, PHASES, PHASES), ms_layout_cut(10, -3, 5, DOWN),
                               ms_layout_cut(1, 1, 7, UP)}};
  layout.axes[0].at = 6;
  layout.axes[1].at = 4;
  layout.axes[2].at = 0;
  return layout;
}

static void test_axes(void) {
  static const int64_t down[DOWN + 1] = {10, 4, -2, -5}, up[UP + 1] = {1, 5, 8};
  int64_t bounds[8] = {0};
  ms_layout layout = make_layout();
  uint32_t block = 0;
  for (int64_t phase = 0; phase < PHASES; phase++) {
    for (int64_t d = 0; d < DOWN; d++) {
      for (int64_t u = 0; u < UP; u++) {
        int64_t size = (up[u + 1] - up[u]) * 3 * (down[d] - down[d + 1]) / 3;
        CHECK(ms_layout_size(&layout, block) == (uint64_t)size);
        ms_layout_bounds(&layout, block++, bounds);
        CHECK(bounds[0] == up[u] && bounds[1] == up[u + 1] - 1);
        CHECK(bounds[2] == 17 && bounds[3] == 21);
        CHECK(bounds[4] == down[d] && bounds[5] == down[d + 1] + 3);
        CHECK(bounds[6] == -3 + 2 * phase && bounds[7] == bounds[6]);
      }
    }
  }
}

static void test_messages(void) {
  ms_layout layout = make_layout(), again;
  char bytes[sizeof layout];
  size_t size = ms_layout_write(&layout, bytes);
  CHECK(size < sizeof layout && ms_layout_read(bytes, size, &again) == 0);
  CHECK(memcmp(&again, &layout, sizeof layout) == 0);
  CHECK(ms_layout_read(bytes, size - 1, &again) == -1 && ms_layout_read(bytes, 3, &again) == -1);
  layout.axes[2].ranges = 0;
  size = ms_layout_write(&layout, bytes);
  CHECK(ms_layout_read(bytes, size, &again) == -1);
  layout.axes[2].ranges = 1;
  layout.axes[2].at = 7;
  size = ms_layout_write(&layout, bytes);
  CHECK(ms_layout_read(bytes, size, &again) == -1);
  layout.axes[2].at = 0;
  layout.dims = MS_MAX_DIMS + 1;
  memcpy(bytes, &layout.of_entries, 16);
  CHECK(ms_layout_read(bytes, size, &again) == -1);
}

int main(void) {
  test_entries();
  test_cut();
  test_axes();
  test_messages();
  return ms_test_end();
}
