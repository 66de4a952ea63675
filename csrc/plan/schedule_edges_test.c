/* SPDX-License-Identifier: MIT
 *
 * What schedules make blocks wait for, against brute force: for random grids of every strategy and
 * every worker count, what the edges force must be exactly what the strategy's definition of
 * conflicting blocks forces in the serial order, and nothing may wait in a circle. */
#include "plan/schedule_lists.h"

/* Whether a block of a sweep waits by itself for one of the phase before. */
static bool is_within_reach(const ms_grid *grid, uint32_t earlier, uint32_t later) {
  uint32_t axis = grid->sequential, size = grid->ranges[axis];
  int64_t up = (int64_t)range_of(grid, earlier, axis) - range_of(grid, later, axis);
  uint32_t reach = grid->reach[up > 0 ? 1 : 0];
  return earlier / size + 1 == later / size && (reach == 0 || llabs(up) < reach);
}

/* A reach at random, often none. */
static void draw_reach(ms_grid *grid) {
  for (int side = 0; side < 2; side++) grid->reach[side] = pick(3) == 0 ? 0 : 1 + pick(3);
}

/* Whether two blocks, the first of which comes earlier, may touch the same element, from the
 * strategy's definition alone. */
static bool conflicts(const ms_grid *grid, uint32_t one, uint32_t other) {
  bool shares = false, lower = true, upper = true;
  for (uint32_t axis = 0; axis < grid->count; axis++) {
    uint32_t a = range_of(grid, one, axis), b = range_of(grid, other, axis);
    shares |= a == b;
    lower &= a <= b;
    upper &= a >= b;
  }
  switch (grid->strategy) {
    case MS_SERIALLY:
      return true;
    case MS_PARTITION:
      return range_of(grid, one, 0) == range_of(grid, other, 0);
    case MS_ROTATE:
      return shares;
    case MS_WAVEFRONT:
      return lower || upper;
    case MS_HYPERPLANE:
      return is_within_reach(grid, one, other);
    default:
      return false;
  }
}

/* Closes a relation between plan positions (i before j only when i < j) transitively. */
static void close_relation(bool *reach, uint32_t n) {
  for (uint32_t j = 0; j < n; j++) {
    for (uint32_t k = 0; k < j; k++) {
      if (!reach[k * n + j]) continue;
      for (uint32_t i = 0; i < k; i++) reach[i * n + j] |= reach[i * n + k];
    }
  }
}

/* What a schedule forces, with the order of each owner. */
static bool *forced(const ms_schedule *s, const lists *all) {
  uint32_t n = s->block_count;
  bool *reach = calloc((size_t)n * n, sizeof *reach);
  for (uint32_t j = 0; j < n; j++) {
    uint32_t block = all->order[j];
    for (uint32_t e = 0; e < ms_schedule_edges(s); e++) {
      uint32_t before = ms_schedule_before(s, block, e);
      if (before != MS_NO_BLOCK) reach[all->position[before] * n + j] = true;
    }
    for (uint32_t i = 0; i < j; i++) {
      reach[i * n + j] |= all->owner[all->order[i]] == all->owner[block];
    }
  }
  close_relation(reach, n);
  return reach;
}

static bool *demanded(const ms_schedule *s, const lists *all) {
  uint32_t n = s->block_count;
  bool *reach = calloc((size_t)n * n, sizeof *reach);
  for (uint32_t j = 0; j < n; j++) {
    for (uint32_t i = 0; i < j; i++) {
      uint32_t one = all->order[i], other = all->order[j];
      reach[i * n + j] = conflicts(&s->grid, one, other) || all->owner[one] == all->owner[other];
    }
  }
  close_relation(reach, n);
  return reach;
}

/* Each worker that waits for a block of another must be among its listeners, and only those. */
static void check_listeners(const ms_schedule *s, const lists *all) {
  uint32_t n = s->block_count, edges = ms_schedule_edges(s);
  bool *waits = calloc((size_t)n * s->workers, sizeof *waits), same = true;
  for (uint32_t block = 0; block < n; block++) {
    for (uint32_t e = 0; e < edges; e++) {
      uint32_t before = ms_schedule_before(s, block, e);
      if (before == MS_NO_BLOCK || all->owner[before] == all->owner[block]) continue;
      waits[before * s->workers + all->owner[block]] = true;
    }
  }
  for (uint32_t block = 0; block < n; block++) {
    bool told[MOST_WORKERS] = {false};
    for (uint32_t e = 0; e < edges; e++) {
      uint32_t listener = ms_schedule_listener(s, all->owner[block], block, e);
      if (listener < s->workers) told[listener] = true;
      same &= listener < s->workers || listener == UINT32_MAX;
    }
    same &= memcmp(told, waits + (size_t)block * s->workers, s->workers) == 0;
  }
  CHECK(same);
  free(waits);
}

/* Along an axis that chains, all blocks of a range come one after the other, whoever has them. */
static void check_chains(const ms_schedule *s, const lists *all) {
  uint32_t n = s->block_count;
  bool *reach = forced(s, all), chained = true;
  for (uint32_t axis = 0; axis < s->grid.count; axis++) {
    if (!ms_grid_chains(&s->grid, axis)) continue;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t range = range_of(&s->grid, all->order[i], axis);
      for (uint32_t j = i + 1; j < n; j++) {
        chained &= reach[i * n + j] || range_of(&s->grid, all->order[j], axis) != range;
      }
    }
  }
  CHECK(chained && ms_grid_chains(&s->grid, ms_grid_space(&s->grid)));
  free(reach);
}

static void check_schedule(const ms_schedule *s) {
  static lists all;
  uint32_t n = s->block_count;
  list_all(&s->grid, s->range_owner, &all);
  check_lists(s);
  check_listeners(s, &all);
  check_chains(s, &all);
  bool *have = forced(s, &all), *want = demanded(s, &all);
  CHECK(memcmp(have, want, (size_t)n * n * sizeof *have) == 0);
  free(have);
  free(want);
}

static ms_grid random_grid(void) {
  static const ms_strategy strategies[] = {MS_INDEPENDENT, MS_PARTITION,  MS_SKEW,     MS_ROTATE,
                                           MS_WAVEFRONT,   MS_HYPERPLANE, MS_SERIALLY, MS_ROTATE};
  ms_grid grid = {.strategy = strategies[pick(8)], .count = 1};
  if (grid.strategy == MS_ROTATE) grid.count = 2 + pick(3);
  if (grid.strategy == MS_WAVEFRONT) grid.count = 2;
  if (grid.strategy == MS_HYPERPLANE) {
    grid.count = 1 + (grid.sequential = 1 + pick(3));
    draw_reach(&grid);
  }
  static const uint32_t most[] = {0, 9, 9, 5, 3}; /* ranges an axis */
  for (uint32_t axis = 0; axis < grid.count; axis++) grid.ranges[axis] = 1 + pick(most[grid.count]);
  return grid;
}

/* Contiguous owners, and no load above the lightest possible one. */
static uint64_t check_owners(const ms_grid *grid, const uint64_t *weights, uint32_t workers,
                             const ms_owner *owner) {
  uint32_t space = grid->strategy == MS_HYPERPLANE ? grid->count - 1 : 0;
  bool contiguous = owner[0].worker == 0;
  for (uint32_t r = 0; r < grid->ranges[space]; r++) {
    contiguous &= owner[r].worker < workers && owner[r].blocks == MS_WHOLE &&
                  (r == 0 || owner[r].worker - owner[r - 1].worker <= 1);
  }
  CHECK(contiguous);
  uint64_t load[MOST_WORKERS] = {0}, most = 0;
  for (uint32_t block = 0; block < ms_grid_blocks(grid); block++) {
    load[owner[range_of(grid, block, space)].worker] += weights[block] + 1;
  }
  for (uint32_t w = 0; w < workers; w++) most = load[w] > most ? load[w] : most;
  return most;
}

static void check_random_grid(void) {
  ms_grid grid = random_grid();
  uint32_t blocks = ms_grid_blocks(&grid), space = ms_grid_space(&grid);
  uint64_t weights[MOST_BLOCKS], heaviest = 0;
  for (uint32_t i = 0; i < blocks; i++) weights[i] = pick(4) == 0 ? 0 : pick(1000);
  for (uint32_t workers = 1; workers <= MOST_WORKERS; workers++) {
    ms_error err = {0};
    ms_owner owner[16];
    uint64_t load[16];
    ms_grid_loads(&grid, load);
    for (uint32_t i = 0; i < blocks; i++) load[range_of(&grid, i, space)] += weights[i];
    CHECK(ms_grid_assign(&grid, load, workers, false, owner, &err) == 0);
    uint64_t most = check_owners(&grid, weights, workers, owner);
    CHECK(workers == 1 || most <= heaviest); /* more workers never make the worst one worse */
    heaviest = most;
    if (pick(4) == 0) { /* an owner may be left out, and owners need not be neighbours */
      for (uint32_t r = 0; r < 16; r++) owner[r] = (ms_owner){pick(workers), MS_WHOLE};
    }
    if (pick(2) == 0) split_some(&grid, workers, owner);
    ms_schedule *schedule = ms_schedule_new(&grid, owner, workers, &err);
    CHECK(schedule != NULL);
    if (schedule == NULL) continue;
    check_schedule(schedule);
    ms_schedule_destroy(&schedule);
    CHECK(schedule == NULL);
  }
}

int main(void) {
  seed_draws();
  for (int round = 0; round < 300; round++) check_random_grid();
  return ms_test_end();
}
