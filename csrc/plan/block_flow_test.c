/* SPDX-License-Identifier: MIT
 *
 * Block flow against its definition, entry by entry, and against ranges that run apart: each has a
 * copy of the array, and knows nothing but what lists bring. */
#include "plan/block_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/test.h"
#include "plan/order.h"

enum { ELEMENTS = 70, BLOCKS = 40 };

static uint64_t state = 20261128;

static int64_t pick(int64_t most) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)most);
}

/* A loop: which elements each block reads and writes, and its blocks in their order. */
typedef struct scene {
  ms_plan plan;
  bool reads[BLOCKS][ELEMENTS], writes[BLOCKS][ELEMENTS];
  uint32_t order[BLOCKS], range[BLOCKS];
} scene;

static void make(scene *s) {
  static const ms_strategy strategies[] = {MS_LEVELS, MS_ROTATE, MS_WAVEFRONT};
  memset(s, 0, sizeof *s);
  ms_grid *grid = &s->plan.grid;
  *grid = (ms_grid){.strategy = strategies[pick(3)], .count = 2};
  grid->ranges[0] = 1 + (uint32_t)pick(8);
  grid->ranges[1] = 1 + (uint32_t)pick(5);
  if (grid->strategy == MS_LEVELS) grid->sequential = 1;
  s->plan.blocks = (uint32_t)ms_grid_blocks(grid);
  int64_t density = 1 + pick(12);
  for (uint32_t b = 0; b < s->plan.blocks; b++) {
    s->range[b] = ms_grid_range(grid, b, ms_grid_space(grid));
    for (int e = 0; e < ELEMENTS; e++) {
      s->reads[b][e] = pick(density) == 0;
      s->writes[b][e] = pick(density) == 0;
    }
  }
  ms_order order = ms_order_of(grid);
  ms_block_box whole = ms_order_whole(&order);
  uint32_t block = MS_NO_BLOCK, place = 0;
  while ((block = ms_order_next(&order, &whole, block)) != MS_NO_BLOCK) s->order[place++] = block;
  CHECK(place == s->plan.blocks);
}

static ms_needs *list(const scene *s, const bool marks[BLOCKS][ELEMENTS]) {
  ms_error err = {0};
  ms_needs *needs = ms_needs_new(s->plan.blocks, ELEMENTS, &err);
  CHECK(needs != NULL);
  for (uint32_t b = 0; b < s->plan.blocks; b++) {
    double vector[ELEMENTS];
    char bytes[ELEMENTS + 1];
    for (int e = 0; e < ELEMENTS; e++) vector[e] = marks[b][e];
    size_t size = ms_needs_take(vector, ELEMENTS, bytes);
    CHECK(ms_needs_add(needs, bytes, size, &err) == 0);
  }
  return needs;
}

static bool has(const ms_needs *needs, uint32_t block, uint32_t element) {
  ms_element_walk walk = ms_element_lists_walk(&needs->lists, block);
  for (ms_span run; ms_element_walk_next(&walk, &run);) {
    if (element >= run.first && element < run.first + run.count) return true;
  }
  return false;
}

/* The last place before `place` whose block writes an element; -1: none does. */
static int writer(const scene *s, int place, int element) {
  while (--place >= 0 && !s->writes[s->order[place]][element]) continue;
  return place;
}

/* Whether a later block of another range has the element from the block at a place. */
static bool is_handed(const scene *s, int place, int element) {
  for (int later = place + 1; later < (int)s->plan.blocks; later++) {
    uint32_t block = s->order[later];
    if (s->reads[block][element] && writer(s, later, element) == place &&
        s->range[block] != s->range[s->order[place]])
      return true;
  }
  return false;
}

static void check_by_definition(const scene *s, const ms_block_flow *flow) {
  int end = (int)s->plan.blocks;
  for (int place = 0; place < end; place++) {
    uint32_t b = s->order[place];
    for (int e = 0; e < ELEMENTS; e++) {
      bool reads = s->reads[b][e], writes = s->writes[b][e];
      CHECK(has(flow->first, b, (uint32_t)e) == (reads && writer(s, place, e) < 0));
      CHECK(has(flow->handed, b, (uint32_t)e) == (writes && is_handed(s, place, e)));
      CHECK(has(flow->last, b, (uint32_t)e) == (writes && writer(s, end, e) == place));
    }
  }
}

/* Each block writes its own mark: what it reads is what the loop in one memory would have there. */
static void check_by_running(const scene *s, const ms_block_flow *flow) {
  static int copy[BLOCKS][ELEMENTS], whole[ELEMENTS], back[ELEMENTS];
  for (int e = 0; e < ELEMENTS; e++) whole[e] = back[e] = 1000 + e;
  for (uint32_t b = 0; b < s->plan.blocks; b++)
    for (int e = 0; e < ELEMENTS; e++) copy[s->range[b]][e] = -1;
  for (uint32_t b = 0; b < s->plan.blocks; b++)
    for (int e = 0; e < ELEMENTS; e++)
      if (has(flow->first, b, (uint32_t)e)) copy[s->range[b]][e] = whole[e];
  for (uint32_t place = 0; place < s->plan.blocks; place++) {
    uint32_t b = s->order[place], r = s->range[b];
    for (int e = 0; e < ELEMENTS; e++) CHECK(!s->reads[b][e] || copy[r][e] == whole[e]);
    for (int e = 0; e < ELEMENTS; e++) {
      if (s->writes[b][e]) copy[r][e] = whole[e] = (int)b;
      for (int other = 0; has(flow->handed, b, (uint32_t)e) && other < BLOCKS; other++)
        copy[other][e] = copy[r][e];
      if (has(flow->last, b, (uint32_t)e)) back[e] = copy[r][e];
    }
  }
  CHECK(memcmp(back, whole, sizeof back) == 0);
}

static void test_flow(void) {
  static scene s;
  ms_error err = {0};
  ms_block_flow flow;
  make(&s);
  ms_needs *writes = list(&s, s.writes), *reads = list(&s, s.reads);
  CHECK(ms_block_flow_find(writes, reads, &s.plan, &flow, &err) == 0);
  check_by_definition(&s, &flow);
  check_by_running(&s, &flow);
  ms_needs_free(flow.first);
  ms_needs_free(flow.handed);
  ms_needs_free(flow.last);
  s.plan.blocks++;
  CHECK(ms_block_flow_find(writes, reads, &s.plan, &flow, &err) == -1 && err.code == MS_BUG);
  ms_needs_free(writes);
  ms_needs_free(reads);
}

int main(void) {
  for (int round = 0; round < 400; round++) test_flow();
  return ms_test_end();
}
