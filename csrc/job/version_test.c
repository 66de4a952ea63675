/* SPDX-License-Identifier: MIT
 *
 * Versions: where the blocks of a round find the last one and the next; what a block does not
 * write, and what is left of one that is left out. */
#include "job/version.h"

#include "base/test.h"

enum { VALUES = 6, RANGES = 2, ROUNDS = 5, DEPTH = 2 };

static double start[VALUES], ring[DEPTH][VALUES];
static const double *last;
static double *next, *own;

static void fill(double *to, double value) {
  for (int v = 0; v < VALUES; v++) to[v] = value;
}

static ms_versions make(ms_version_array *array, ms_version_place *places, ms_layout *layout) {
  static void *memory[DEPTH] = {ring[0], ring[1]};
  *layout = (ms_layout){.dims = 2, .axis_count = 2};
  layout->extents[0] = (ms_range){1, ROUNDS, 1};
  layout->extents[1] = (ms_range){1, VALUES, 1};
  layout->axes[0] = ms_layout_cut(1, 1, ROUNDS, ROUNDS);
  layout->axes[1] = ms_layout_cut(1, 1, VALUES, RANGES);
  layout->axes[1].at = 2;
  *array = (ms_version_array){.start = start,
                              .ring = memory,
                              .depth = DEPTH,
                              .outer = 1,
                              .rows = VALUES,
                              .row = sizeof(double),
                              .scale = 1};
  places[0] = (ms_version_place){.at = (void **)(void *)&last};
  places[1] = (ms_version_place){.at = (void **)(void *)&next, .next = 1};
  places[2] = (ms_version_place){.at = (void **)(void *)&own, .next = 1, .own = 1, .offset = 8};
  return (ms_versions){.arrays = array,
                       .places = places,
                       .layout = layout,
                       .array_count = 1,
                       .place_count = 3,
                       .ranges = RANGES,
                       .at = 2};
}

/* Each round has the last one's elements, and another one of its own. */
static void test_rounds(ms_versions *versions) {
  for (int round = 0; round < ROUNDS; round++) {
    for (int r = 0; r < RANGES; r++) {
      ms_versions_begin(versions, (uint32_t)(round * RANGES + r));
      CHECK(next == ring[round % DEPTH]);
      CHECK(own == next + r + 1);
      CHECK(last == (round == 0 ? start : ring[(round - 1) % DEPTH]));
      CHECK(next[3 * r] == last[3 * r] && next[3 * r + 2] == last[3 * r + 2]);
      next[3 * r] = last[3 * r] + 1;
    }
  }
  for (int v = 0; v < VALUES; v++) CHECK(next[v] == (v % 3 == 0 ? ROUNDS : 0));
}

/* A range that is left out from some round on is what it was before, also where each round writes
 * all elements and nothing has to be copied. */
static void test_carried(ms_versions *versions, uint32_t steady) {
  versions->arrays->steady = steady;
  versions->filled = 0;
  for (int round = 0; round < ROUNDS; round++) {
    uint32_t block = (uint32_t)round * RANGES;
    ms_versions_begin(versions, block);
    for (int v = 0; v < 3; v++) next[v] = round + 1;
    if (round > 1) {
      next[2] = -1; /* half done, and then not */
      ms_versions_carry(versions, block);
    }
    for (int v = 0; v < 3; v++) CHECK(next[v] == (round < 2 ? round + 1 : 2));
  }
}

/* What a block makes anew is not copied before it, but where it is left out. */
static void test_anew(ms_versions *versions) {
  ms_version_array *array = versions->arrays;
  *array = (ms_version_array){.start = start,
                              .ring = array->ring,
                              .depth = DEPTH,
                              .outer = 1,
                              .rows = RANGES,
                              .row = 3 * sizeof(double),
                              .starts = (const int64_t[]){1, 2, 3},
                              .anew = sizeof(double)};
  versions->filled = 1;
  for (int v = 0; v < VALUES; v++) start[v] = 10 + v;
  fill(ring[0], -1);
  ms_versions_begin(versions, 1);
  CHECK(ring[0][3] == -1 && ring[0][4] == 14 && ring[0][5] == 15);
  for (int v = 0; v < 3; v++) CHECK(ring[0][v] == -1);
  ms_versions_carry(versions, 1);
  CHECK(ring[0][3] == 13 && ring[0][4] == 14);
}

int main(void) {
  ms_version_array array;
  ms_version_place places[3];
  ms_layout layout;
  ms_versions versions = make(&array, places, &layout);
  fill(start, 0);
  test_rounds(&versions);
  for (uint32_t steady = 0; steady < 2; steady++) {
    fill(start, 0);
    test_carried(&versions, steady);
  }
  test_anew(&versions);
  return ms_test_end();
}
