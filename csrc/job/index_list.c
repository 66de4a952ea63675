/* SPDX-License-Identifier: MIT
 *
 * Index lists: see index_list.h. */
#include "job/index_list.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define WORD          64
#define PART_ELEMENTS 16384 /* less is not worth a part of its own */

static atomic_uint_fast64_t last_copy;

static uint32_t space_ranges(const ms_schedule *schedule) {
  return schedule->grid.ranges[ms_grid_space(&schedule->grid)];
}

/* Marks elements first .. first + count. */
static void mark(uint64_t *bits, int64_t first, int64_t count) {
  for (int64_t at = first, end = first + count; at < end;) {
    int64_t from = at % WORD, take = WORD - from < end - at ? WORD - from : end - at;
    uint64_t ones = take == WORD ? ~UINT64_C(0) : (UINT64_C(1) << take) - 1;
    bits[at / WORD] |= ones << from;
    at += take;
  }
}

/* Marks what the worker's blocks number first .. end need, in the order in which it runs them;
 * how many blocks it has. */
static uint32_t mark_blocks(uint64_t *bits, const ms_needs *needs, const ms_schedule *schedule,
                            uint32_t worker, uint32_t first, uint32_t end) {
  uint32_t share = ms_schedule_share(schedule, worker);
  uint32_t block = ms_schedule_own(schedule, worker, first);
  for (uint32_t number = first; number < end && number < share; number++) {
    ms_element_walk walk = ms_element_lists_walk(&needs->lists, block);
    for (ms_span run; ms_element_walk_next(&walk, &run);) mark(bits, run.first, run.count);
    block = ms_schedule_next(schedule, worker, block);
  }
  return share;
}

/* The first element from `at` on whose bit is `set`, at most `end`. */
static int64_t seek(const uint64_t *bits, int64_t at, int64_t end, bool set) {
  while (at < end) {
    uint64_t word = (set ? bits[at / WORD] : ~bits[at / WORD]) >> at % WORD;
    if (word != 0) {
      at += __builtin_ctzll(word);
      return at < end ? at : end;
    }
    at += WORD - at % WORD;
  }
  return end;
}

/* Adds the runs of marked elements to the list; how many elements they have, -1 without memory. */
static int64_t list_runs(ms_index_list *indices, const uint64_t *bits, int64_t elements) {
  int64_t total = 0;
  for (int64_t at = seek(bits, 0, elements, true); at < elements;) {
    int64_t end = seek(bits, at, elements, false);
    if (indices->run_count == indices->run_capacity) {
      int64_t capacity = indices->run_capacity < 64 ? 64 : indices->run_capacity * 2;
      ms_span *grown = realloc(indices->runs, (size_t)capacity * sizeof *grown);
      if (grown == NULL) return -1;
      indices->runs = grown;
      indices->run_capacity = capacity;
    }
    indices->runs[indices->run_count++] = (ms_span){(uint32_t)at, (uint32_t)(end - at)};
    total += end - at;
    at = seek(bits, end, elements, true);
  }
  return total;
}

/* Adds what the blocks number first .. end need and is not `seen` yet as a part. */
static int add_part(ms_index_list *indices, uint64_t *fresh, uint64_t *seen, const ms_needs *needs,
                    const ms_schedule *schedule, uint32_t worker, uint32_t first, uint32_t end) {
  size_t words = (size_t)(needs->lists.elements / WORD) + 1;
  memset(fresh, 0, words * sizeof *fresh);
  mark_blocks(fresh, needs, schedule, worker, first, end);
  for (size_t w = 0; w < words; w++) {
    fresh[w] &= ~seen[w];
    seen[w] |= fresh[w];
  }
  ms_index_list_part *part = &indices->part[indices->part_count];
  *part = (ms_index_list_part){.position = first, .begin = {.run = indices->run_count}};
  part->elements = list_runs(indices, fresh, needs->lists.elements);
  if (part->elements < 0) return -1;
  indices->elements += part->elements;
  if (part->elements > 0) indices->part_count++;
  return 0;
}

/* A list is cut only where much has to travel, and then between blocks. */
static uint32_t parts_of(int64_t elements, uint32_t blocks) {
  uint32_t parts = elements < PART_ELEMENTS * MS_INDEX_LIST_PARTS
                       ? (uint32_t)(elements / PART_ELEMENTS) + 1
                       : MS_INDEX_LIST_PARTS;
  return parts < blocks ? parts : blocks;
}

static int fill(ms_index_list *indices, const ms_needs *needs, const ms_schedule *schedule,
                uint32_t worker) {
  size_t words = (size_t)(needs->lists.elements / WORD) + 1;
  uint64_t *bits = calloc(2 * words, sizeof *bits), *seen = bits + words;
  if (bits == NULL) return -1;
  uint32_t blocks = mark_blocks(bits, needs, schedule, worker, 0, UINT32_MAX);
  int64_t elements = 0;
  for (size_t w = 0; w < words; w++) elements += __builtin_popcountll(bits[w]);
  uint32_t parts = parts_of(elements, blocks);
  int failed = 0;
  for (uint32_t p = 0; p < parts && failed == 0; p++) {
    uint32_t first = (uint32_t)((uint64_t)blocks * p / parts);
    uint32_t end = (uint32_t)((uint64_t)blocks * (p + 1) / parts);
    failed = add_part(indices, bits, seen, needs, schedule, worker, first, end);
  }
  free(bits);
  return failed;
}

ms_index_list *ms_index_list_new(const ms_needs *needs, const ms_schedule *schedule,
                                 uint32_t worker) {
  ms_index_list *indices = calloc(1, sizeof *indices);
  if (indices == NULL) return NULL;
  indices->needs = needs->id;
  indices->copy = MS_INDEX_LIST_COPIES + atomic_fetch_add(&last_copy, 1);
  indices->grid = schedule->grid;
  indices->owner = calloc(space_ranges(schedule), sizeof *indices->owner);
  if (indices->owner == NULL || fill(indices, needs, schedule, worker) != 0) {
    ms_index_list_free(indices);
    return NULL;
  }
  memcpy(indices->owner, schedule->range_owner, space_ranges(schedule) * sizeof *indices->owner);
  return indices;
}

bool ms_index_list_is(const ms_index_list *indices, uint64_t needs, const ms_schedule *schedule) {
  return indices->needs == needs &&
         memcmp(&indices->grid, &schedule->grid, sizeof indices->grid) == 0 &&
         memcmp(indices->owner, schedule->range_owner,
                space_ranges(schedule) * sizeof *indices->owner) == 0;
}

void ms_index_list_free(ms_index_list *indices) {
  if (indices == NULL) return;
  free(indices->owner);
  free(indices->runs);
  free(indices);
}

/* Moves past `count` elements of a run of `length`. */
static void move_on(ms_index_list_place *place, int64_t length, int64_t count) {
  place->offset += count;
  if (place->offset < length) return;
  place->run++;
  place->offset = 0;
}

/* Runs whose memory is fetched ahead: it may lie anywhere. */
#define AHEAD 16

static void fetch(const ms_span *runs, int64_t run_count, int64_t run, const unsigned char *row,
                  size_t element) {
  if (row != NULL && run + AHEAD < run_count)
    __builtin_prefetch(row + runs[run + AHEAD].first * element, 1);
}

void ms_index_list_gather(const ms_span *runs, int64_t run_count, const ms_elements *all,
                          ms_index_list_place *place, int64_t count, void *out) {
  unsigned char *to = out;
  unsigned char *row = ms_elements_in_a_row(all); /* then a run needs no walk */
  size_t element = all->operand->element;
  while (count > 0) {
    const ms_span *run = &runs[place->run];
    int64_t left = run->count - place->offset, take = left < count ? left : count;
    int64_t first = run->first + place->offset;
    fetch(runs, run_count, place->run, row, element);
    if (row != NULL) {
      ms_elements_copy(to, row + (size_t)first * element, element, take);
    } else {
      ms_elements_gather(all, first, take, to);
    }
    to += (size_t)take * element;
    count -= take;
    move_on(place, run->count, take);
  }
}

int ms_index_list_scatter(const ms_span *runs, int64_t run_count, const ms_elements *all,
                          ms_index_list_place place, int64_t count, const void *in) {
  const unsigned char *from = in;
  int64_t room = ms_operand_elements(all->operand);
  unsigned char *row = ms_elements_in_a_row(all); /* then a run needs no walk */
  size_t element = all->operand->element;
  while (count > 0) {
    if (place.run < 0 || place.run >= run_count || place.offset < 0) return -1;
    const ms_span *run = &runs[place.run];
    if (run->count == 0 || run->first > room || run->count > room - run->first ||
        place.offset >= run->count) {
      return -1;
    }
    int64_t left = run->count - place.offset, take = left < count ? left : count;
    int64_t first = run->first + place.offset;
    fetch(runs, run_count, place.run, row, element);
    if (row != NULL) {
      ms_elements_copy(row + (size_t)first * element, from, element, take);
    } else {
      ms_elements_scatter(all, first, take, from);
    }
    from += (size_t)take * element;
    count -= take;
    move_on(&place, run->count, take);
  }
  return 0;
}
