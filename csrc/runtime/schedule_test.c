/* SPDX-License-Identifier: MIT
 *
 * Schedules against brute force: for random grids and every worker count, blocks that conflict
 * must be ordered by the edges exactly as in the serial order, and nothing may wait in a circle.
 * MEISSA_TEST_SEED replays a run. */
#include "runtime/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test.h"

static uint64_t state;

static uint32_t pick(uint32_t most) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % most;
}

/* Whether two blocks may touch the same element, from the strategy's definition alone. */
static bool conflicts(const ms_grid *grid, uint32_t one, uint32_t other) {
  if (grid->strategy == MS_SERIALLY) return true;
  if (grid->strategy == MS_INDEPENDENT) return false;
  uint32_t row = grid->count > 1 ? grid->ranges[1] : 1;
  if (grid->strategy == MS_PARTITION) return one / row == other / row;
  return one / row == other / row || one % row == other % row;
}

/* reach[i * n + j]: position i is forced before position j, by edges or by sharing an owner. */
static bool *closure(const ms_schedule *s, const uint32_t *position) {
  uint32_t n = s->block_count;
  bool *reach = calloc((size_t)n * n, sizeof *reach);
  for (uint32_t j = 0; j < n; j++) {
    uint32_t block = s->order[j];
    for (uint32_t e = s->before_start[block]; e < s->before_start[block + 1]; e++) {
      reach[position[s->before[e]] * n + j] = true;
    }
    for (uint32_t i = 0; i < j; i++) {
      if (s->owner[s->order[i]] == s->owner[block]) reach[i * n + j] = true;
    }
    for (uint32_t k = 0; k < j; k++) {
      if (!reach[k * n + j]) continue;
      for (uint32_t i = 0; i < k; i++) reach[i * n + j] |= reach[i * n + k];
    }
  }
  return reach;
}

static void check_schedule(const ms_schedule *s) {
  uint32_t n = s->block_count;
  uint32_t *position = calloc(n, sizeof *position);
  bool *seen = calloc(n, sizeof *seen), permutation = true, forward = true, ordered = true;
  for (uint32_t i = 0; i < n; i++) {
    permutation &= s->order[i] < n && !seen[s->order[i]];
    seen[s->order[i]] = true;
    position[s->order[i]] = i;
  }
  CHECK(permutation);
  uint32_t edges = 0, mirrored = 0;
  for (uint32_t block = 0; block < n; block++) {
    for (uint32_t e = s->before_start[block]; e < s->before_start[block + 1]; e++, edges++) {
      uint32_t from = s->before[e];
      forward &= position[from] < position[block];
      for (uint32_t m = s->after_start[from]; m < s->after_start[from + 1]; m++) {
        mirrored += s->after[m] == block;
      }
    }
  }
  CHECK(forward); /* edges go with the plan, so there is no circle */
  CHECK(edges == s->before_start[n] && edges == s->after_start[n] && mirrored >= edges);
  bool *reach = closure(s, position);
  for (uint32_t j = 0; j < n; j++) {
    for (uint32_t i = 0; i < j; i++) {
      if (conflicts(&s->grid, s->order[i], s->order[j])) ordered &= reach[i * n + j];
    }
  }
  CHECK(ordered);
  free(reach);
  free(seen);
  free(position);
}

static void check_random_grid(void) {
  static const ms_strategy strategies[] = {MS_INDEPENDENT, MS_PARTITION, MS_ROTATE, MS_SERIALLY};
  ms_grid grid = {.strategy = strategies[pick(4)]};
  grid.count = grid.strategy == MS_ROTATE ? 2 : 1;
  for (uint32_t dim = 0; dim < grid.count; dim++) grid.ranges[dim] = 1 + pick(9);
  uint32_t blocks = ms_grid_blocks(&grid), reference[128];
  uint64_t weights[128], heaviest = 0;
  for (uint32_t i = 0; i < blocks; i++) weights[i] = pick(4) == 0 ? 0 : pick(1000);
  for (uint32_t workers = 1; workers <= 6; workers++) {
    ms_error err = {0};
    uint32_t owner[16];
    CHECK(ms_grid_assign(&grid, weights, workers, owner, &err) == 0);
    bool contiguous = owner[0] == 0;
    uint64_t load[6] = {0};
    for (uint32_t r = 0; r < grid.ranges[0]; r++) {
      contiguous &= owner[r] < workers && (r == 0 || owner[r] - owner[r - 1] <= 1);
      for (uint32_t i = 0, row = blocks / grid.ranges[0]; i < row; i++) {
        load[owner[r]] += weights[r * row + i] + 1;
      }
    }
    CHECK(contiguous);
    uint64_t most = 0;
    for (uint32_t w = 0; w < workers; w++) most = load[w] > most ? load[w] : most;
    CHECK(workers == 1 || most <= heaviest); /* more workers never make the worst one worse */
    heaviest = most;
    ms_schedule *schedule = ms_schedule_new(&grid, owner, workers, &err);
    CHECK(schedule != NULL);
    if (schedule == NULL) continue;
    check_schedule(schedule);
    if (workers == 1) memcpy(reference, schedule->order, blocks * sizeof *reference);
    CHECK(memcmp(reference, schedule->order, blocks * sizeof *reference) == 0);
    ms_schedule_destroy(&schedule);
    CHECK(schedule == NULL);
  }
}

static void check_known_rotation(void) {
  ms_grid grid = {.strategy = MS_ROTATE, .count = 2, .ranges = {2, 3}};
  static const uint32_t owner[] = {0, 1}, order[] = {0, 4, 1, 5, 2, 3};
  ms_error err = {0};
  ms_schedule *s = ms_schedule_new(&grid, owner, 2, &err);
  CHECK(s != NULL && memcmp(s->order, order, sizeof order) == 0);
  /* block (0, 1) follows its space range's (0, 0) and its time range's (1, 1) */
  CHECK(s->before_start[2] - s->before_start[1] == 2);
  CHECK(s->before[s->before_start[1]] == 0 && s->before[s->before_start[1] + 1] == 4);
  ms_schedule_destroy(&s);
}

static void check_refusals(void) {
  static const uint32_t owner[] = {0, 7};
  struct {
    ms_grid grid;
    uint32_t workers;
  } cases[] = {
      {{.strategy = MS_ROTATE, .count = 1, .ranges = {2}}, 8},
      {{.strategy = MS_WAVEFRONT, .count = 2, .ranges = {2, 2}}, 8},
      {{.strategy = MS_PARTITION, .count = 0}, 8},
      {{.strategy = MS_PARTITION, .count = 1, .ranges = {0}}, 8},
      {{.strategy = MS_PARTITION, .count = 2, .ranges = {1u << 20, 1u << 20}}, 8},
      {{.strategy = MS_PARTITION, .count = 9, .ranges = {2, 2, 2, 2}}, 8},
      {{.strategy = MS_PARTITION, .count = 1, .ranges = {2}}, 2}, /* owner 7 of 2 */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ms_error err = {0};
    ms_schedule *s = ms_schedule_new(&cases[i].grid, owner, cases[i].workers, &err);
    CHECK(s == NULL && err.code == MS_OPT);
    ms_schedule_destroy(&s);
  }
}

int main(void) {
  const char *seed = getenv("MEISSA_TEST_SEED");
  state = seed != NULL ? strtoull(seed, NULL, 10) : 20240607u;
  printf("MEISSA_TEST_SEED=%llu\n", (unsigned long long)state);
  for (int round = 0; round < 300; round++) check_random_grid();
  check_known_rotation();
  check_refusals();
  return ms_test_end();
}
