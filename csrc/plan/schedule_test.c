/* SPDX-License-Identifier: MIT
 *
 * Schedules against brute force: for grids of every strategy and every worker count, what is said
 * of a block must be what lists of all blocks say; what the edges force must be exactly what the
 * strategy's definition of conflicting blocks forces in the serial order, and nothing may wait in a
 * circle. MEISSA_TEST_SEED replays a run. */
#include "plan/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test.h"

#define MOST_WORKERS 8
#define MOST_BLOCKS  320

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

/* What lists of all blocks say. */
typedef struct lists {
  uint32_t order[MOST_BLOCKS]; /* of the whole plan */
  uint32_t position[MOST_BLOCKS], owner[MOST_BLOCKS], rank[MOST_BLOCKS];
  uint32_t before[MOST_BLOCKS][MS_CUTS], after[MOST_BLOCKS][MS_CUTS];
} lists;

static const ms_grid *compared;

/* Steps of a rotation, then the space range; or ranges, in the order in which the plan goes. */
static int by_plan(const void *one, const void *other) {
  uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other, n = 0;
  const ms_grid *grid = compared;
  for (uint32_t axis = 0; axis < grid->count; axis++) {
    if (grid->ranges[axis] > n) n = grid->ranges[axis];
  }
  bool rotates = grid->strategy == MS_ROTATE, turned = grid->strategy == MS_WAVEFRONT;
  for (uint32_t k = 0; k < grid->count; k++) {
    uint32_t axis = rotates || turned ? (k + 1) % grid->count : k;
    uint32_t ra = range_of(grid, a, axis), rb = range_of(grid, b, axis);
    if (rotates && axis > 0) {
      ra = (ra + n - range_of(grid, a, 0)) % n;
      rb = (rb + n - range_of(grid, b, 0)) % n;
    }
    if (ra != rb) return ra < rb ? -1 : 1;
  }
  return 0;
}

static bool chains(const ms_grid *grid, uint32_t axis) {
  if (grid->strategy == MS_ROTATE || grid->strategy == MS_WAVEFRONT) return true;
  return axis == 0 && (grid->strategy == MS_PARTITION || grid->strategy == MS_SERIALLY);
}

/* Fills in who follows whom in the chains of an axis. */
static void list_chains(const ms_grid *grid, uint32_t axis, uint32_t first, uint32_t end,
                        lists *all) {
  uint32_t last[MOST_BLOCKS];
  memset(last, 255, sizeof last);
  for (uint32_t i = first; i < end && chains(grid, axis); i++) {
    uint32_t block = all->order[i];
    uint32_t range = grid->strategy == MS_SERIALLY ? 0 : range_of(grid, block, axis);
    all->before[block][axis] = last[range];
    if (last[range] != MS_NO_BLOCK) all->after[last[range]][axis] = block;
    last[range] = block;
  }
}

static void list_all(const ms_grid *grid, const ms_owner *owner, lists *all) {
  uint32_t blocks = ms_grid_blocks(grid), end = grid->last == 0 ? blocks : grid->last;
  uint32_t space = grid->strategy == MS_HYPERPLANE ? grid->count - 1 : 0;
  uint32_t given[MOST_BLOCKS] = {0}, next[MOST_WORKERS] = {0};
  for (uint32_t i = 0; i < blocks; i++) all->order[i] = i;
  compared = grid;
  qsort(all->order, blocks, sizeof *all->order, by_plan);
  for (uint32_t i = 0; i < blocks; i++) {
    uint32_t block = all->order[i], range = range_of(grid, block, space);
    all->position[block] = i;
    all->owner[block] = owner[range].worker + (given[range]++ >= owner[range].blocks);
    if (grid->strategy == MS_SERIALLY) all->owner[block] = 0;
    if (i >= grid->first && i < end) all->rank[block] = next[all->owner[block]]++;
  }
  memset(all->before, 255, sizeof all->before);
  memset(all->after, 255, sizeof all->after);
  for (uint32_t axis = 0; axis < grid->count; axis++) {
    list_chains(grid, axis, grid->first, end, all);
  }
}

/* What is said of each block is what the lists say; so is each worker's list of its own. */
static void check_lists(const ms_schedule *s) {
  static lists all;
  list_all(&s->grid, s->range_owner, &all);
  uint32_t own[MOST_WORKERS] = {0}, last[MOST_WORKERS], first = s->first;
  bool right = true, edges = true, owns = true;
  memset(last, 255, sizeof last);
  for (uint32_t i = 0; i < s->block_count; i++) {
    uint32_t block = all.order[i], worker = all.owner[block];
    bool runs = i >= first && i < first + s->count;
    right &= ms_schedule_runs(s, block) == runs && ms_schedule_owner(s, block) == worker;
    if (!runs) continue;
    right &= ms_schedule_position(s, block) == i - first;
    right &= ms_schedule_rank(s, block) == all.rank[block];
    owns &= ms_schedule_own(s, worker, own[worker]++) == block;
    owns &= ms_schedule_next(s, worker, last[worker]) == block;
    last[worker] = block;
    for (uint32_t e = 0; s->phase_blocks == 0 && e < s->grid.count; e++) {
      uint32_t before = all.before[block][e], after = all.after[block][e];
      if (e < ms_schedule_edges(s) && ms_schedule_before(s, block, e) != MS_NO_BLOCK) {
        edges &= ms_schedule_before(s, block, e) == before;
      } else {
        edges &= before == MS_NO_BLOCK || all.owner[before] == worker;
      }
      if (e < ms_schedule_edges(s) && ms_schedule_after(s, block, e) != MS_NO_BLOCK) {
        edges &= ms_schedule_after(s, block, e) == after;
      } else {
        edges &= after == MS_NO_BLOCK || all.owner[after] == worker;
      }
    }
  }
  for (uint32_t w = 0; w < s->workers; w++) {
    owns &= ms_schedule_share(s, w) == own[w];
    owns &= ms_schedule_own(s, w, own[w]) == MS_NO_BLOCK;
    owns &= ms_schedule_next(s, w, last[w]) == MS_NO_BLOCK;
  }
  CHECK(right);
  CHECK(edges);
  CHECK(owns);
  bool users = true;
  for (uint32_t axis = 0; axis < s->grid.count; axis++) {
    for (uint32_t range = 0; range <= s->grid.ranges[axis]; range++) {
      uint32_t head = UINT32_MAX, tail = UINT32_MAX;
      for (uint32_t i = first; i < first + s->count; i++) {
        if (range_of(&s->grid, all.order[i], axis) != range) continue;
        tail = all.owner[all.order[i]];
        if (head == UINT32_MAX) head = tail;
      }
      users &= ms_schedule_first_user(s, axis, range) == head;
      users &= ms_schedule_last_user(s, axis, range) == tail;
    }
  }
  CHECK(users);
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
  uint32_t blocks = ms_grid_blocks(&grid);
  uint64_t weights[MOST_BLOCKS], heaviest = 0;
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
    ms_schedule_destroy(&schedule);
    CHECK(schedule == NULL);
  }
}

static void check_order(ms_grid grid, const ms_owner *owner, const uint32_t *order) {
  ms_error err = {0};
  ms_schedule *s = ms_schedule_new(&grid, owner, 2, &err);
  CHECK(s != NULL);
  for (uint32_t i = 0; i < s->block_count; i++) CHECK(ms_schedule_position(s, order[i]) == i);
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
  /* block (0, 1) follows its own space range's (0, 0) and its time range's (1, 1) */
  CHECK(ms_schedule_before(s, 1, 0) == MS_NO_BLOCK && ms_schedule_before(s, 1, 1) == 4);
  CHECK(ms_schedule_edges(s) == 2 && ms_schedule_before(s, 0, 1) == MS_NO_BLOCK);
  ms_schedule_destroy(&s);
}

static uint32_t listener_of(const ms_schedule *s, uint32_t block, uint32_t edge) {
  return ms_schedule_listener(s, ms_schedule_owner(s, block), block, edge);
}

/* Of thousands of phases only the last blocks of owners are waited for. */
static void check_many_phases(void) {
  ms_grid grid = {.strategy = MS_HYPERPLANE, .count = 2, .sequential = 1, .ranges = {4000, 64}};
  ms_owner owner[64];
  uint64_t load[64];
  ms_error err = {0};
  ms_grid_loads(&grid, NULL, load);
  CHECK(ms_grid_assign(&grid, load, 4, false, owner, &err) == 0);
  ms_schedule *s = ms_schedule_new(&grid, owner, 4, &err);
  CHECK(s != NULL && ms_schedule_edges(s) == 4);
  CHECK(ms_schedule_before(s, 64, 3) == 63 && ms_schedule_before(s, 63, 3) == MS_NO_BLOCK);
  CHECK(listener_of(s, 64 + 15, 3) == 3 && listener_of(s, 64, 3) == UINT32_MAX);
  CHECK(listener_of(s, 64 + 15, 0) == UINT32_MAX);
  CHECK(listener_of(s, s->block_count - 1, 0) == UINT32_MAX);
  ms_schedule_destroy(&s);
}

/* Parts of the plan's order: the whole's edges between blocks of the part, and no others. */
static void check_part(const ms_grid *whole, const ms_owner *owner, uint32_t workers) {
  uint32_t blocks = ms_grid_blocks(whole), step = blocks / 9 + 1;
  for (uint32_t first = 0; first < blocks; first += step) {
    for (uint32_t last = first + 1; last <= blocks; last += step) {
      ms_error err = {0};
      ms_grid grid = *whole;
      grid.first = first;
      grid.last = last;
      ms_schedule *part = ms_schedule_new(&grid, owner, workers, &err);
      CHECK(part != NULL && part->count == last - first);
      check_lists(part);
      ms_schedule_destroy(&part);
    }
  }
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
  static const ms_owner split[] = {{0, 2}, {0, 0}, {1, MS_WHOLE}, {1, 3}, {0, 4}, {2, MS_WHOLE}};
  for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) {
    check_part(&grids[g], owner, 3);
    if (grids[g].strategy != MS_HYPERPLANE) check_part(&grids[g], split, 3);
  }
  ms_error err = {0};
  ms_grid grid = {.strategy = MS_PARTITION, .count = 1, .ranges = {6}, .first = 2, .last = 7};
  CHECK(ms_schedule_new(&grid, owner, 3, &err) == NULL && err.code == MS_OPT);
  grid.last = 2;
  CHECK(ms_schedule_new(&grid, owner, 3, &err) == NULL && err.code == MS_OPT);
}

/* A grid with owners that follow each other, as many as there are, and with some ranges split. */
static void check_small(const ms_grid *grid) {
  uint32_t space = ms_grid_space(grid), ranges = grid->ranges[space];
  for (uint32_t workers = 1; workers <= MOST_WORKERS; workers++) {
    for (int split = 0; split < 2; split++) {
      ms_owner owner[16];
      ms_error err = {0};
      for (uint32_t r = 0; r < ranges; r++) {
        owner[r] = (ms_owner){(r * workers + pick(workers)) / ranges % workers, MS_WHOLE};
      }
      if (split) split_some(grid, workers, owner);
      ms_schedule *s = ms_schedule_new(grid, owner, workers, &err);
      CHECK(s != NULL);
      if (s != NULL) check_lists(s);
      ms_schedule_destroy(&s);
    }
  }
}

/* Every grid of few ranges. */
static void check_all_small(void) {
  static const struct {
    ms_strategy strategy;
    uint32_t least, most; /* axes */
  } kinds[] = {{MS_INDEPENDENT, 1, 2}, {MS_PARTITION, 1, 3},  {MS_SKEW, 1, 1},    {MS_ROTATE, 2, 4},
               {MS_WAVEFRONT, 2, 2},   {MS_HYPERPLANE, 2, 3}, {MS_SERIALLY, 1, 2}};
  static const uint32_t most[] = {0, 9, 7, 4, 3}; /* ranges an axis */
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    for (uint32_t count = kinds[k].least; count <= kinds[k].most; count++) {
      ms_grid grid = {.strategy = kinds[k].strategy, .count = count};
      grid.sequential = grid.strategy == MS_HYPERPLANE ? count - 1 : 0;
      uint32_t grids = 1;
      for (uint32_t d = 0; d < count; d++) grids *= most[count];
      for (uint32_t g = 0; g < grids; g++) {
        uint32_t rest = g;
        for (uint32_t d = 0; d < count; d++, rest /= most[count]) {
          grid.ranges[d] = 1 + rest % most[count];
        }
        check_small(&grid);
      }
    }
  }
}

/* Of 2^24 blocks: the first 2^16 of a worker, and another's last. */
static void check_large(void) {
  ms_grid grid = {.strategy = MS_ROTATE, .count = 2, .ranges = {4096, 4096}};
  static ms_owner owner[4096];
  ms_error err = {0};
  for (uint32_t r = 0; r < 4096; r++) owner[r] = (ms_owner){r / 1024, MS_WHOLE};
  ms_schedule *s = ms_schedule_new(&grid, owner, 4, &err);
  CHECK(s != NULL && s->count == 1u << 24);
  uint32_t block = MS_NO_BLOCK;
  bool right = true;
  for (uint32_t rank = 0; rank < 1u << 16; rank++) {
    block = ms_schedule_next(s, 2, block);
    right &= ms_schedule_rank(s, block) == rank;
  }
  CHECK(right);
  CHECK(ms_schedule_rank(s, ms_schedule_own(s, 3, (1u << 22) - 1)) == (1u << 22) - 1);
  ms_schedule_destroy(&s);
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
  static lists all;
  list_all(&grid, owner, &all);
  check_lists(s);
  double has[MOST_WORKERS] = {0}, share = (double)total / workers;
  uint32_t last = 0;
  bool follow = true;
  for (uint32_t r = 0; r < grid.ranges[0]; r++) {
    for (uint32_t i = 0; i < s->block_count; i++) {
      if (range_of(&grid, all.order[i], 0) != r) continue;
      uint32_t worker = all.owner[all.order[i]];
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
  check_all_small();
  check_large();
  check_refusals();
  return ms_test_end();
}
