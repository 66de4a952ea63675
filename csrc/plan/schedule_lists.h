/* SPDX-License-Identifier: MIT
 *
 * For tests of schedules: lists of all blocks, made from the strategies' definitions alone, and
 * schedules against them. */
#ifndef MS_PLAN_SCHEDULE_LISTS_H
#define MS_PLAN_SCHEDULE_LISTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test.h"
#include "plan/schedule.h"

#define MOST_WORKERS 8
#define MOST_BLOCKS  320

static uint64_t state;

/* Seeds the draws: MEISSA_TEST_SEED replays a run. */
static void seed_draws(void) {
  const char *seed = getenv("MEISSA_TEST_SEED");
  state = seed != NULL ? strtoull(seed, NULL, 10) : 20240607u;
  printf("MEISSA_TEST_SEED=%llu\n", (unsigned long long)state);
}

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

static bool has_chains(const ms_grid *grid, uint32_t axis) {
  if (grid->strategy == MS_ROTATE || grid->strategy == MS_WAVEFRONT) return true;
  return axis == 0 && (grid->strategy == MS_PARTITION || grid->strategy == MS_SERIALLY);
}

/* Fills in who follows whom in the chains of an axis. */
static void list_chains(const ms_grid *grid, uint32_t axis, uint32_t first, uint32_t end,
                        lists *all) {
  uint32_t last[MOST_BLOCKS];
  memset(last, 255, sizeof last);
  for (uint32_t i = first; i < end && has_chains(grid, axis); i++) {
    uint32_t block = all->order[i];
    uint32_t range = grid->strategy == MS_SERIALLY ? 0 : range_of(grid, block, axis);
    all->before[block][axis] = last[range];
    if (last[range] != MS_NO_BLOCK) all->after[last[range]][axis] = block;
    last[range] = block;
  }
}

/* Fills the lists of a grid whose ranges have these owners. */
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

/* Which workers have the first and the last block of each range. */
static void check_users(const ms_schedule *s, const lists *all) {
  bool users = true;
  for (uint32_t axis = 0; axis < s->grid.count; axis++) {
    for (uint32_t range = 0; range <= s->grid.ranges[axis]; range++) {
      uint32_t head = UINT32_MAX, tail = UINT32_MAX;
      for (uint32_t i = s->first; i < s->first + s->count; i++) {
        if (range_of(&s->grid, all->order[i], axis) != range) continue;
        tail = all->owner[all->order[i]];
        if (head == UINT32_MAX) head = tail;
      }
      users &= ms_schedule_first_user(s, axis, range) == head;
      users &= ms_schedule_last_user(s, axis, range) == tail;
    }
  }
  CHECK(users);
}

/* Whether a neighbour along an axis is told; one of the same worker need not be. */
static bool neighbour_is_right(const lists *all, uint32_t block, uint32_t told, uint32_t listed) {
  if (told != MS_NO_BLOCK) return told == listed;
  return listed == MS_NO_BLOCK || all->owner[listed] == all->owner[block];
}

static bool edges_are_right(const ms_schedule *s, const lists *all, uint32_t block) {
  bool right = true;
  for (uint32_t e = 0; e < s->grid.count; e++) {
    bool has = e < ms_schedule_edges(s);
    uint32_t before = has ? ms_schedule_before(s, block, e) : MS_NO_BLOCK;
    uint32_t after = has ? ms_schedule_after(s, block, e) : MS_NO_BLOCK;
    right &= neighbour_is_right(all, block, before, all->before[block][e]);
    right &= neighbour_is_right(all, block, after, all->after[block][e]);
  }
  return right;
}

/* Checks that the schedule says of each block, and of each worker's blocks, what the lists say. */
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
    edges &= s->phase_blocks > 0 || edges_are_right(s, &all, block);
  }
  for (uint32_t w = 0; w < s->workers; w++) {
    owns &= ms_schedule_share(s, w) == own[w];
    owns &= ms_schedule_own(s, w, own[w]) == MS_NO_BLOCK;
    owns &= ms_schedule_next(s, w, last[w]) == MS_NO_BLOCK;
  }
  CHECK(right);
  CHECK(edges);
  CHECK(owns);
  check_users(s, &all);
}

/* Gives some ranges a second owner, where the grid allows it. */
static void split_some(const ms_grid *grid, uint32_t workers, ms_owner *owner) {
  if (grid->strategy == MS_HYPERPLANE) return;
  for (uint32_t r = 0; r < 16; r++) {
    if (owner[r].worker + 1 < workers && pick(3) == 0) owner[r].blocks = pick(4);
  }
}

#endif
