/* SPDX-License-Identifier: MIT
 *
 * Pending: see pending.h. A run is a head and the elements behind it. */
#include "sync/pending.h"

#include <emmintrin.h>
#include <stdbool.h>
#include <string.h>

#include "array/touched_walk.h"

typedef struct run_head {
  int64_t first, length;
} run_head;

/* Zeros between two runs are cheaper sent than a head. */
#define GAP ((int64_t)(sizeof(run_head) / sizeof(double)))

#define SIZE ((int64_t)sizeof(double))

/* Elements that are looked at together: one bit of a word each. */
#define STRIDE ((int64_t)64)

/* Of which so many are looked at by one `or`: most of what is pending may be zero. */
#define FEW ((int64_t)8)

/* Which of two elements are not zero: nan is one, -0 is none. */
static inline uint64_t find_two(__m128d two) {
  return (uint64_t)_mm_movemask_pd(_mm_cmpneq_pd(two, _mm_setzero_pd()));
}

/* Which of FEW elements are not zero; *clear stays true where all are 0 in every bit. */
static inline uint64_t find_few(const double *pending, bool *clear) {
  __m128d a = _mm_loadu_pd(pending), b = _mm_loadu_pd(pending + 2);
  __m128d c = _mm_loadu_pd(pending + 4), d = _mm_loadu_pd(pending + 6);
  __m128i all = _mm_castpd_si128(_mm_or_pd(_mm_or_pd(a, b), _mm_or_pd(c, d)));
  if (_mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_setzero_si128())) == 0xFFFF) return 0;
  *clear = false;
  return find_two(a) | find_two(b) << 2 | find_two(c) << 4 | find_two(d) << 6;
}

/* The same of at most STRIDE elements. */
static uint64_t find_elements(const double *pending, int64_t count, bool *clear) {
  uint64_t found = 0;
  int64_t k = 0;
  *clear = true;
  for (; count - k >= FEW; k += FEW) found |= find_few(pending + k, clear) << k;
  for (; k < count; k++) {
    *clear = false;
    found |= (uint64_t)(pending[k] != 0) << k;
  }
  return found;
}

/* With what lies between two ones at most GAP apart: it goes into one run with them. */
static inline uint64_t close_gaps(uint64_t found) {
  uint64_t above = found << 1 | found << 2, below = found >> 1 | found >> 2;
  return found | (found << 1 & below) | (found >> 1 & above);
}

/* Makes at most STRIDE elements zero. */
static void clear_elements(double *pending, int64_t count) {
  int64_t k = 0;
  for (; count - k >= FEW; k += FEW) memset(pending + k, 0, (size_t)FEW * sizeof *pending);
  for (; k < count; k++) pending[k] = 0;
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

/* Writes elements; -0 becomes 0, as it is between two pieces. */
static void copy_elements(char *restrict out, const double *restrict elements, int64_t length) {
  int64_t k = 0;
  for (; k + 2 <= length; k += 2) {
    __m128d two = _mm_add_pd(_mm_loadu_pd(elements + k), _mm_setzero_pd());
    _mm_storeu_si128((__m128i *)(void *)(out + k * SIZE), _mm_castpd_si128(two));
  }
  for (; k < length; k++) {
    double element = elements[k] + 0.0;
    memcpy(out + k * SIZE, &element, sizeof element);
  }
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
  copy_elements(writer->out, elements, length);
  writer->out += (size_t)length * sizeof(double);
  writer->end += length;
}

/* Takes pending[0 .. size), elements of a vector from number `first` on. */
static void take_piece(run_writer *writer, double *pending, int64_t size, int64_t first) {
  for (int64_t base = 0; base < size; base += STRIDE, pending += STRIDE) {
    int64_t some = size - base < STRIDE ? size - base : STRIDE;
    bool clear;
    uint64_t left = close_gaps(find_elements(pending, some, &clear));
    if (clear) continue;
    while (left != 0) {
      int at = __builtin_ctzll(left);
      uint64_t filled = left | (left - 1); /* ones up to the run's end */
      int length = (~filled == 0 ? (int)STRIDE : __builtin_ctzll(~filled)) - at;
      add_elements(writer, first + base + at, length, pending + at);
      left &= filled + 1; /* what lies behind; 0 where the run ends with the word */
    }
    clear_elements(pending, some);
  }
}

size_t ms_pending_take(double *pending, int64_t count, char *out) {
  run_writer writer = {.out = out};
  take_piece(&writer, pending, count, 0);
  close_run(&writer);
  return (size_t)(writer.out - out);
}

size_t ms_pending_take_touched(double *pending, int64_t count, uint8_t *touched, char *out) {
  run_writer writer = {.out = out};
  int64_t word = 0, first, size;
  while (ms_touched_walk_next(count, touched, &word, &first, &size)) {
    take_piece(&writer, pending + first, size, first);
  }
  close_run(&writer);
  return (size_t)(writer.out - out);
}

void ms_pending_clear_touched(double *pending, int64_t count, uint8_t *touched) {
  int64_t word = 0, first, size;
  while (ms_touched_walk_next(count, touched, &word, &first, &size)) {
    memset(pending + first, 0, (size_t)size * sizeof *pending);
  }
}

int ms_pending_next(const ms_pending_part *part, int64_t count, ms_pending_cursor *cursor,
                    ms_error *err) {
  run_head head;
  if (cursor->length > 0) return 1;
  size_t at = cursor->behind;
  if (at == part->size) return 0;
  bool whole = at < part->size && part->size - at >= sizeof head;
  if (whole) memcpy(&head, part->bytes + at, sizeof head);
  size_t room = whole ? (part->size - at - sizeof head) / sizeof(double) : 0;
  if (!whole || head.first < cursor->first || head.length <= 0 || head.first > count ||
      head.length > count - head.first || (uint64_t)head.length > room) {
    return ms_error_set(err, MS_BUG, "what a block left for a buffer is malformed");
  }
  *cursor = (ms_pending_cursor){.behind = at + sizeof head + (size_t)head.length * sizeof(double),
                                .first = head.first,
                                .length = head.length};
  return 1;
}

void ms_pending_pass(ms_pending_cursor *cursor, int64_t end) {
  int64_t passed = end - cursor->first;
  if (passed > cursor->length) passed = cursor->length;
  if (passed <= 0) return;
  cursor->first += passed;
  cursor->length -= passed;
}

/* Adds elements, two at a time without a branch, which would go either way. A zero between two runs
 * is none: -0 + 0 would be 0. */
static void add_all(double *restrict to, const char *restrict from, int64_t length) {
  int64_t k = 0;
  for (; k + 2 <= length; k += 2) {
    __m128i bits = _mm_loadu_si128((const __m128i *)(const void *)(from + k * SIZE));
    __m128d each = _mm_castsi128_pd(bits), old = _mm_loadu_pd(to + k);
    __m128d some = _mm_cmpneq_pd(each, _mm_setzero_pd());
    __m128d sum = _mm_and_pd(some, _mm_add_pd(old, each));
    _mm_storeu_pd(to + k, _mm_or_pd(sum, _mm_andnot_pd(some, old)));
  }
  for (; k < length; k++) {
    double each;
    memcpy(&each, from + k * SIZE, sizeof each);
    if (each != 0) to[k] += each;
  }
}

void ms_pending_add(const ms_pending_part *part, ms_pending_cursor *cursor, int64_t end,
                    double *sum) {
  int64_t length = end - cursor->first < cursor->length ? end - cursor->first : cursor->length;
  add_all(sum + cursor->first, ms_pending_bytes(part, cursor, 0), length);
  ms_pending_pass(cursor, end);
}
