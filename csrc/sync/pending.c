/* SPDX-License-Identifier: MIT
 *
 * Pending: see pending.h. A run is a head and the elements behind it. */
#include "sync/pending.h"

#include <stdbool.h>

#include <string.h>

typedef struct run_head {
  int64_t first, length;
} run_head;

/* Zeros between two runs are cheaper sent than a head. */
#define GAP ((int64_t)(sizeof(run_head) / sizeof(double)))

/* Elements that are looked at together: one bit of a word each. */
#define STRIDE ((int64_t)64)

/* Whether STRIDE elements are all 0 in every bit. */
static bool is_clear(const double *pending) {
  uint64_t bits[STRIDE], any = 0;
  memcpy(bits, pending, sizeof bits);
  for (int64_t k = 0; k < STRIDE; k++) any |= bits[k];
  return any == 0;
}

/* Which of at most STRIDE elements are not zero: nan is one, -0 is none. */
static uint64_t find_elements(const double *pending, int64_t count) {
  uint64_t found = 0;
  for (int64_t k = 0; k < count; k++) {
    uint64_t bits;
    memcpy(&bits, pending + k, sizeof bits);
    found |= (uint64_t)(bits << 1 != 0) << k;
  }
  return found;
}

/* Writes runs: the elements at once, the head of a run when it is known to end. */
typedef struct run_writer {
  char *out, *head; /* head NULL: no run is open */
  int64_t first, end;
} run_writer;

static void close_run(run_writer *writer) {
  run_head head = {.first = writer->first, .length = writer->end - writer->first};
  if (writer->head != NULL) memcpy(writer->head, &head, sizeof head);
}

/* Adds `length` elements from number `first` on, behind those that were added before. */
static void add_elements(run_writer *writer, int64_t first, int64_t length,
                         const double *elements) {
  if (writer->head == NULL || first - writer->end > GAP) {
    close_run(writer);
    writer->head = writer->out;
    writer->out += sizeof(run_head);
    writer->first = writer->end = first;
  }
  for (; writer->end < first; writer->end++, writer->out += sizeof(double)) {
    memset(writer->out, 0, sizeof(double));
  }
  for (int64_t k = 0; k < length; k++, writer->out += sizeof(double)) {
    memcpy(writer->out, elements + k, sizeof(double));
  }
  writer->end += length;
}

size_t ms_pending_take(double *pending, int64_t count, char *out) {
  run_writer writer = {.out = out};
  for (int64_t base = 0; base < count; base += STRIDE, pending += STRIDE) {
    int64_t size = count - base < STRIDE ? count - base : STRIDE;
    if (size == STRIDE && is_clear(pending)) continue;
    for (uint64_t left = find_elements(pending, size); left != 0;) {
      int first = __builtin_ctzll(left);
      uint64_t filled = left | (left - 1); /* ones up to the run's end */
      int length = (~filled == 0 ? (int)STRIDE : __builtin_ctzll(~filled)) - first;
      add_elements(&writer, base + first, length, pending + first);
      left &= filled + 1; /* what lies behind; 0 where the run ends with the word */
    }
    memset(pending, 0, (size_t)size * sizeof *pending);
  }
  close_run(&writer);
  return (size_t)(writer.out - out);
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
