/* SPDX-License-Identifier: MIT
 *
 * Lua values and integers in native kernels. This text stands in front of every native kernel
 * (prelude.h).
 *
 * What is always a number or always a boolean needs none of this: an ms_value is what may also be
 * nil. Integers stand for doubles that guards have found whole. Pure functions, but for those of
 * tables and streaks. */
#ifndef MS_KERNEL_NATIVE_VALUE_H
#define MS_KERNEL_NATIVE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/native/native.h"

#define MS_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define MS_LIKELY(condition)   __builtin_expect(!!(condition), 1)
/* A condition that holds: the branch for where it does not is compiled for size. */
#define MS_SURELY(condition) __builtin_expect_with_probability(!!(condition), 1, 1.0)

/* nil, false, true, a number, or nothing assigned yet. */
typedef struct ms_value {
  double number;
  int64_t tag; /* ms_native_tag */
} ms_value;

/* Elements in a line, in the midst of an array. */
typedef struct ms_part_float {
  float *at;
  int64_t stride, extent;
} ms_part_float;

typedef struct ms_part_double {
  double *at;
  int64_t stride, extent;
} ms_part_double;

typedef struct ms_part_int32 {
  int32_t *at;
  int64_t stride, extent;
} ms_part_int32;

typedef struct ms_part_int64 {
  int64_t *at;
  int64_t stride, extent;
} ms_part_int64;

/* Whether so many positions from `first` on, from 1, are whole numbers within an extent. */
static inline int ms_is_range(double first, double length, int64_t extent) {
  return first >= 1 && first <= 0x1p31 && length >= 0 && length <= 0x1p31 &&
         first == __builtin_floor(first) && length == __builtin_floor(length) &&
         first - 1 + length <= (double)extent;
}

#define ms_nil     ((ms_value){0, MS_NATIVE_NIL})
#define ms_nothing ((ms_value){0, MS_NATIVE_NONE})

static inline ms_value ms_number(double number) {
  return (ms_value){number, MS_NATIVE_NUMBER};
}

static inline ms_value ms_boolean(int truth) {
  return (ms_value){0, truth ? MS_NATIVE_TRUE : MS_NATIVE_FALSE};
}

static inline int ms_is_true(ms_value value) {
  return value.tag != MS_NATIVE_NIL && value.tag != MS_NATIVE_FALSE;
}

/* A value as the body reads it: nil where the block has assigned nothing yet. */
static inline ms_value ms_something(ms_value value) {
  return value.tag == MS_NATIVE_NONE ? ms_nil : value;
}

static inline int ms_is_nan(ms_value value) {
  return value.tag == MS_NATIVE_NUMBER && value.number != value.number;
}

/* a == b */
static inline int ms_is_same(ms_value a, ms_value b) {
  return a.tag == b.tag && (a.tag != MS_NATIVE_NUMBER || a.number == b.number);
}

/* What a table of the body holds under other keys than 1 to MS_NATIVE_TABLE_ROOM, by open
 * addressing. It has memory of its own as soon as there is something, until ms_more_end. */
typedef struct ms_more {
  struct {
    ms_value key, value;
  } * place;           /* a key's tag of MS_NATIVE_NONE: free */
  uint64_t room, used; /* room: 0 or a power of 2, at least a quarter of it free */
} ms_more;

#define MS_MORE_MOST (UINT64_C(1) << 26) /* places: 2 GiB */

/* A table of the body. */
#define MS_NATIVE_TABLE_ROOM 256

typedef struct ms_native_table {
  double number[MS_NATIVE_TABLE_ROOM];
  unsigned char tag[MS_NATIVE_TABLE_ROOM]; /* ms_native_tag */
  int64_t length;                          /* of a table without gaps */
  ms_more *more;
} ms_native_table;

/* What is wrong with a store. */
enum { MS_NATIVE_TABLE_FINE, MS_NATIVE_TABLE_NIL, MS_NATIVE_TABLE_NAN, MS_NATIVE_TABLE_MEMORY };

static inline void ms_more_end(ms_more *more) {
  if (more->room > 0) __builtin_free(more->place);
}

/* Where a key stands, or would. */
static inline uint64_t ms_more_find(const ms_more *more, ms_value key) {
  uint64_t bits, at;
  double number = key.number + 0.0; /* -0 is the same key as 0 */
  __builtin_memcpy(&bits, &number, sizeof bits);
  if (key.tag != MS_NATIVE_NUMBER) bits = (uint64_t)key.tag;
  bits *= UINT64_C(0x9e3779b97f4a7c15);
  for (at = bits >> 32;; at++) {
    at &= more->room - 1;
    if (more->place[at].key.tag == MS_NATIVE_NONE || ms_is_same(more->place[at].key, key))
      return at;
  }
}

static inline int ms_more_grow(ms_more *more) {
  ms_more grown = {.room = more->room > 0 ? 2 * more->room : 16, .used = more->used};
  if (more->room >= MS_MORE_MOST) return 0;
  grown.place = __builtin_calloc(grown.room, sizeof *grown.place);
  if (grown.place == 0) return 0;
  for (uint64_t at = 0; at < more->room; at++) {
    if (more->place[at].key.tag == MS_NATIVE_NONE) continue;
    grown.place[ms_more_find(&grown, more->place[at].key)] = more->place[at];
  }
  ms_more_end(more);
  *more = grown;
  return 1;
}

static __attribute__((noinline, cold, unused)) int ms_more_put(ms_more *more, ms_value key,
                                                               ms_value value) {
  if (key.tag == MS_NATIVE_NIL) return MS_NATIVE_TABLE_NIL;
  if (key.tag == MS_NATIVE_NUMBER && key.number != key.number) return MS_NATIVE_TABLE_NAN;
  if (value.tag == MS_NATIVE_NIL && more->used == 0) return MS_NATIVE_TABLE_FINE;
  if (4 * (more->used + 1) > 3 * more->room && !ms_more_grow(more)) return MS_NATIVE_TABLE_MEMORY;
  uint64_t at = ms_more_find(more, key);
  more->used += more->place[at].key.tag == MS_NATIVE_NONE;
  more->place[at].key = key;
  more->place[at].value = value;
  return MS_NATIVE_TABLE_FINE;
}

static __attribute__((noinline, cold, unused)) ms_value ms_more_get(const ms_more *more,
                                                                    ms_value key) {
  uint64_t at = ms_more_find(more, key);
  return more->place[at].key.tag == MS_NATIVE_NONE ? ms_nil : more->place[at].value;
}

/* A new table; it gets values for `length` fields. */
static inline void ms_native_table_clear(ms_native_table *table, ms_more *more, int64_t length) {
  __builtin_memset(table->tag, MS_NATIVE_NIL, sizeof table->tag);
  if (more->used > 0) __builtin_memset(more->place, 0, more->room * sizeof *more->place);
  more->used = 0;
  table->more = more;
  table->length = length;
}

/* The key is in 1..MS_NATIVE_TABLE_ROOM. */
static inline ms_value ms_native_table_at(const ms_native_table *table, int64_t key) {
  return (ms_value){table->number[key - 1], table->tag[key - 1]};
}

static inline void ms_native_table_put(ms_native_table *table, int64_t key, ms_value value) {
  table->number[key - 1] = value.number;
  table->tag[key - 1] = (unsigned char)value.tag;
}

/* The key as an integer in 1..MS_NATIVE_TABLE_ROOM; 0: it is none. */
static inline int64_t ms_native_table_key(ms_value key) {
  if (key.tag != MS_NATIVE_NUMBER || !(key.number >= 1 && key.number <= MS_NATIVE_TABLE_ROOM))
    return 0;
  int64_t whole = (int64_t)key.number;
  return (double)whole == key.number ? whole : 0;
}

static inline ms_value ms_native_table_get(const ms_native_table *table, ms_value key) {
  int64_t whole = ms_native_table_key(key);
  if (MS_LIKELY(whole > 0)) return ms_native_table_at(table, whole);
  return table->more->used == 0 ? ms_nil : ms_more_get(table->more, key);
}

static inline int ms_native_table_set(ms_native_table *table, ms_value key, ms_value value) {
  int64_t whole = ms_native_table_key(key);
  if (MS_UNLIKELY(whole == 0)) return ms_more_put(table->more, key, value);
  ms_native_table_put(table, whole, value);
  return MS_NATIVE_TABLE_FINE;
}

/* A table without gaps was changed at its end: under its length, or the number after it. */
static inline void ms_native_table_measure(ms_native_table *table, ms_value key, ms_value value) {
  int64_t at = (int64_t)key.number;
  if (value.tag == MS_NATIVE_NIL) {
    table->length = at > 0 ? at - 1 : 0;
  } else if (at > table->length) {
    table->length = at;
  }
}

/* list[key] of a list of numbers from outside. */
static inline ms_value ms_list_get(const double *list, int64_t length, ms_value key) {
  if (key.tag != MS_NATIVE_NUMBER || !(key.number >= 1 && key.number <= (double)length))
    return ms_nil;
  int64_t whole = (int64_t)key.number;
  return (double)whole == key.number ? ms_number(list[whole - 1]) : ms_nil;
}

/* Lists in one another (MS_PARAM_STARTS): the number of list[key], -1 where that is nil. */
static inline int64_t ms_lists_at(const int64_t *starts, int64_t list, int64_t key) {
  const int64_t first = starts[list];
  return (uint64_t)key - 1 < (uint64_t)(starts[list + 1] - first) ? first + key - 1 : -1;
}

static inline int64_t ms_lists_find(const int64_t *starts, int64_t list, ms_value key) {
  if (key.tag != MS_NATIVE_NUMBER || !(key.number >= 1 && key.number <= INT32_MAX)) return -1;
  int64_t whole = (int64_t)key.number;
  return (double)whole == key.number ? ms_lists_at(starts, list, whole) : -1;
}

/* The number at a place of the lists; nil for a place below 0, which stands for no element. */
static inline ms_value ms_lists_number(const double *numbers, int64_t at) {
  return at >= 0 ? ms_number(numbers[at]) : ms_nil;
}

/* What a gate took before a block's other values (depend/branch_gate.h), slots one after the other;
 * who runs the block gives the memory back. */
typedef struct ms_streak {
  ms_native_slot *slots;
  uint64_t used, room;
} ms_streak;

/* So many slots more; NULL: there is no memory. */
static __attribute__((noinline, cold, unused)) ms_native_slot *ms_streak_add(ms_streak *streak,
                                                                             uint64_t count) {
  if (streak->used + count > streak->room) {
    uint64_t room = 2 * streak->room + 4 * count;
    void *grown = __builtin_realloc(streak->slots, room * sizeof *streak->slots);
    if (grown == 0) return 0;
    streak->slots = grown;
    streak->room = room;
  }
  streak->used += count;
  return streak->slots + streak->used - count;
}

/* t[key] = value of a table from outside that a block only assigns to: four slots each, which who
 * runs the block gives back. */
static __attribute__((noinline, unused)) int ms_sliced_output_put(ms_streak *slice, ms_value key,
                                                                  ms_value value) {
  if (key.tag == MS_NATIVE_NIL) return MS_NATIVE_TABLE_NIL;
  if (key.tag == MS_NATIVE_NUMBER && key.number != key.number) return MS_NATIVE_TABLE_NAN;
  ms_native_slot *slots = ms_streak_add(slice, 4);
  if (MS_UNLIKELY(slots == 0)) return MS_NATIVE_TABLE_MEMORY;
  slots[0].number = key.number;
  slots[1].whole = key.tag;
  slots[2].number = value.number;
  slots[3].whole = value.tag;
  return MS_NATIVE_TABLE_FINE;
}

/* Puts a result into its slots. */
static inline void ms_give(ms_native_slot *slots, ms_value value) {
  slots[0].number = value.number;
  slots[1].whole = value.tag;
}

/* Whether a double is a whole number of 32 bits, and not -0; then (int64_t)x is it. */
static inline int ms_is_whole(double x) {
  return x >= -0x1p31 && x < 0x1p31 && (double)(int64_t)x == x && (x != 0 || !__builtin_signbit(x));
}

/* The integer z that stands for y where integers up to 2^52 are compared with it: x < y is x < z
 * for z = ceil(y), x <= y is x <= z for z = floor(y), and so on; no x is less (or greater, as
 * `less` says) than nan. */
static inline int64_t ms_whole_limit(double y, int up, int less) {
  double z = up ? __builtin_ceil(y) : __builtin_floor(y);
  if (z > 0x1p60) return INT64_MAX;
  if (z < -0x1p60) return INT64_MIN;
  if (z != z) return less ? INT64_MIN : INT64_MAX;
  return (int64_t)z;
}

/* Lua's % and math.floor(a / b) for b > 0. */
static inline int64_t ms_whole_mod(int64_t a, int64_t b) {
  int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

/* The same without a division where a is near 0..b - 1, as around the edges of a grid, or b is a
 * power of two that the compiler knows. */
static inline int64_t ms_whole_wrapped(int64_t a, int64_t b) {
  if (__builtin_constant_p(b) && b > 0 && (b & (b - 1)) == 0) return a & (b - 1);
  if (MS_LIKELY(a >= 0 && a < b)) return a;
  if (a < 0 && a + b >= 0) return a + b;
  return a >= b && a - b < b ? a - b : ms_whole_mod(a, b);
}

static inline int64_t ms_whole_div(int64_t a, int64_t b) {
  return (a - ms_whole_mod(a, b)) / b;
}

static inline int64_t ms_whole_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t ms_whole_most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* Where `column` stands in the sorted columns[first .. last - 1], or would stand; *found receives
 * whether it does, and 2 if it does twice or more. */
static inline int64_t ms_row_place(const int32_t *columns, int64_t first, int64_t last,
                                   int64_t column, int *found) {
  int64_t end = last;
  while (first < last) {
    int64_t middle = first + (last - first) / 2;
    if (columns[middle] < column) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  *found = first < end && columns[first] == column;
  *found += *found && first + 1 < end && columns[first + 1] == column;
  return first;
}

/* How many of columns[place .. last - 1] are the one at `place`, from there on. */
static inline double ms_row_repeats(const int32_t *columns, int64_t place, int64_t last) {
  int64_t end = place + 1;
  while (end < last && columns[end] == columns[place]) end++;
  return (double)(end - place);
}

/* Bounds of guards. */
static inline double ms_least(double a, double b) {
  return a < b ? a : b;
}

static inline double ms_most(double a, double b) {
  return a > b ? a : b;
}

static inline double ms_least_product(double a, double b, double c, double d) {
  return ms_least(ms_least(a * c, a * d), ms_least(b * c, b * d));
}

static inline double ms_most_product(double a, double b, double c, double d) {
  return ms_most(ms_most(a * c, a * d), ms_most(b * c, b * d));
}

/* ---- for fast mode ---- */

/* math.max and math.min of floats; x % y; x ^ y; math.deg, math.rad. */
static inline float ms_float_max(float x, float y) {
  return x > y ? x : y;
}

static inline float ms_float_min(float x, float y) {
  return x < y ? x : y;
}

static inline float ms_float_mod(float x, float y) {
  return x - __builtin_floorf(x / y) * y;
}

static inline float ms_float_pow(float x, float y) {
  return y == 2.0f ? x * x : __builtin_powf(x, y);
}

static inline float ms_float_deg(float x) {
  return x * 57.29577951308232f;
}

static inline float ms_float_rad(float x) {
  return x * 0.017453292519943295f;
}

#endif
