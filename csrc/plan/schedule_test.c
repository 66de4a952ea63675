/* SPDX-License-Identifier: MIT
 *
 * What schedules say of a block - when it runs, where, before and after which - against lists of
 * all blocks: of all small grids, of parts of a plan, of ranges that are split; large grids;
 * refusals.
 */
#include "plan/schedule_lists.h"

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
  ms_grid_loads(&grid, load);
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
  seed_draws();
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
