/* SPDX-License-Identifier: MIT
 *
 * Pending: see pending.h. A run is a head and the elements behind it. */
#include "array/pending.h"

#include <stdbool.h>

#include <string.h>

typedef struct run_head {
  int64_t first, length;
} run_head;

/* Zeros between two runs are cheaper sent than a head. */
#define GAP ((int64_t)(sizeof(run_head) / sizeof(double)))

/* Elements that are looked at together. */
#define STRIDE ((int64_t)32)

/* Whether the elements from here on are all 0 in every bit. */
static bool is_clear(const double *pending) {
  uint64_t bits[STRIDE], any = 0;
  memcpy(bits, pending, sizeof bits);
  for (int64_t k = 0; k < STRIDE; k++) any |= bits[k];
  return any == 0;
}

/* Finds the next run from `first` on: its beginning, with its end in `*end`; `count` at the end.
 * What it passes over is made 0 in every bit: a -0 is no element. */
static int64_t find_run(double *pending, int64_t count, int64_t first, int64_t *end) {
  while (first < count && pending[first] == 0) {
    while (count - first >= STRIDE && is_clear(pending + first)) first += STRIDE;
    for (int64_t k = 0; k < STRIDE && first < count && pending[first] == 0; k++) {
      pending[first++] = 0;
    }
  }
  *end = first;
  for (int64_t k = first; k < count && k - *end <= GAP; k++) {
    if (pending[k] != 0) *end = k + 1; /* nan too */
  }
  return first;
}

size_t ms_pending_take(double *pending, int64_t count, char *out) {
  size_t size = 0;
  int64_t end, first = find_run(pending, count, 0, &end);
  for (; first < count; first = find_run(pending, count, end, &end)) {
    run_head head = {.first = first, .length = end - first};
    size_t bytes = (size_t)head.length * sizeof *pending;
    memcpy(out + size, &head, sizeof head);
    memcpy(out + size + sizeof head, pending + first, bytes);
    memset(pending + first, 0, bytes);
    size += sizeof head + bytes;
  }
  return size;
}

/* Reads where the run at `*at` of the bytes lies, and moves on behind its elements: 1 read, 0 at
 * the end, -1 with MS_BUG. */
static int next_run(const char *bytes, size_t size, int64_t count, size_t *at, int64_t *first,
                    int64_t *length, ms_error *err) {
  run_head head;
  if (*at == size) return 0;
  bool whole = *at < size && size - *at >= sizeof head;
  if (whole) memcpy(&head, bytes + *at, sizeof head);
  size_t room = whole ? (size - *at - sizeof head) / sizeof(double) : 0;
  if (!whole || head.first < 0 || head.length <= 0 || head.first > count ||
      head.length > count - head.first || (uint64_t)head.length > room) {
    return ms_error_set(err, MS_BUG, "what a block left for a buffer is malformed");
  }
  *first = head.first;
  *length = head.length;
  *at += sizeof head + (size_t)head.length * sizeof(double);
  return 1;
}

/* Element k of the run that ends before `end` and has `length`. */
static double element(const char *end, int64_t length, int64_t k) {
  double each;
  memcpy(&each, end - (size_t)(length - k) * sizeof each, sizeof each);
  return each;
}

int ms_pending_add(double *sum, int64_t count, const char *bytes, size_t size, ms_error *err) {
  size_t next = 0;
  int64_t first = 0, length = 0;
  int got;
  while ((got = next_run(bytes, size, count, &next, &first, &length, err)) > 0) {
    for (int64_t k = 0; k < length; k++) {
      double each = element(bytes + next, length, k);
      if (each != 0) sum[first + k] += each;
    }
  }
  return got;
}

int64_t ms_pending_list(const char *bytes, size_t size, int64_t count, int64_t *at, double *value,
                        ms_error *err) {
  size_t next = 0;
  int64_t first = 0, length = 0, listed = 0;
  int got;
  while ((got = next_run(bytes, size, count, &next, &first, &length, err)) > 0) {
    for (int64_t k = 0; k < length; k++) {
      at[listed] = first + k;
      value[listed] = element(bytes + next, length, k);
      listed += value[listed] != 0; /* a gap between two runs is none */
    }
  }
  return got < 0 ? -1 : listed;
}
