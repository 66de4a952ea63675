/* SPDX-License-Identifier: MIT
 *
 * Schedules against brute force: for random grids of every strategy and every worker count, what
 * the edges force must be exactly what the strategy's definition of conflicting blocks forces in
 * the serial order, and nothing may wait in a circle. MEISSA_TEST_SEED replays a run. */
#include "plan/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test.h"

#define MOST_WORKERS 6

static uint64_t state;

static uint32_t pick(uint32_t most) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % most;
}

/* A block's range along an axis, worked out on its own. */
static uint32_t range_of(const ms_grid *grid, uint32_t block, uint32_t axis) {
  uint32_t at[MS_CUTS] = {0};
  for (uint32_t a = grid->count; a-- > 0;) {
    at[a] = block % grid->ranges[a];
    block /= grid->ranges[a];
  }
  return at[axis];
}

/* Whether two blocks may touch the same element, from the strategy's definition alone. */
static bool conflicts(const ms_grid *grid, uint32_t one, uint32_t other) {
  bool shares = false, lower = true, upper = true, other_point = false;
  for (uint32_t axis = 0; axis < grid->count; axis++) {
    uint32_t a = range_of(grid, one, axis), b = range_of(grid, other, axis);
    shares |= a == b;
    lower &= a <= b;
    upper &= a >= b;
    other_point |= axis < grid->sequential && a != b;
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
      return other_point;
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

/* What a schedule forces beyond the order of each owner, which `owners` adds: waiting for a block
 * is waiting for its owner's earlier ones that conflict, too. */
static bool *forced(const ms_schedule *s, const uint32_t *position, bool owners) {
  uint32_t n = s->block_count, before;
  bool *reach = calloc((size_t)n * n, sizeof *reach);
  for (uint32_t j = 0; j < n; j++) {
    uint32_t block = s->order[j];
    for (uint32_t e = 0; (before = ms_schedule_before(s, block, e)) != MS_NO_BLOCK; e++) {
      reach[position[before] * n + j] = true;
    }
    for (uint32_t i = 0; owners && i < j; i++) {
      reach[i * n + j] |= s->owner[s->order[i]] == s->owner[block];
    }
  }
  close_relation(reach, n);
  return reach;
}

static bool *demanded(const ms_schedule *s, bool owners) {
  uint32_t n = s->block_count;
  bool *reach = calloc((size_t)n * n, sizeof *reach);
  for (uint32_t j = 0; j < n; j++) {
    for (uint32_t i = 0; i < j; i++) {
      uint32_t one = s->order[i], other = s->order[j];
      reach[i * n + j] =
          conflicts(&s->grid, one, other) || (owners && s->owner[one] == s->owner[other]);
    }
  }
  close_relation(reach, n);
  return reach;
}

/* Each worker that waits for a block of another must be among its listeners, and only those. */
static void check_listeners(const ms_schedule *s) {
  uint32_t n = s->block_count, before, listener;
  bool *waits = calloc((size_t)n * s->workers, sizeof *waits), same = true;
  for (uint32_t block = 0; block < n; block++) {
    for (uint32_t e = 0; (before = ms_schedule_before(s, block, e)) != MS_NO_BLOCK; e++) {
      if (s->owner[before] == s->owner[block]) continue;
      waits[before * s->workers + s->owner[block]] = true;
    }
  }
  for (uint32_t block = 0; block < n; block++) {
    bool told[MOST_WORKERS] = {false};
    for (uint32_t e = 0; (listener = ms_schedule_listener(s, block, e)) != UINT32_MAX; e++) {
      if (listener < s->workers) told[listener] = true;
      same &= listener < s->workers;
    }
    same &= memcmp(told, waits + (size_t)block * s->workers, s->workers) == 0;
  }
  CHECK(same);
  free(waits);
}

/* Ranks count each owner's blocks in plan order. */
static void check_ranks(const ms_schedule *s) {
  uint32_t next[MOST_WORKERS] = {0};
  bool right = true;
  for (uint32_t i = 0; i < s->block_count; i++) {
    uint32_t block = s->order[i];
    right &= s->rank[block] == next[s->owner[block]]++;
  }
  CHECK(right);
}

/* The edges' other ends, and the axes along which they hand ranges on: each range of an axis goes
 * through all blocks that use it, once each, in plan order. */
static void check_edges(const ms_schedule *s, const uint32_t *position) {
  uint32_t edges = 0, mirrored = 0;
  bool forward = true, shared = true;
  for (uint32_t from = 0; from < s->block_count; from++) {
    bool left[MS_CUTS] = {false};
    for (uint32_t e = s->after_start[from]; e < s->after_start[from + 1]; e++, edges++) {
      uint32_t to = s->after[e], axis = s->after_axis[e];
      forward &= position[from] < position[to];
      for (uint32_t m = s->before_start[to]; m < s->before_start[to + 1]; m++) {
        mirrored += s->before[m] == from;
      }
      if (s->grid.strategy == MS_SERIALLY) continue;
      uint32_t range = range_of(&s->grid, from, axis);
      shared &= !left[axis] && range == range_of(&s->grid, to, axis);
      left[axis] = true;
      for (uint32_t i = position[from] + 1; i < position[to]; i++) {
        shared &= range_of(&s->grid, s->order[i], axis) != range;
      }
    }
  }
  CHECK(forward); /* edges go with the plan, so there is no circle */
  CHECK(shared);
  uint32_t total = s->before_start[s->block_count];
  CHECK(edges == total && edges == s->after_start[s->block_count] && mirrored >= edges);
}

/* Along an axis that chains, all blocks of a range come one after the other, whoever has them. */
static void check_chains(const ms_schedule *s, const uint32_t *position) {
  uint32_t n = s->block_count;
  bool *reach = forced(s, position, true), chained = true;
  for (uint32_t axis = 0; axis < s->grid.count; axis++) {
    if (!ms_grid_chains(&s->grid, axis)) continue;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t range = range_of(&s->grid, s->order[i], axis);
      for (uint32_t j = i + 1; j < n; j++) {
        chained &= reach[i * n + j] || range_of(&s->grid, s->order[j], axis) != range;
      }
    }
  }
  CHECK(chained && ms_grid_chains(&s->grid, ms_grid_space(&s->grid)));
  free(reach);
}

static void check_schedule(const ms_schedule *s) {
  uint32_t n = s->block_count;
  uint32_t *position = calloc(n, sizeof *position);
  bool *seen = calloc(n, sizeof *seen), permutation = true;
  for (uint32_t i = 0; i < n; i++) {
    permutation &= s->order[i] < n && !seen[s->order[i]];
    seen[s->order[i]] = true;
    position[s->order[i]] = i;
  }
  CHECK(permutation);
  check_edges(s, position);
  check_listeners(s);
  check_ranks(s);
  check_chains(s, position);
  for (int owners = 0; owners <= 1; owners++) {
    /* In phases one block stands for others of its owner, so only the sum can be compared. */
    if (owners == 0 && s->phase_blocks > 0) continue;
    bool *have = forced(s, position, owners), *want = demanded(s, owners);
    CHECK(memcmp(have, want, (size_t)n * n * sizeof *have) == 0);
    free(have);
    free(want);
  }
  free(seen);
  free(position);
}

static ms_grid random_grid(void) {
  static const ms_strategy strategies[] = {MS_INDEPENDENT, MS_PARTITION,  MS_SKEW,     MS_ROTATE,
                                           MS_WAVEFRONT,   MS_HYPERPLANE, MS_SERIALLY, MS_ROTATE};
  ms_grid grid = {.strategy = strategies[pick(8)], .count = 1};
  if (grid.strategy == MS_ROTATE) grid.count = 2 + pick(3);
  if (grid.strategy == MS_WAVEFRONT) grid.count = 2;
  if (grid.strategy == MS_HYPERPLANE) grid.count = 1 + (grid.sequential = 1 + pick(3));
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

/* Gives some ranges a second owner, where the grid allows it. */
static void split_some(const ms_grid *grid, uint32_t workers, ms_owner *owner) {
  if (grid->strategy == MS_HYPERPLANE) return;
  for (uint32_t r = 0; r < 16; r++) {
    if (owner[r].worker + 1 < workers && pick(3) == 0) owner[r].blocks = pick(4);
  }
}

static void check_random_grid(void) {
  ms_grid grid = random_grid();
  uint32_t blocks = ms_grid_blocks(&grid), reference[128];
  uint64_t weights[128], heaviest = 0;
  for (uint32_t i = 0; i < blocks; i++) weights[i] = pick(4) == 0 ? 0 : pick(1000);
  for (uint32_t workers = 1; workers <= MOST_WORKERS; workers++) {
    ms_error err = {0};
    ms_owner owner[16];
    uint64_t load[16];
    ms_grid_loads(&grid, weights, load);
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
    if (workers == 1) memcpy(reference, schedule->order, blocks * sizeof *reference);
    CHECK(memcmp(reference, schedule->order, blocks * sizeof *reference) == 0);
    ms_schedule_destroy(&schedule);
    CHECK(schedule == NULL);
  }
}

static void check_order(ms_grid grid, const ms_owner *owner, const uint32_t *order) {
  ms_error err = {0};
  ms_schedule *s = ms_schedule_new(&grid, owner, 2, &err);
  CHECK(s != NULL && memcmp(s->order, order, s->block_count * sizeof *order) == 0);
  ms_schedule_destroy(&s);
}

/* Orders worked out by hand. */
static void check_known_orders(void) {
  static const ms_owner owner[] = {{0, MS_WHOLE}, {1, MS_WHOLE}, {1, MS_WHOLE}};
  static const uint32_t rotation[] = {0, 4, 1, 5, 2, 3};
  check_order((ms_grid){.strategy = MS_ROTATE, .count = 2, .ranges = {2, 3}}, owner, rotation);
  /* steps (0,0), (0,1), (1,0), (1,1) of blocks a*4 + b*2 + c */
  static const uint32_t cube[] = {0, 7, 1, 6, 2, 5, 3, 4};
  check_order((ms_grid){.strategy = MS_ROTATE, .count = 3, .ranges = {2, 2, 2}}, owner, cube);
  static const uint32_t wave[] = {0, 2, 4, 1, 3, 5};
  check_order((ms_grid){.strategy = MS_WAVEFRONT, .count = 2, .ranges = {3, 2}}, owner, wave);
  static const uint32_t sweep[] = {0, 1, 2, 3, 4, 5};
  ms_grid plane = {.strategy = MS_HYPERPLANE, .count = 2, .sequential = 1, .ranges = {2, 3}};
  check_order(plane, owner, sweep);
  ms_error err = {0};
  ms_grid grid = {.strategy = MS_ROTATE, .count = 2, .ranges = {2, 3}};
  ms_schedule *s = ms_schedule_new(&grid, owner, 2, &err);
  /* block (0, 1) follows its space range's (0, 0) and its time range's (1, 1) */
  CHECK(ms_schedule_before(s, 1, 0) == 0 && ms_schedule_before(s, 1, 1) == 4);
  CHECK(ms_schedule_before(s, 1, 2) == MS_NO_BLOCK);
  ms_schedule_destroy(&s);
}

/* Thousands of phases need no more than a few words a block. */
static void check_many_phases(void) {
  ms_grid grid = {.strategy = MS_HYPERPLANE, .count = 2, .sequential = 1, .ranges = {4000, 64}};
  ms_owner owner[64];
  uint64_t load[64];
  ms_error err = {0};
  ms_grid_loads(&grid, NULL, load);
  CHECK(ms_grid_assign(&grid, load, 4, false, owner, &err) == 0);
  ms_schedule *s = ms_schedule_new(&grid, owner, 4, &err);
  CHECK(s != NULL && s->before_start[s->block_count] == 0 && s->closer_count == 4);
  CHECK(ms_schedule_before(s, 64, 3) == 63 && ms_schedule_before(s, 64, 4) == MS_NO_BLOCK);
  CHECK(ms_schedule_listener(s, 64 + 15, 2) == 3 && ms_schedule_listener(s, 64, 0) == UINT32_MAX);
  CHECK(ms_schedule_listener(s, s->block_count - 1, 0) == UINT32_MAX);
  ms_schedule_destroy(&s);
}

/* A part of the plan's order: the whole's edges between blocks of the part, and no others. */
static void check_part(const ms_grid *whole_grid, const ms_owner *owner, uint32_t workers) {
  ms_error err = {0};
  ms_schedule *whole = ms_schedule_new(whole_grid, owner, workers, &err);
  CHECK(whole != NULL);
  uint32_t blocks = whole->block_count, first = blocks / 3, last = blocks - blocks / 4;
  ms_grid grid = *whole_grid;
  grid.first = first;
  grid.last = last;
  ms_schedule *part = ms_schedule_new(&grid, owner, workers, &err);
  CHECK(part != NULL && part->count == last - first);
  CHECK(memcmp(part->order, whole->order + first, part->count * sizeof *part->order) == 0);
  for (uint32_t k = 0; k < part->count; k++) {
    uint32_t block = part->order[k], found = 0, wanted = 0, before;
    for (uint32_t i = 0; (before = ms_schedule_before(whole, block, i)) != MS_NO_BLOCK; i++) {
      bool inside = false;
      for (uint32_t j = 0; j < k; j++) inside = inside || part->order[j] == before;
      wanted += inside;
    }
    while ((before = ms_schedule_before(part, block, found)) != MS_NO_BLOCK) found++;
    CHECK(found == wanted);
  }
  ms_schedule_destroy(&whole);
  ms_schedule_destroy(&part);
}

static void check_parts(void) {
  static const ms_owner owner[] = {{0, MS_WHOLE}, {0, MS_WHOLE}, {1, MS_WHOLE},
                                   {1, MS_WHOLE}, {2, MS_WHOLE}, {2, MS_WHOLE}};
  static const ms_grid grids[] = {
      {.strategy = MS_INDEPENDENT, .count = 1, .ranges = {6}},
      {.strategy = MS_ROTATE, .count = 2, .ranges = {6, 5}},
      {.strategy = MS_ROTATE, .count = 3, .ranges = {6, 5, 4}},
      {.strategy = MS_WAVEFRONT, .count = 2, .ranges = {6, 7}},
      {.strategy = MS_HYPERPLANE, .count = 2, .sequential = 1, .ranges = {9, 6}},
      {.strategy = MS_SERIALLY, .count = 1, .ranges = {6}},
  };
  for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) check_part(&grids[g], owner, 3);
  ms_error err = {0};
  ms_grid grid = {.strategy = MS_PARTITION, .count = 1, .ranges = {6}, .first = 2, .last = 7};
  CHECK(ms_schedule_new(&grid, owner, 3, &err) == NULL && err.code == MS_OPT);
  grid.last = 2;
  CHECK(ms_schedule_new(&grid, owner, 3, &err) == NULL && err.code == MS_OPT);
}

static void check_refusals(void) {
  static const ms_owner owner[] = {{0, MS_WHOLE}, {7, MS_WHOLE}};
  struct {
    ms_grid grid;
    uint32_t workers;
  } cases[] = {
      {{.strategy = MS_ROTATE, .count = 1, .ranges = {2}}, 8},
      {{.strategy = MS_ROTATE, .count = 5, .ranges = {2, 2, 2, 2, 2}}, 8},
      {{.strategy = MS_SKEW, .count = 2, .ranges = {2, 2}}, 8},
      {{.strategy = MS_WAVEFRONT, .count = 3, .ranges = {2, 2, 2}}, 8},
      {{.strategy = MS_HYPERPLANE, .count = 2, .ranges = {2, 2}}, 8},
      {{.strategy = MS_HYPERPLANE, .count = 2, .sequential = 2, .ranges = {2, 2}}, 8},
      {{.strategy = MS_WAVEFRONT, .count = 2, .sequential = 1, .ranges = {2, 2}}, 8},
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

/* Split ranges: the workers' parts follow each other, range by range and in each range in the
 * plan's order, and no worker has more than its share and a block. */
static void check_split(void) {
  static const ms_strategy strategies[] = {MS_ROTATE, MS_WAVEFRONT, MS_INDEPENDENT};
  ms_grid grid = {.strategy = strategies[pick(3)], .count = 2};
  grid.ranges[0] = 1 + pick(16);
  grid.ranges[1] = 4 + pick(16);
  uint64_t load[16], total = 0, heaviest = 0;
  for (uint32_t r = 0; r < grid.ranges[0]; r++) {
    load[r] = pick(5) == 0 ? 1 : 1 + pick(1000);
    total += load[r];
    heaviest = load[r] > heaviest ? load[r] : heaviest;
  }
  uint32_t workers = 2 + pick(MOST_WORKERS - 1);
  ms_owner owner[16];
  ms_error err = {0};
  CHECK(ms_grid_assign(&grid, load, workers, true, owner, &err) == 0);
  ms_schedule *s = ms_schedule_new(&grid, owner, workers, &err);
  CHECK(s != NULL);
  if (s == NULL) return;
  double has[MOST_WORKERS] = {0}, share = (double)total / workers;
  uint32_t last = 0;
  bool follow = true;
  for (uint32_t r = 0; r < grid.ranges[0]; r++) {
    for (uint32_t i = 0; i < s->block_count; i++) {
      if (range_of(&grid, s->order[i], 0) != r) continue;
      uint32_t worker = s->owner[s->order[i]];
      follow &= worker >= last;
      last = worker;
      has[worker] += (double)load[r] / grid.ranges[1];
    }
  }
  CHECK(follow);
  bool fair = true;
  for (uint32_t w = 0; w < workers; w++) {
    fair &= has[w] <= 1.02 * share + (double)heaviest / grid.ranges[1] || (double)heaviest > share;
    fair &= has[w] <= (double)heaviest + share;
  }
  CHECK(fair);
  ms_schedule_destroy(&s);
}

/* Three even ranges of four blocks for two workers: the middle one is split in its middle. */
static void check_halves(void) {
  ms_grid grid = {.strategy = MS_ROTATE, .count = 2, .ranges = {3, 4}};
  static const uint64_t load[] = {4, 4, 4};
  ms_owner owner[3];
  ms_error err = {0};
  CHECK(ms_grid_assign(&grid, load, 2, true, owner, &err) == 0);
  CHECK(owner[0].worker == 0 && owner[0].blocks == MS_WHOLE);
  CHECK(owner[1].worker == 0 && owner[1].blocks == 2);
  CHECK(owner[2].worker == 1 && owner[2].blocks == MS_WHOLE);
  CHECK(ms_grid_assign(&grid, load, 3, true, owner, &err) == 0); /* nothing to gain */
  for (uint32_t r = 0; r < 3; r++) CHECK(owner[r].worker == r && owner[r].blocks == MS_WHOLE);
  owner[2] = (ms_owner){2, 1};
  CHECK(ms_schedule_new(&grid, owner, 3, &err) == NULL && err.code == MS_OPT);
  ms_error_clear(&err);
  ms_grid sweep = {.strategy = MS_HYPERPLANE, .count = 2, .sequential = 1, .ranges = {4, 3}};
  CHECK(ms_grid_assign(&sweep, load, 2, true, owner, &err) == 0);
  for (uint32_t r = 0; r < 3; r++) CHECK(owner[r].blocks == MS_WHOLE);
  owner[1] = (ms_owner){0, 2};
  CHECK(ms_schedule_new(&sweep, owner, 2, &err) == NULL && err.code == MS_OPT);
}

int main(void) {
  const char *seed = getenv("MEISSA_TEST_SEED");
  state = seed != NULL ? strtoull(seed, NULL, 10) : 20240607u;
  printf("MEISSA_TEST_SEED=%llu\n", (unsigned long long)state);
  for (int round = 0; round < 300; round++) check_random_grid();
  for (int round = 0; round < 300; round++) check_split();
  check_halves();
  check_known_orders();
  check_many_phases();
  check_parts();
  check_refusals();
  return ms_test_end();
}
