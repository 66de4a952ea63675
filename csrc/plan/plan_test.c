/* SPDX-License-Identifier: MIT
 *
 * Plans of verdicts made by hand: grids, bounds and loads against the iterations one by one, what
 * is refused, and which plans a cache finds again. */
#include "plan/plan.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/test.h"
#include "depend/verdict.h"
#include "plan/plan_cache.h"

static ms_verdict ranges_of(ms_strategy strategy, int64_t first, int64_t second) {
  return (ms_verdict){.id = 1,
                      .strategy = strategy,
                      .dim_count = 2,
                      .extent = {{.range = {1, first, 1}}, {.range = {second, 1, -1}}},
                      .strategy_dims = strategy == MS_PARTITION ? 1 : 2,
                      .strategy_dim = {0, 1}};
}

static ms_plan_terms terms_of(const ms_verdict *verdict) {
  return (ms_plan_terms){.verdict = verdict, .entries = -1, .ordered = 1};
}

/* A block that holds an iteration, and how many do. */
static uint32_t find_block(const ms_plan *plan, int64_t i, int64_t j, uint32_t *count) {
  uint32_t found = 0;
  *count = 0;
  for (uint32_t block = 0; block < plan->blocks; block++) {
    int64_t b[MS_LAYOUT_BOUNDS];
    ms_layout_bounds(&plan->layout, block, b);
    if (i < b[0] || i > b[1] || j > b[2] || j < b[3]) continue;
    found = block;
    ++*count;
  }
  return found;
}

/* Each iteration is in one block, and the loads are what the ranges have. */
static void check_boxes(ms_strategy strategy, uint32_t first, uint32_t second) {
  enum { ROWS = 11, COLUMNS = 7 };
  ms_verdict verdict = ranges_of(strategy, ROWS, COLUMNS);
  ms_plan_terms terms = terms_of(&verdict);
  ms_error err = {0};
  terms.asked = verdict.strategy_dims;
  terms.ask[0] = first;
  terms.ask[1] = second;
  ms_plan *plan = ms_plan_new(&terms, &err);
  CHECK(plan != NULL && plan->volume == ROWS * COLUMNS && plan->loads != NULL);
  uint64_t loads[ROWS] = {0};
  uint32_t each = plan->blocks / plan->grid.ranges[0];
  for (uint32_t r = 0; r < plan->grid.ranges[0]; r++) loads[r] = each;
  for (int64_t i = 1; i <= ROWS; i++) {
    for (int64_t j = COLUMNS; j >= 1; j--) {
      uint32_t count, range = find_block(plan, i, j, &count) / each;
      CHECK(count == 1 && plan->bounds.start[0][range] <= i &&
            i < plan->bounds.start[0][range + 1]);
      loads[range]++;
    }
  }
  CHECK(memcmp(plan->loads, loads, plan->grid.ranges[0] * sizeof *loads) == 0);
  ms_plan_release(plan);
}

/* Of a triangle the later ranges have more; shares come out to a few percent. */
static void test_triangle(void) {
  enum { SIZE = 100, RANGES = 10 };
  ms_verdict verdict = ranges_of(MS_PARTITION, SIZE, SIZE);
  ms_error err = {0};
  verdict.extent[1] = (ms_extent){.range = {1, SIZE, 1},
                                  .bounded = true,
                                  .low_count = 1,
                                  .high_count = 1,
                                  .low = {{.constant = 1}},
                                  .high = {{.at = {1}}}}; /* 1 <= j <= i */
  ms_plan_terms terms = terms_of(&verdict);
  terms.asked = 1;
  terms.ask[0] = RANGES;
  ms_plan *plan = ms_plan_new(&terms, &err);
  CHECK(plan != NULL && plan->grid.ranges[0] == RANGES && plan->loads != NULL);
  double sum = 0;
  for (int r = 0; r < RANGES; r++) sum += (double)plan->loads[r];
  for (int r = 0; r < RANGES; r++) {
    double share = (2 * r + 1) / 100.0; /* nearly */
    CHECK(fabs((double)plan->loads[r] / sum - share) < 0.02);
  }
  ms_plan_release(plan);
}

/* A sweep along the row i + 2 j: a phase for each value, and no bounds along it. */
static void test_row(void) {
  ms_verdict verdict = {.id = 2,
                        .strategy = MS_HYPERPLANE,
                        .dim_count = 2,
                        .extent = {{.range = {1, 5, 1}}, {.range = {1, 4, 1}}},
                        .strategy_dims = 1,
                        .strategy_dim = {1},
                        .sequential = 1,
                        .has_row = true,
                        .row = {1, 2}};
  ms_plan_terms terms = terms_of(&verdict);
  ms_error err = {0};
  int64_t values[2];
  ms_plan *plan = ms_plan_new(&terms, &err);
  CHECK(plan != NULL && plan->grid.count == 2 && plan->grid.ranges[0] == 4 + 6 + 1);
  CHECK(plan->bounds.start[0] == NULL && plan->bounds.start[1] != NULL && plan->loads != NULL);
  ms_plan_values(plan, 0, 3, values);
  CHECK(values[0] == 3 && values[1] == 3);
  ms_plan_values(plan, 1, 3, values);
  CHECK(values[0] == 4 && values[1] == 4);
  CHECK(ms_plan_next(plan, UINT32_MAX) == 0 && ms_plan_next(plan, plan->blocks - 1) == UINT32_MAX);
  ms_plan_release(plan);
}

/* An ordered loop's blocks come one after the other while they are cut along its first dimension,
 * and while a range of that is one value along the second. */
static void test_together(void) {
  ms_verdict verdict = ranges_of(MS_WAVEFRONT, 4, 6);
  ms_plan_terms terms = terms_of(&verdict);
  ms_error err = {0};
  terms.asked = 2;
  terms.ask[0] = 4;
  terms.ask[1] = 3;
  ms_plan *fine = ms_plan_new(&terms, &err);
  terms.ask[0] = 2;
  ms_plan *coarse = ms_plan_new(&terms, &err);
  terms.ordered = 0;
  ms_plan *free_of_order = ms_plan_new(&terms, &err);
  CHECK(fine->grid.together == 1 && coarse->grid.together == 3);
  CHECK(free_of_order->grid.together == 0);
  ms_plan_release(fine);
  ms_plan_release(coarse);
  ms_plan_release(free_of_order);
}

static void test_refused(void) {
  ms_verdict verdict = ranges_of(MS_ROTATE, 100000, 100000);
  ms_plan_terms terms = terms_of(&verdict);
  ms_error err = {0};
  terms.asked = 1;
  CHECK(ms_plan_new(&terms, &err) == NULL && err.code == MS_OPT);
  CHECK(strstr(err.message, "has 1 entries, but the plan (rotate) cuts 2 dimensions") != NULL);
  ms_error_clear(&err);
  terms.asked = 2;
  terms.ask[0] = terms.ask[1] = 5000;
  CHECK(ms_plan_new(&terms, &err) == NULL && strstr(err.message, "25000000 blocks") != NULL);
  ms_error_clear(&err);
  terms.asked = 0;
  terms.delay = 2;
  CHECK(ms_plan_new(&terms, &err) == NULL && strstr(err.message, "max_delay = 2") != NULL);
}

/* Of a rotation the array along the space axis stays, that along the other one goes along; others
 * are exchanged, and what neighbours read, too. */
static void test_travels(void) {
  ms_verdict verdict = ranges_of(MS_ROTATE, 10, 10);
  uint32_t array_of[] = {0, 2, 5, 2};
  ms_array_plan arrays[5] = {
      {.read = true, .written = true, .array_dim = 1, .loop_dim = 0, .scale = 2, .offset = 3},
      {.written = true, .array_dim = 0, .loop_dim = 1, .scale = 1},
      {.written = true, .array_dim = -1, .loop_dim = 1},
      {.written = true, .array_dim = 0, .loop_dim = 0, .placement = MS_PLACE_HALO},
      {.read = true, .array_dim = -1, .loop_dim = -1}};
  arrays[0].writes = (ms_written){
      .low = {3, 1}, .high = {2, 9}, .follow_count = 2, .follow = {{.loop_dim = 7}, {1, 1, 2, 3}}};
  verdict.arrays = arrays;
  verdict.array_count = 5;
  verdict.array_of = array_of;
  verdict.binding_count = 4;
  ms_plan_terms terms = terms_of(&verdict);
  ms_error err = {0};
  ms_plan *plan = ms_plan_new(&terms, &err);
  const ms_travel *first = &plan->travels[0], *second = &plan->travels[1];
  CHECK(first->movement == MS_MOVE_LOCAL && first->cut == 0 && first->array_dim == 1);
  CHECK(first->scale == 2 && first->offset == 3 && !first->writes.blind);
  CHECK(first->writes.low[0] == 2 && first->writes.high[0] == 2); /* nothing */
  CHECK(first->writes.low[1] == 0 && first->writes.high[1] == 9);
  CHECK(first->writes.follows == 1 && first->writes.follow[0].axis == 1);
  CHECK(second->movement == MS_MOVE_ROTATED && second->cut == 1 && second->writes.blind);
  CHECK(plan->travels[2].movement == MS_MOVE_EXCHANGED);
  CHECK(plan->travels[3].movement == MS_MOVE_EXCHANGED);
  CHECK(ms_plan_travel(plan, 1) == second && ms_plan_travel(plan, 3) == second);
  CHECK(ms_plan_travel(plan, 0) == NULL); /* it is no array, */
  CHECK(ms_plan_travel(plan, 2) == NULL); /* or only read */
  ms_plan_release(plan);
}

/* Of a sparse array all entries may be written by any block: who waits for others has to see it. */
static void test_entries(void) {
  ms_array_plan array = {.written = true, .sparse = true, .array_dim = 0, .loop_dim = 0};
  uint32_t array_of[] = {1};
  for (int strategy = 0; strategy < 2; strategy++) {
    ms_verdict verdict = ranges_of(strategy == 0 ? MS_PARTITION : MS_ROTATE, 10, 10);
    verdict.arrays = &array;
    verdict.array_of = array_of;
    verdict.array_count = verdict.binding_count = 1;
    ms_plan_terms terms = terms_of(&verdict);
    ms_error err = {0};
    ms_plan *plan = ms_plan_new(&terms, &err);
    const ms_travel *travel = ms_plan_travel(plan, 0);
    CHECK(travel->movement == (strategy == 0 ? MS_MOVE_SCATTERED : MS_MOVE_EXCHANGED));
    CHECK(travel->writes.low[0] == 0 && travel->writes.high[0] == MS_WRITES_ALL);
    CHECK(travel->writes.follows == 0 && travel->writes.blind == MS_WRITES_SEEN);
    ms_plan_release(plan);
  }
}

/* What decides makes another plan, and nothing else does. */
static void test_cache(void) {
  ms_verdict verdict = ranges_of(MS_PARTITION, 100, 10), other = verdict;
  ms_plan_terms terms = terms_of(&verdict);
  ms_error err = {0};
  ms_plan_cache *cache = ms_plan_cache_new(&err);
  ms_plan *plan = ms_plan_cache_get(cache, &terms, &err);
  terms.ask[3] = 7; /* not asked for */
  CHECK(plan != NULL && ms_plan_cache_get(cache, &terms, &err) == plan);
  terms.asked = 1;
  terms.ask[0] = 3;
  ms_plan *asked = ms_plan_cache_get(cache, &terms, &err);
  CHECK(asked != plan && asked->grid.ranges[0] == 3);
  terms.ask[0] = 4;
  CHECK(ms_plan_cache_get(cache, &terms, &err)->grid.ranges[0] == 4);
  terms.ask[0] = 3;
  other.id = 2;
  terms.verdict = &other;
  CHECK(ms_plan_cache_get(cache, &terms, &err) != asked);
  ms_plan_keep(plan);
  for (uint64_t id = 3; id < 3000; id++) { /* more than are kept */
    other.id = id;
    CHECK(ms_plan_cache_get(cache, &terms, &err) != NULL);
  }
  CHECK(plan->references == 1 && plan->blocks == 64);
  ms_plan_cache_free(cache);
  ms_plan_release(plan);
}

int main(void) {
  check_boxes(MS_PARTITION, 3, 0);
  check_boxes(MS_ROTATE, 4, 7);
  check_boxes(MS_WAVEFRONT, 11, 2);
  check_boxes(MS_WAVEFRONT, 40, 1);
  test_triangle();
  test_row();
  test_together();
  test_travels();
  test_entries();
  test_refused();
  test_cache();
  return ms_test_end();
}
