/* SPDX-License-Identifier: MIT
 *
 * Index lists against sets of elements: unions of what blocks need, values by way of a list
 * between arrays of other strides, lists that are no lists. */
#include "job/index_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/test.h"

enum { BLOCKS = 12, ROWS = 400, COLUMNS = 270, ELEMENTS = ROWS * COLUMNS };

static uint64_t state = 7;
static uint32_t most_parts; /* of a list */

static int64_t pick(int64_t most) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)most);
}

/* Random needs; needed[b][k]: block b needs element k. */
static ms_needs *make_needs(bool needed[BLOCKS][ELEMENTS]) {
  static double marks[ELEMENTS];
  static char bytes[ELEMENTS + 1];
  ms_error err = {0};
  ms_needs *needs = ms_needs_new(BLOCKS, ELEMENTS, &err);
  for (int b = 0; b < BLOCKS; b++) {
    int64_t density = 1 + pick(100);
    for (int k = 0; k < ELEMENTS; k++) {
      needed[b][k] = pick(density) == 0;
      marks[k] = needed[b][k];
    }
    size_t size = ms_needs_take(marks, ELEMENTS, bytes);
    CHECK(ms_needs_add(needs, bytes, size, &err) == 0);
  }
  return needs;
}

static ms_schedule *make_schedule(uint32_t workers, uint32_t first, uint32_t last) {
  ms_grid grid = {.strategy = MS_INDEPENDENT, .count = 1, .ranges = {BLOCKS}};
  grid.first = first;
  grid.last = last;
  ms_owner owner[BLOCKS];
  ms_error err = {0};
  for (uint32_t r = 0; r < BLOCKS; r++) {
    owner[r] = (ms_owner){r * workers / BLOCKS, MS_WHOLE};
  }
  return ms_schedule_new(&grid, owner, workers, &err);
}

/* A part has exactly what the worker's blocks from its position to that of the next one need, and
 * no part before it has; ascending, in as few runs as can be. */
static void check_part(const ms_index_list *indices, uint32_t p, const ms_schedule *schedule,
                       uint32_t worker, bool needed[BLOCKS][ELEMENTS], bool seen[ELEMENTS]) {
  const ms_index_list_part *part = &indices->part[p];
  bool last = p + 1 == indices->part_count;
  int64_t run = part->begin.run, end = last ? indices->run_count : indices->part[p + 1].begin.run;
  uint32_t until = last ? UINT32_MAX : indices->part[p + 1].position, number = 0;
  static bool set[ELEMENTS];
  memset(set, 0, sizeof set);
  for (uint32_t k = 0; k < schedule->count; k++) {
    uint32_t block = schedule->first + k;
    if (ms_schedule_owner(schedule, block) != worker) continue;
    for (int e = 0; e < ELEMENTS && number >= part->position && number < until; e++)
      set[e] = set[e] || (needed[block][e] && !seen[e]);
    number++;
  }
  int64_t count = 0, at = -1;
  CHECK(part->begin.offset == 0 && part->elements > 0);
  for (int64_t r = run; r < end; r++) {
    CHECK(indices->runs[r].first > at);
    at = indices->runs[r].first + indices->runs[r].count;
    for (int64_t e = indices->runs[r].first; e < at; e++, count++) {
      CHECK(set[e]);
      seen[e] = true;
    }
  }
  CHECK(count == part->elements);
  for (int e = 0; e < ELEMENTS; e++) count -= set[e];
  CHECK(count == 0);
}

/* All parts together are what the worker's blocks need. */
static void check_list(const ms_index_list *indices, const ms_schedule *schedule, uint32_t worker,
                       bool needed[BLOCKS][ELEMENTS]) {
  static bool seen[ELEMENTS];
  memset(seen, 0, sizeof seen);
  int64_t total = 0;
  CHECK(indices->part_count <= MS_INDEX_LIST_PARTS);
  most_parts = indices->part_count > most_parts ? indices->part_count : most_parts;
  for (uint32_t p = 0; p < indices->part_count; p++) {
    CHECK(p == 0 || indices->part[p].position > indices->part[p - 1].position);
    check_part(indices, p, schedule, worker, needed, seen);
    total += indices->part[p].elements;
  }
  CHECK(indices->elements == total);
  for (uint32_t k = 0; k < schedule->count; k++) {
    uint32_t block = schedule->first + k;
    if (ms_schedule_owner(schedule, block) != worker) continue;
    for (int e = 0; e < ELEMENTS; e++) CHECK(seen[e] || !needed[block][e]);
  }
}

static const ms_operand dense = {
    .element = 8, .dim_count = 2, .dims = {ROWS, COLUMNS}, .strides = {COLUMNS, 1}};
static const ms_operand transposed = {
    .element = 8, .dim_count = 2, .dims = {ROWS, COLUMNS}, .strides = {1, ROWS}};

/* Sends the list's values from a transposed array to a dense one, in pieces. */
static void check_values(const ms_index_list *indices) {
  static double from[ELEMENTS], to[ELEMENTS], packed[ELEMENTS];
  for (int k = 0; k < ELEMENTS; k++) from[k] = k, to[k] = -1;
  ms_elements source = ms_elements_of(&transposed, from, false);
  ms_elements target = ms_elements_of(&dense, to, true);
  ms_index_list_place place = {0};
  for (int64_t sent = 0; sent < indices->elements;) {
    int64_t left = indices->elements - sent, take = 1 + pick(left < 5000 ? left : 5000);
    ms_index_list_place before = place;
    ms_index_list_gather(indices->runs, indices->run_count, &source, &place, take, packed);
    CHECK(ms_index_list_scatter(indices->runs, indices->run_count, &target, before, take, packed) ==
          0);
    sent += take;
  }
  static bool listed[ELEMENTS];
  memset(listed, 0, sizeof listed);
  for (int64_t r = 0; r < indices->run_count; r++)
    memset(listed + indices->runs[r].first, 1, (size_t)indices->runs[r].count);
  for (int k = 0; k < ELEMENTS; k++)
    CHECK(to[k] == (listed[k] ? k / COLUMNS + k % COLUMNS * ROWS : -1));
}

static void test_lists(void) {
  static bool needed[BLOCKS][ELEMENTS];
  ms_needs *needs = make_needs(needed), *others = make_needs(needed);
  ms_needs_free(needs);
  uint32_t workers = 1 + (uint32_t)pick(4), first = (uint32_t)pick(BLOCKS - 2);
  uint32_t last = first + 2 + (uint32_t)pick(BLOCKS - 1 - first);
  ms_schedule *schedule = make_schedule(workers, first, last);
  ms_schedule *more = make_schedule(workers + 1, first, last);
  ms_schedule *part = make_schedule(workers, first, last == BLOCKS ? last - 1 : last + 1);
  CHECK(schedule != NULL && more != NULL && part != NULL);
  for (uint32_t w = 0; w < workers; w++) {
    ms_index_list *indices = ms_index_list_new(others, schedule, w);
    CHECK(indices != NULL && indices->copy >= MS_INDEX_LIST_COPIES);
    check_list(indices, schedule, w, needed);
    check_values(indices);
    CHECK(ms_index_list_is(indices, others->id, schedule));
    CHECK(!ms_index_list_is(indices, others->id + 1, schedule));
    CHECK(!ms_index_list_is(indices, others->id, more));
    CHECK(!ms_index_list_is(indices, others->id, part));
    ms_index_list_free(indices);
  }
  ms_schedule_destroy(&schedule);
  ms_schedule_destroy(&more);
  ms_schedule_destroy(&part);
  ms_needs_free(others);
}

/* What a worker is sent is believed only as far as it fits. */
static void test_refused(void) {
  static double to[ELEMENTS], in[ELEMENTS];
  ms_elements target = ms_elements_of(&dense, to, true);
  const struct {
    ms_span run;
    ms_index_list_place place;
    int64_t count;
  } bad[] = {{{UINT32_MAX, 5}, {0, 0}, 1}, {{0, 0}, {0, 0}, 1},
             {{ELEMENTS, 1}, {0, 0}, 1},   {{1, ELEMENTS}, {0, 0}, 1},
             {{0, 5}, {1, 0}, 1},          {{UINT32_MAX, UINT32_MAX}, {0, 0}, 1},
             {{0, 5}, {-1, 0}, 1},         {{0, 5}, {0, 5}, 1},
             {{0, 5}, {0, -1}, 1},         {{0, 5}, {0, 3}, 3}};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
    CHECK(ms_index_list_scatter(&bad[k].run, 1, &target, bad[k].place, bad[k].count, in) == -1);
}

int main(void) {
  for (int round = 0; round < 20; round++) test_lists();
  CHECK(most_parts == MS_INDEX_LIST_PARTS);
  test_refused();
  return ms_test_end();
}
