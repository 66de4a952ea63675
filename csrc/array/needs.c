/* SPDX-License-Identifier: MIT
 *
 * Needs: see needs.h. */
#include "array/needs.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array/pending.h"

static atomic_uint_fast64_t last_id;

ms_needs *ms_needs_new(int64_t blocks, int64_t elements, ms_error *err) {
  ms_needs *needs = calloc(1, sizeof *needs);
  bool fits = blocks > 0 && elements >= 0 && (uint64_t)blocks < SIZE_MAX / sizeof *needs->start;
  if (needs != NULL && fits) needs->start = calloc((size_t)blocks + 1, sizeof *needs->start);
  if (needs == NULL || needs->start == NULL) {
    free(needs);
    ms_error_set(err, MS_ARR, "out of memory for what the blocks of a loop need");
    return NULL;
  }
  needs->id = atomic_fetch_add(&last_id, 1) + 1;
  needs->blocks = blocks;
  needs->elements = elements;
  return needs;
}

void ms_needs_free(ms_needs *needs) {
  if (needs == NULL) return;
  free(needs->start);
  free(needs->runs);
  free(needs);
}

/* Adds elements behind those of the list that begins at run `begin`. */
static int add_run(ms_needs *needs, int64_t begin, int64_t *end, int64_t first, int64_t count) {
  ms_span *last = *end > begin ? &needs->runs[*end - 1] : NULL;
  if (last != NULL && last->first + last->count == first) {
    last->count += count;
    return 0;
  }
  if (*end == needs->run_capacity) {
    int64_t capacity = needs->run_capacity < 64 ? 64 : needs->run_capacity * 2;
    ms_span *grown = realloc(needs->runs, (size_t)capacity * sizeof *grown);
    if (grown == NULL) return -1;
    needs->runs = grown;
    needs->run_capacity = capacity;
  }
  needs->runs[(*end)++] = (ms_span){first, count};
  return 0;
}

/* Adds the marked elements among `length` from `first` on. */
static int add_marked(ms_needs *needs, int64_t begin, int64_t *end, int64_t first,
                      const char *elements, int64_t length) {
  for (int64_t k = 0; k < length; k++) {
    double mark;
    memcpy(&mark, elements + (size_t)k * sizeof mark, sizeof mark);
    if (mark != 0 && add_run(needs, begin, end, first + k, 1) != 0) return -1;
  }
  return 0;
}

int ms_needs_add(ms_needs *needs, const char *bytes, size_t size, ms_error *err) {
  if (needs->filled == needs->blocks) return ms_error_set(err, MS_BUG, "needs of too many blocks");
  int64_t begin = needs->start[needs->filled], end = begin, first = 0, length = 0;
  size_t at = 0;
  int got;
  while ((got = ms_pending_next(bytes, size, needs->elements, &at, &first, &length, err)) > 0) {
    const char *elements = bytes + at - (size_t)length * sizeof(double);
    if (add_marked(needs, begin, &end, first, elements, length) != 0) {
      return ms_error_set(err, MS_ARR, "out of memory for what the blocks of a loop need");
    }
  }
  if (got < 0) return -1;
  needs->start[++needs->filled] = end;
  return 0;
}

int64_t ms_needs_count(const ms_needs *needs, int64_t block) {
  int64_t count = 0;
  if (block < 0 || block >= needs->filled) return 0;
  for (int64_t r = needs->start[block]; r < needs->start[block + 1]; r++) {
    count += needs->runs[r].count;
  }
  return count;
}
