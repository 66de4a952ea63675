/* SPDX-License-Identifier: MIT
 *
 * Needs: see needs.h. On its way a run is two numbers, the gap since the last one's end and its
 * length, in groups of 7 bits, the lowest first; the last group has its high bit clear. */
#include "plan/needs.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 8 /* elements that are looked at together where there are no marks */

/* ---- marks ---- */

/* Whether AT_ONCE elements are zero. */
static bool are_zero(const double *marks) {
  uint64_t word[AT_ONCE], any = 0;
  memcpy(word, marks, sizeof word);
  for (int k = 0; k < AT_ONCE; k++) any |= word[k];
  return any << 1 == 0; /* -0 is zero */
}

/* The next run from element `first` on, its end in `*end`; `count` when there is none. */
static int64_t find_run(const double *marks, int64_t count, int64_t first, int64_t *end) {
  for (;;) {
    while (count - first >= AT_ONCE && are_zero(marks + first)) first += AT_ONCE;
    int64_t stop = count - first >= AT_ONCE ? first + AT_ONCE : count;
    while (first < stop && marks[first] == 0) first++;
    if (first == count || marks[first] != 0) break;
  }
  *end = first;
  while (*end < count && marks[*end] != 0) ++*end;
  return first;
}

static char *write_number(char *out, uint64_t number) {
  for (; number >= 128; number >>= 7) *out++ = (char)(unsigned char)(number | 128);
  *out++ = (char)(unsigned char)number;
  return out;
}

/* A number takes no more bytes than it counts elements, but for a first gap of 0. */
size_t ms_marks_take(double *marks, int64_t count, char *out) {
  char *at = out;
  int64_t last = 0, end, first = find_run(marks, count, 0, &end);
  for (; first < count; first = find_run(marks, count, end, &end)) {
    at = write_number(at, (uint64_t)(first - last));
    at = write_number(at, (uint64_t)(end - first));
    memset(marks + first, 0, (size_t)(end - first) * sizeof *marks);
    last = end;
  }
  return (size_t)(at - out);
}

/* ---- lists ---- */

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

/* Reads a number and moves on: 0, or -1 where none is. */
static int read_number(const char **at, const char *end, int64_t *number) {
  uint64_t value = 0;
  for (int shift = 0; *at < end && shift < 63; shift += 7) {
    unsigned char byte = (unsigned char)*(*at)++;
    value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) {
      *number = (int64_t)value;
      return 0;
    }
  }
  return -1;
}

static int keep_run(ms_needs *needs, int64_t at, ms_span run) {
  if (at == needs->run_capacity) {
    int64_t capacity = at < 64 ? 64 : at * 2;
    ms_span *grown = realloc(needs->runs, (size_t)capacity * sizeof *grown);
    if (grown == NULL) return -1;
    needs->runs = grown;
    needs->run_capacity = capacity;
  }
  needs->runs[at] = run;
  return 0;
}

int ms_needs_add(ms_needs *needs, const char *bytes, size_t size, ms_error *err) {
  if (needs->filled == needs->blocks) return ms_error_set(err, MS_BUG, "needs of too many blocks");
  int64_t last = 0, at = needs->start[needs->filled];
  for (const char *next = bytes, *end = bytes + size; next < end;) {
    int64_t gap, count;
    if (read_number(&next, end, &gap) != 0 || read_number(&next, end, &count) != 0 || count == 0 ||
        gap > needs->elements - last || count > needs->elements - last - gap) {
      return ms_error_set(err, MS_BUG, "what a block left for a prefetch is malformed");
    }
    if (keep_run(needs, at++, (ms_span){last + gap, count}) != 0) {
      return ms_error_set(err, MS_ARR, "out of memory for what the blocks of a loop need");
    }
    last += gap + count;
  }
  needs->start[++needs->filled] = at;
  return 0;
}
