/* SPDX-License-Identifier: MIT
 *
 * Schedules wait for what the gate says: rotations, wavefronts and phases are rounds, exact and
 * with a version for each, in which a range reads what its ranges of the round before have handed
 * on.
 *
 *   phases      round t: all ranges of phase t, which read everything within their reach
 *   rotation    round s: range p of the space axis with range (p + s) mod n of the other, which
 *               range p + 1 had in the round before
 *   wavefront   round a + b: range a with range b, after (a - 1, b) and (a, b - 1), which are of
 * the round before
 *
 * For random grids and owners, what another worker has to have finished before a block begins is
 * the same block by both; where the gate waits for a range that has nothing to do in that round,
 * the schedule waits for nobody. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test.h"
#include "plan/schedule.h"
#include "sync/gate.h"

#define MOST_RANGES  12u
#define MOST_WORKERS 8u
#define MOST_ROUNDS  (2 * MOST_RANGES)

static uint64_t state;

static uint32_t pick(uint32_t most) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % most;
}

/* A block's round, from 1, and its number among those of a round. */
typedef struct place {
  int64_t round;
  uint32_t range;
} place;

static place place_of(const ms_grid *grid, uint32_t block) {
  uint32_t a = ms_grid_range(grid, block, 0), b = ms_grid_range(grid, block, 1),
           n = grid->ranges[0];
  if (grid->strategy == MS_HYPERPLANE) return (place){(int64_t)a + 1, b};
  if (grid->strategy == MS_ROTATE) return (place){(b + n - a) % n + 1, a};
  return (place){(int64_t)a + b + 1, a};
}

/* What a range reads of the round before. */
static bool reads(const ms_grid *grid, uint32_t range, uint32_t other) {
  if (grid->strategy == MS_HYPERPLANE) {
    uint32_t reach = grid->reach[other > range ? 1 : 0];
    return reach == 0 || (other > range ? other - range : range - other) < reach;
  }
  if (grid->strategy == MS_ROTATE) {
    return other == range || other == (range + 1) % grid->ranges[0];
  }
  return other == range || other + 1 == range;
}

static uint32_t width_of(const ms_grid *grid) {
  return grid->strategy == MS_HYPERPLANE ? grid->ranges[1] : grid->ranges[0];
}

static ms_gate *make_gate(const ms_grid *grid, const ms_owner *owners, uint32_t workers) {
  uint32_t owner[MOST_RANGES], members[MOST_RANGES * MOST_RANGES], width = width_of(grid);
  uint64_t first[MOST_RANGES + 1] = {0};
  for (uint32_t r = 0; r < width; r++) {
    owner[r] = owners[r].worker;
    first[r + 1] = first[r];
    for (uint32_t other = 0; other < width; other++) {
      if (reads(grid, r, other)) members[first[r + 1]++] = other;
    }
  }
  ms_gate_sets sets = {.workers = workers,
                       .blocks = width,
                       .ranges = width,
                       .owner = owner,
                       .read_first = first,
                       .reads = members};
  ms_gate_setting setting = {0};
  ms_error err = {0};
  CHECK(ms_gate_setting_find(NULL, MS_GATE_UNSAID, MOST_ROUNDS + 1, &setting, &err) == 0);
  ms_gate *gate = ms_gate_new(&setting, &sets, &err);
  CHECK(gate != NULL);
  return gate;
}

/* The block that is a worker's number `count` in rounds, from 1. */
static place counted(const ms_gate *gate, uint32_t worker, uint64_t count) {
  uint32_t share = gate->share[worker];
  place found = {(int64_t)((count - 1) / share) + 1, 0};
  for (uint32_t r = 0; r < gate->blocks; r++) {
    if (gate->owner[r] == worker && gate->place[r] == (count - 1) % share) found.range = r;
  }
  return found;
}

/* The last block of each worker that a block waits for, by the schedule: its count in rounds; 0:
 * none. */
static void by_schedule(const ms_schedule *s, const ms_gate *gate, uint32_t block,
                        uint64_t *counts) {
  for (uint32_t e = 0; e < ms_schedule_edges(s); e++) {
    uint32_t before = ms_schedule_before(s, block, e);
    if (before == MS_NO_BLOCK) continue;
    uint32_t worker = ms_schedule_owner(s, before);
    place at = place_of(&s->grid, before);
    uint64_t count = ms_gate_before(gate, at.range, at.round) + 1;
    if (worker != ms_schedule_owner(s, block) && count > counts[worker]) counts[worker] = count;
  }
}

static bool is_there(const ms_schedule *s, place at) {
  for (uint32_t block = 0; block < s->block_count; block++) {
    place other = place_of(&s->grid, block);
    if (other.round == at.round && other.range == at.range) return true;
  }
  return false;
}

/* How many waits there are. */
static uint32_t compare(const ms_schedule *s, const ms_gate *gate) {
  uint32_t waits = 0;
  for (uint32_t block = 0; block < s->block_count; block++) {
    uint64_t expected[MOST_WORKERS] = {0}, got[MOST_WORKERS] = {0};
    size_t count;
    place at = place_of(&s->grid, block);
    const ms_gate_term *terms = ms_gate_terms(gate, MS_GATE_READ, at.range, &count);
    for (size_t k = 0; k < count; k++) {
      int64_t needed = ms_gate_count(&terms[k], at.round);
      if (needed <= 0 || !is_there(s, counted(gate, terms[k].worker, (uint64_t)needed))) continue;
      got[terms[k].worker] = (uint64_t)needed;
      waits++;
    }
    by_schedule(s, gate, block, expected);
    CHECK(memcmp(got, expected, sizeof got) == 0);
  }
  return waits;
}

static void draw_owners(ms_owner *owners, uint32_t ranges, uint32_t workers) {
  uint32_t worker = 0;
  for (uint32_t r = 0; r < ranges; r++) {
    if (r > 0 && worker + 1 < workers && pick(2) == 1) worker++;
    owners[r] = (ms_owner){.worker = worker, .blocks = MS_WHOLE};
  }
}

int main(void) {
  static const ms_strategy STRATEGIES[] = {MS_HYPERPLANE, MS_ROTATE, MS_WAVEFRONT};
  uint32_t waits[3] = {0};
  const char *seed = getenv("MEISSA_TEST_SEED");
  state = seed != NULL ? strtoull(seed, NULL, 10) : 20261126u;
  printf("MEISSA_TEST_SEED=%llu\n", (unsigned long long)state);
  for (uint32_t n = 0; n < 3000; n++) {
    ms_owner owners[MOST_RANGES];
    ms_grid grid = {.strategy = STRATEGIES[n % 3], .count = 2};
    grid.ranges[0] = 2 + pick(MOST_RANGES - 1);
    grid.ranges[1] = grid.strategy == MS_ROTATE ? grid.ranges[0] : 2 + pick(MOST_RANGES - 1);
    if (grid.strategy == MS_HYPERPLANE) {
      grid.sequential = 1;
      for (int side = 0; side < 2; side++) grid.reach[side] = pick(4);
    }
    uint32_t workers = 2 + pick(MOST_WORKERS - 1);
    draw_owners(owners, width_of(&grid), workers);
    ms_error err = {0};
    ms_schedule *s = ms_schedule_new(&grid, owners, workers, &err);
    CHECK(s != NULL);
    if (s != NULL && !s->alone) {
      ms_gate *gate = make_gate(&grid, owners, workers);
      waits[n % 3] += compare(s, gate);
      ms_gate_destroy(&gate);
    }
    ms_schedule_destroy(&s);
  }
  for (uint32_t k = 0; k < 3; k++) CHECK(waits[k] > 1000);
  return ms_test_end();
}
