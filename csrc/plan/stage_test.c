/* SPDX-License-Identifier: MIT
 *
 * Stages: random blocks of entries, cut as the definition says: each stage takes blocks while they
 * fit; and what a stage's ranges weigh. */
#include "plan/stage.h"

#include <string.h>

#include "base/test.h"
#include "plan/order.h"

#define SIDE   7
#define BLOCKS (SIDE * SIDE)

static uint64_t state = 7;

static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

/* Blocks of a random grid with random numbers of entries. */
typedef struct blocks {
  ms_grid grid;
  ms_layout layout;
  int64_t starts[BLOCKS + 1];
  uint32_t order[BLOCKS], count;
  uint64_t largest;
} blocks;

static uint64_t size_of(const blocks *of, uint32_t block) {
  return (uint64_t)(of->starts[block + 1] - of->starts[block]);
}

static void make(blocks *of) {
  static const ms_strategy strategies[] = {MS_ROTATE, MS_WAVEFRONT, MS_PARTITION};
  *of = (blocks){.grid = {.strategy = strategies[draw(3)],
                          .count = 2,
                          .ranges = {1 + (uint32_t)draw(SIDE), 1 + (uint32_t)draw(SIDE)}},
                 .layout = {.of_entries = 1, .starts = of->starts}};
  of->count = ms_grid_blocks(&of->grid);
  for (uint32_t b = 0; b < of->count; b++) {
    of->starts[b + 1] = of->starts[b] + (int64_t)(draw(4) == 0 ? 0 : draw(100));
    if (size_of(of, b) > of->largest) of->largest = size_of(of, b);
  }
  ms_order order = ms_order_of(&of->grid);
  for (uint32_t b = 0; b < of->count; b++) of->order[ms_order_position(&order, b)] = b;
}

/* Every block is in one stage, no stage has too much, and none could have taken the next block. */
static void check_cut(const blocks *of, const ms_stages *stages, uint64_t most) {
  uint32_t end = 0;
  for (uint32_t s = 0; s < stages->count; s++) {
    uint32_t first = ms_stages_first(stages, s);
    uint64_t sum = 0;
    CHECK(first == end && stages->ends[s] >= first);
    end = stages->ends[s];
    for (uint32_t p = first; p < end; p++) sum += size_of(of, of->order[p]);
    CHECK(sum <= most);
    CHECK(end == of->count || sum + size_of(of, of->order[end]) > most);
  }
  CHECK(end == of->count);
}

/* One for each block of a range, and the entries of those that are in the stage. */
static void check_loads(const blocks *of, const ms_stages *stages, uint32_t stage) {
  uint64_t expected[SIDE] = {0}, load[SIDE] = {0};
  for (uint32_t p = 0; p < of->count; p++) {
    uint32_t block = of->order[p], range = block / of->grid.ranges[1];
    bool in = p >= ms_stages_first(stages, stage) && p < stages->ends[stage];
    expected[range] += 1 + (in ? size_of(of, block) : 0);
  }
  ms_stages_loads(stages, stage, &of->grid, &of->layout, load);
  CHECK(memcmp(load, expected, sizeof load) == 0);
}

static void test_cut(void) {
  for (int round = 0; round < 500; round++) {
    blocks of;
    ms_stages stages;
    ms_error err = {0};
    make(&of);
    uint64_t most = of.largest + draw(300);
    CHECK(ms_stages_cut(&of.grid, &of.layout, most, &stages, &err) == 0 && err.code == MS_OK);
    check_cut(&of, &stages, most);
    for (uint32_t s = 0; s < stages.count; s++) check_loads(&of, &stages, s);
    ms_stages_free(&stages);
    if (of.largest == 0) continue;
    CHECK(ms_stages_cut(&of.grid, &of.layout, of.largest - 1, &stages, &err) == -1);
    CHECK(err.code == MS_OPT && strstr(err.message, "raise the option 'grid'") != NULL);
    CHECK(stages.count == 0 && stages.ends == NULL);
  }
}

/* Numbers that are as large as they can be do not wrap. */
static void test_large(void) {
  static const int64_t starts[] = {0, INT64_MAX};
  ms_grid grid = {.strategy = MS_PARTITION, .count = 1, .ranges = {1}};
  ms_layout layout = {.of_entries = 1, .starts = starts};
  ms_stages stages;
  ms_error err = {0};
  CHECK(ms_stages_cut(&grid, &layout, UINT64_MAX, &stages, &err) == 0 && stages.count == 1);
  ms_stages_free(&stages);
}

int main(void) {
  test_cut();
  test_large();
  return ms_test_end();
}
