/* SPDX-License-Identifier: MIT
 *
 * Walks over small grids of all strategies against the order and the layout, asked block by block;
 * and what one block with all iterations has. */
#include "plan/block_walk.h"

#include <string.h>

#include "base/test.h"

enum { AXES = 4, MOST = 3, DIMS = 5, GRIDS = 81 };

/* Axis a of a grid cuts dimension a, downwards if that is odd; the last of AXES runs along a row.
 * One dimension has no axis. */
static ms_layout make_layout(const ms_grid *grid) {
  ms_layout layout = {.dims = DIMS, .axis_count = grid->count};
  for (int64_t d = 0; d < DIMS; d++) {
    layout.extents[d] = (ms_range){20 + d, d % 2 == 0 ? 30 + d : 10 + d, d % 2 == 0 ? 1 : -1};
  }
  for (uint32_t a = 0; a < grid->count; a++) {
    const ms_range *of = &layout.extents[a];
    layout.axes[a] = ms_layout_cut(of->lo, of->step, 11, grid->ranges[a]);
    layout.axes[a].at = 2 * (a == AXES - 1 ? DIMS : (int64_t)a);
  }
  return layout;
}

/* Grid number `code` of a strategy with so many axes: each has 1 .. MOST ranges. */
static ms_grid make_grid(ms_strategy strategy, uint32_t count, uint32_t code) {
  ms_grid grid = {.strategy = strategy, .count = count};
  for (uint32_t a = 0; a < count; a++, code /= MOST) grid.ranges[a] = 1 + code % MOST;
  if (strategy == MS_HYPERPLANE || strategy == MS_LEVELS) grid.sequential = 1;
  return grid;
}

static void test_walk(const ms_grid *grid, const ms_layout *layout) {
  ms_order order = ms_order_of(grid);
  ms_block_box all = ms_order_whole(&order);
  ms_block_walk walk = ms_block_walk_of(grid, layout);
  uint32_t expected = MS_NO_BLOCK, steps = 0;
  do {
    int64_t bounds[MS_LAYOUT_BOUNDS] = {0};
    expected = ms_order_next(&order, &all, expected);
    CHECK(ms_block_walk_next(&walk) == expected);
    if (expected == MS_NO_BLOCK) break;
    ms_layout_bounds(layout, expected, bounds);
    CHECK(memcmp(bounds, walk.bounds, sizeof bounds) == 0);
    steps++;
  } while (steps <= ms_grid_blocks(grid));
  CHECK(steps == ms_grid_blocks(grid));
}

/* The first values of the first block and the last ones of the last. */
static void test_whole(const ms_grid *grid, const ms_layout *layout) {
  int64_t bounds[MS_LAYOUT_BOUNDS] = {0};
  ms_layout_whole(layout, ms_grid_blocks(grid), bounds);
  for (uint32_t d = 0; d < DIMS; d++) {
    CHECK(bounds[2 * d] == layout->extents[d].lo && bounds[2 * d + 1] == layout->extents[d].hi);
  }
  if (grid->count < AXES) return;
  const ms_range *along = &layout->extents[AXES - 1];
  CHECK(bounds[2 * DIMS] == along->lo && bounds[2 * DIMS + 1] == along->hi);
}

static void test_entries(const ms_grid *grid) {
  static const int64_t starts[MOST + 1] = {0, 5, 5, 9};
  ms_layout layout = {.starts = starts, .of_entries = 1};
  int64_t bounds[MS_LAYOUT_BOUNDS];
  test_walk(grid, &layout);
  ms_layout_whole(&layout, ms_grid_blocks(grid), bounds);
  CHECK(bounds[0] == 1 && bounds[1] == starts[ms_grid_blocks(grid)]);
}

int main(void) {
  uint32_t walked[MS_STRATEGIES] = {0};
  for (uint32_t s = 0; s < MS_STRATEGIES; s++) {
    for (uint32_t count = 1; count <= AXES; count++) {
      for (uint32_t code = 0; code < GRIDS; code++) {
        ms_grid grid = make_grid((ms_strategy)s, count, code);
        if (ms_grid_refusal(&grid) != NULL) continue;
        ms_layout layout = make_layout(&grid);
        test_walk(&grid, &layout);
        test_whole(&grid, &layout);
        if (count == 1) test_entries(&grid);
        walked[s]++;
      }
    }
  }
  CHECK(walked[MS_INDEPENDENT] > 0 && walked[MS_PARTITION] > 0);
  CHECK(walked[MS_ROTATE] > 0 && walked[MS_WAVEFRONT] > 0 && walked[MS_HYPERPLANE] > 0);
  return ms_test_end();
}
