/* SPDX-License-Identifier: MIT
 *
 * Sorting: see sort.h. Elements become whole numbers in the same order (keys), which are sorted
 * with their places: many digit by digit, few by merging. A few of many are kept in a heap on the
 * way. */
#include "array/sort.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"

#define SHORT 16                 /* items that are inserted one by one */
#define FEW   8                  /* a heap finds up to a FEWth of a lane */
#define SHARE ((int64_t)1 << 15) /* elements that are worth a thread */
#define SIGN  ((uint64_t)1 << 63)

/* Radix sort: bits and values of a digit, the most digits, and items that are worth counting; the
 * digits that so many items are sorted by leave few of them together. */
#define DIGIT_BITS       11
#define DIGIT_VALUES     ((size_t)1 << DIGIT_BITS)
#define DIGITS           3
#define DIGITS_OF(count) ((count) < (int64_t)1 << 17 ? 2 : DIGITS)
#define MANY             1024

typedef struct item {
  uint64_t key;
  int64_t place;
} item;

typedef struct sorting {
  const ms_array *x;
  ms_array *values, *places;
  int dim;
  bool descending;
  int64_t lanes, lanes_a_share;
  atomic_bool failed; /* out of memory */
} sorting;

static bool before(const item *a, const item *b) {
  return a->key < b->key || (a->key == b->key && a->place < b->place);
}

/* Insertion sort. */
static void sort_short(item *items, int64_t count) {
  for (int64_t i = 1; i < count; i++) {
    item each = items[i];
    int64_t at = i;
    for (; at > 0 && before(&each, &items[at - 1]); at--) items[at] = items[at - 1];
    items[at] = each;
  }
}

/* Merges two sorted pieces that lie one behind the other. */
static void merge(const item *from, int64_t middle, int64_t count, item *to) {
  int64_t a = 0, b = middle;
  for (int64_t k = 0; k < count; k++) {
    bool first = b == count || (a < middle && before(&from[a], &from[b]));
    to[k] = first ? from[a++] : from[b++];
  }
}

/* Merge sort, bottom up; gives where the result is, in `items` or in `room`. */
static item *sort_items(item *items, item *room, int64_t count) {
  for (int64_t i = 0; i < count; i += SHORT) {
    sort_short(items + i, count - i < SHORT ? count - i : SHORT);
  }
  for (int64_t width = SHORT; width < count; width *= 2) {
    for (int64_t i = 0; i < count; i += 2 * width) {
      int64_t n = count - i < 2 * width ? count - i : 2 * width;
      merge(items + i, width < n ? width : n, n, room + i);
    }
    item *sorted = room;
    room = items;
    items = sorted;
  }
  return items;
}

/* The bit from which on keys are sorted by so many digits: above these all are alike. */
static int lowest_bit(const item *items, int64_t count, int digits) {
  uint64_t differing = 0;
  for (int64_t i = 0; i < count; i++) differing |= items[i].key ^ items[0].key;
  int highest = differing == 0 ? 0 : 63 - __builtin_clzll(differing);
  int lowest = highest + 1 - digits * DIGIT_BITS;
  return lowest < 0 ? 0 : lowest;
}

static size_t digit_at(const item *each, int bit) {
  return each->key >> bit & (DIGIT_VALUES - 1);
}

/* Puts items in the order of one digit, and keeps that of equal ones. */
static void scatter(const item *items, int64_t count, int bit, int64_t *next, item *to) {
  memset(next, 0, DIGIT_VALUES * sizeof *next);
  for (int64_t i = 0; i < count; i++) next[digit_at(&items[i], bit)]++;
  int64_t at = 0;
  for (size_t value = 0; value < DIGIT_VALUES; value++) {
    int64_t here = next[value];
    next[value] = at;
    at += here;
  }
  for (int64_t i = 0; i < count; i++) to[next[digit_at(&items[i], bit)]++] = items[i];
}

/* Sorts items whose keys are in order but for the bits below one. */
static void sort_runs(item *items, item *room, int64_t count, int bit) {
  for (int64_t first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && items[end].key >> bit == items[first].key >> bit; end++) {
    }
    item *sorted = end - first > 1 ? sort_items(items + first, room, end - first) : items + first;
    if (sorted == room) memcpy(items + first, room, (size_t)(end - first) * sizeof *room);
  }
}

/* Radix sort by the first bits that tell keys apart, the least digit first (Knuth, The Art of
 * Computer Programming, 5.2.5), and merge sort of those that are alike there; gives where the
 * result is. */
static item *sort_digits(item *items, item *room, int64_t count) {
  int64_t next[DIGIT_VALUES];
  const int digits = DIGITS_OF(count), lowest = lowest_bit(items, count, digits);
  for (int d = 0; d < digits; d++) {
    scatter(items, count, lowest + d * DIGIT_BITS, next, room);
    item *sorted = room;
    room = items;
    items = sorted;
  }
  if (lowest > 0) sort_runs(items, room, count, lowest);
  return items;
}

/* Puts an item where it belongs below `at` in a heap whose last items come first. */
static void sink(item *heap, int64_t count, int64_t at, item each) {
  for (;;) {
    int64_t child = 2 * at + 1;
    if (child >= count) break;
    if (child + 1 < count && before(&heap[child], &heap[child + 1])) child++;
    if (!before(&each, &heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = each;
}

/* Moves the first `most` items in order to the front, in no order. */
static void select_items(item *items, int64_t count, int64_t most) {
  for (int64_t at = most / 2 - 1; at >= 0; at--) sink(items, most, at, items[at]);
  for (int64_t i = most; most > 0 && i < count; i++) {
    if (before(&items[i], &items[0])) sink(items, most, 0, items[i]);
  }
}

static uint64_t key_of_double(double value) {
  uint64_t bits;
  if (value != value) return UINT64_MAX;
  if (value == 0) value = 0; /* -0 */
  memcpy(&bits, &value, sizeof bits);
  return bits & SIGN ? ~bits : bits | SIGN;
}

static uint64_t key_of(int type, const void *element) {
  switch (type) {
    case MS_FLOAT:
      return key_of_double((double)*(const float *)element);
    case MS_DOUBLE:
      return key_of_double(*(const double *)element);
    case MS_INT32:
      return (uint64_t)(int64_t) * (const int32_t *)element ^ SIGN;
    default: /* MS_INT64 */
      return (uint64_t) * (const int64_t *)element ^ SIGN;
  }
}

/* The first element of a lane: lanes are numbered row-major by the other subscripts. */
static char *lane_of(const ms_array *array, int dim, int64_t lane) {
  int64_t offset = 0;
  for (int d = array->dim_count - 1; d >= 0; d--) {
    if (d == dim) continue;
    offset += lane % array->dims[d] * array->strides[d];
    lane /= array->dims[d];
  }
  return (char *)array->data + offset * (int64_t)ms_type_of(array->type)->size;
}

/* The first `most` of items in order. */
static const item *sort_first(item *items, item *room, int64_t count, int64_t most) {
  bool few = most <= count / FEW;
  if (few) select_items(items, count, most);
  if (!few && count >= MANY) return sort_digits(items, room, count);
  return sort_items(items, room, few ? most : count);
}

static void sort_lane(const sorting *s, int64_t lane, item *items, item *room) {
  const int64_t count = s->x->dims[s->dim], most = s->values->dims[s->dim];
  const size_t size = ms_type_of(s->x->type)->size;
  const int64_t step = s->x->strides[s->dim] * (int64_t)size;
  const char *from = lane_of(s->x, s->dim, lane);
  for (int64_t i = 0; i < count; i++) {
    uint64_t key = key_of(s->x->type, from + i * step);
    items[i] = (item){s->descending ? ~key : key, i};
  }
  const item *sorted = sort_first(items, room, count, most);
  char *values = lane_of(s->values, s->dim, lane), *places = lane_of(s->places, s->dim, lane);
  for (int64_t k = 0; k < most; k++) {
    int64_t place = sorted[k].place + 1;
    memcpy(values + k * s->values->strides[s->dim] * (int64_t)size, from + sorted[k].place * step,
           size);
    memcpy(places + k * s->places->strides[s->dim] * (int64_t)sizeof place, &place, sizeof place);
  }
}

static void sort_share(void *context, int64_t share) {
  sorting *s = context;
  const size_t count = (size_t)s->x->dims[s->dim] + 1;
  item *items = count < SIZE_MAX / 2 / sizeof *items ? malloc(2 * count * sizeof *items) : NULL;
  if (items == NULL) {
    atomic_store(&s->failed, true);
    return;
  }
  int64_t first = share * s->lanes_a_share;
  int64_t left = s->lanes - first < s->lanes_a_share ? s->lanes - first : s->lanes_a_share;
  for (int64_t k = 0; k < left; k++) sort_lane(s, first + k, items, items + count);
  free(items);
}

int ms_array_sort(const ms_array *x, int dim, int descending, ms_array *values, ms_array *places,
                  ms_error *err) {
  if (ms_array_check(x, err) != 0) return -1;
  if (x->sparse) return ms_error_set(err, MS_ARR, "a sparse array cannot be sorted");
  sorting s = {.x = x,
               .values = values,
               .places = places,
               .dim = dim,
               .descending = descending != 0,
               .lanes = 1};
  for (int d = 0; d < x->dim_count; d++) s.lanes *= d == dim ? 1 : x->dims[d];
  if (s.lanes == 0 || values->count == 0) return 0;
  s.lanes_a_share = SHARE / (x->dims[dim] + 1) + 1;
  int64_t shares = (s.lanes + s.lanes_a_share - 1) / s.lanes_a_share;
  ms_threads_each(shares > 1 ? ms_threads_count() : 1, shares, sort_share, &s);
  if (!atomic_load(&s.failed)) return 0;
  return ms_error_memory(err, MS_ARR, "sorting");
}
