/* SPDX-License-Identifier: MIT
 *
 * Pending: taken out and merged vectors against plain sums; malformed bytes. */
#include "sync/pending.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/test.h"

#define COUNT 300

/* A vector with about one element in `one_in` set. */
static void fill(double *vector, unsigned *seed, int one_in) {
  for (int k = 0; k < COUNT; k++) {
    *seed = *seed * 1664525u + 1013904223u;
    vector[k] = (*seed >> 16) % (unsigned)one_in == 0 ? (double)(*seed >> 8) / 4096 : 0;
  }
}

/* Reads a whole part; adds it to `sum`, if given. How many of its elements are not 0, or -1. */
static int64_t read_part(const char *bytes, size_t size, int64_t count, double *sum,
                         ms_error *err) {
  ms_pending_part part = {bytes, size};
  ms_pending_cursor cursor = {0};
  int64_t found = 0;
  int got;
  while ((got = ms_pending_next(&part, count, &cursor, err)) > 0) {
    for (int64_t k = 0; k < cursor.length; k++) {
      found += ms_pending_element(&part, &cursor, k) != 0;
    }
    if (sum != NULL) ms_pending_add(&part, &cursor, count, sum);
    ms_pending_pass(&cursor, count);
  }
  return got < 0 ? -1 : found;
}

/* The elements of a part against the vector that it was taken from. */
static void check_elements(const double *vector, const char *bytes, size_t size) {
  ms_pending_part part = {bytes, size};
  ms_pending_cursor cursor = {0};
  double read[COUNT] = {0};
  ms_error err = {0};
  while (ms_pending_next(&part, COUNT, &cursor, &err) > 0) {
    for (int64_t k = 0; k < cursor.length; k++) {
      read[cursor.first + k] = ms_pending_element(&part, &cursor, k);
    }
    ms_pending_pass(&cursor, COUNT);
  }
  CHECK(err.code == MS_OK && memcmp(read, vector, sizeof read) == 0);
}

static void test_sums(void) {
  unsigned seed = 7;
  for (int one_in = 1; one_in < 200; one_in = one_in * 2 + 1) {
    double pending[COUNT], before[COUNT], sum[COUNT], expected[COUNT];
    fill(sum, &seed, 2);
    memcpy(expected, sum, sizeof sum);
    fill(pending, &seed, one_in);
    for (int k = 0; k < COUNT; k++) expected[k] += pending[k];
    memcpy(before, pending, sizeof before);
    char *bytes = malloc(MS_PENDING_ROOM(COUNT));
    if (bytes == NULL) abort();
    size_t size = ms_pending_take(pending, COUNT, bytes);
    CHECK(size <= MS_PENDING_ROOM(COUNT));
    ms_error err = {0};
    CHECK(read_part(bytes, size, COUNT, sum, &err) >= 0);
    CHECK(memcmp(sum, expected, sizeof sum) == 0);
    check_elements(before, bytes, size);
    for (int k = 0; k < COUNT; k++) CHECK(pending[k] == 0 && !signbit(pending[k]));
    free(bytes);
  }
}

static void test_untouched(void) {
  double pending[4] = {0, -0.0, 0, 0}, sum[4] = {-0.0, -0.0, 1, 2};
  char bytes[MS_PENDING_ROOM(4)];
  CHECK(ms_pending_take(pending, 4, bytes) == 0);
  CHECK(ms_pending_take(pending, 0, bytes) == 0);
  CHECK(!signbit(pending[1]));
  pending[1] = -0.0;
  pending[3] = NAN;
  CHECK(ms_pending_take(pending, 4, bytes) == 24);
  CHECK(!signbit(pending[1]) && pending[3] == 0);
  ms_error err = {0};
  CHECK(read_part(bytes, 24, 4, sum, &err) == 1);
  CHECK(signbit(sum[0]) && signbit(sum[1]) && sum[2] == 1 && isnan(sum[3]));
}

/* A negative zero anywhere, alone or in a run, is no element and does not stay. */
static void test_negative_zeros(void) {
  double pending[COUNT] = {0};
  char bytes[MS_PENDING_ROOM(COUNT)];
  for (int at = 0; at < COUNT; at++) {
    pending[at] = -0.0;
    CHECK(ms_pending_take(pending, COUNT, bytes) == 0 && !signbit(pending[at]));
    pending[at] = -0.0;
    pending[COUNT - 1 - at] += 3;
    CHECK(ms_pending_take(pending, COUNT, bytes) == 24);
    bool clear = true;
    for (int k = 0; k < COUNT; k++) clear = clear && pending[k] == 0 && !signbit(pending[k]);
    CHECK(clear);
  }
}

/* The vectors that take the most room: elements as far apart as makes them runs of their own. */
static void test_room(void) {
  for (int gap = 1; gap < 8; gap++) {
    for (int count = 0; count < 100; count++) {
      double pending[100] = {0}, sum[100] = {0};
      char bytes[MS_PENDING_ROOM(100)];
      for (int k = 0; k < count; k += gap) pending[k] = k + 1;
      size_t size = ms_pending_take(pending, count, bytes);
      ms_error err = {0};
      CHECK(size <= MS_PENDING_ROOM(count) && read_part(bytes, size, count, sum, &err) >= 0);
      bool same = true;
      for (int k = 0; k < count; k++) same = same && sum[k] == (k % gap == 0 ? k + 1 : 0);
      CHECK(same);
    }
  }
}

/* Zeros of either sign between elements are as if they were not there: -0 stays what it is in the
 * array, and the bytes do not depend on where they stand. */
static void test_zeros(void) {
  for (int from = 0; from < 140; from++) {
    double pending[160] = {0}, marked[160] = {0}, sum[160];
    char first[MS_PENDING_ROOM(160)], second[MS_PENDING_ROOM(160)];
    uint8_t touched[MS_TOUCHED_BYTES(160)] = {0};
    for (int k = 0; k < 160; k++) sum[k] = -0.0;
    for (int k = 0; k < 8; k++) marked[from + k] = pending[from + k] = k % 3 == 0 ? 2 : k % 3 - 1.0;
    pending[from + 4] = marked[from + 4] = -0.0;
    for (int k = 0; k < 8; k++) ms_touch(touched, from + k);
    size_t size = ms_pending_take(pending, 160, first);
    CHECK(ms_pending_take_touched(marked, 160, touched, second) == size);
    CHECK(memcmp(first, second, size) == 0);
    ms_error err = {0};
    CHECK(read_part(first, size, 160, sum, &err) >= 0);
    CHECK(sum[from] == 2 && sum[from + 2] == 1 && sum[from + 6] == 2);
    CHECK(signbit(sum[from + 1]) && signbit(sum[from + 4]));
  }
}

enum { LARGE = 20000 };

/* Marked elements give what a look at everything gives, marks of untouched ones included, few of a
 * word or many. */
static void test_touched(void) {
  static double whole[LARGE], marked[LARGE];
  static char first[MS_PENDING_ROOM(LARGE)], second[MS_PENDING_ROOM(LARGE)];
  unsigned seed = 5;
  for (int round = 0; round < 200; round++) {
    uint8_t touched[MS_TOUCHED_BYTES(LARGE)] = {0};
    int64_t count = round < 100 ? 3 * round : LARGE - round;
    memset(whole, 0, sizeof whole);
    for (int64_t k = 0; k < count; k += 1 + (int64_t)(seed >> 16) % (1 + round * round % 997)) {
      seed = seed * 1664525u + 1013904223u;
      whole[k] = (seed >> 24) % 5 - 2.0;
      if (whole[k] == 1) whole[k] = -0.0;
      ms_touch(touched, k);
    }
    memcpy(marked, whole, sizeof whole);
    size_t size = ms_pending_take(whole, count, first);
    CHECK(ms_pending_take_touched(marked, count, touched, second) == size);
    CHECK(memcmp(first, second, size) == 0 && memcmp(marked, whole, sizeof whole) == 0);
    for (int b = 0; b < MS_TOUCHED_BYTES(LARGE); b++) CHECK(touched[b] == 0);
  }
}

/* A row marks the elements that it has, and of others no more than a unit behind. */
static void test_touched_rows(void) {
  for (int64_t at = 0; at < COUNT; at += 3) {
    for (int64_t count = 0; count <= COUNT - at; count += 7) {
      uint8_t touched[MS_TOUCHED_BYTES(COUNT)] = {0}, each[MS_TOUCHED_BYTES(COUNT)] = {0};
      ms_touch_row(touched, at, count);
      for (int64_t k = at; k < at + count; k++) ms_touch(each, k);
      for (int b = 0; b < MS_TOUCHED_BYTES(COUNT); b++) {
        CHECK(touched[b] == each[b] || (touched[b] == 1 && b > 0 && each[b - 1] == 1));
      }
    }
  }
}

/* Parts that are read slice by slice. */
static void test_slices(void) {
  unsigned seed = 3;
  for (int64_t slice = 1; slice < 2 * COUNT; slice += 7) {
    double pending[COUNT], sum[COUNT], expected[COUNT];
    char bytes[MS_PENDING_ROOM(COUNT)];
    fill(pending, &seed, 3);
    fill(sum, &seed, 2);
    memcpy(expected, sum, sizeof sum);
    for (int k = 0; k < COUNT; k++) expected[k] += pending[k];
    ms_pending_part part = {bytes, ms_pending_take(pending, COUNT, bytes)};
    ms_pending_cursor cursor = {0};
    ms_error err = {0};
    for (int64_t end = slice; end < COUNT + slice; end += slice) {
      while (ms_pending_next(&part, COUNT, &cursor, &err) > 0 && cursor.first < end) {
        ms_pending_add(&part, &cursor, end, sum);
      }
      for (int64_t k = end; k < COUNT; k++) CHECK(pending[k] == 0);
    }
    CHECK(memcmp(sum, expected, sizeof sum) == 0 && err.code == MS_OK);
  }
}

static void test_malformed(void) {
  static const int64_t heads[][2] = {{-1, 1}, {0, 0}, {0, -1}, {4, 1}, {3, 2}, {0, 2}, {9, 1}};
  double sum[4] = {0};
  for (size_t h = 0; h < sizeof heads / sizeof heads[0]; h++) {
    char bytes[24] = {0};
    memcpy(bytes, heads[h], sizeof heads[h]);
    ms_error err = {0};
    CHECK(read_part(bytes, sizeof bytes, 4, sum, &err) == -1);
    CHECK(err.code == MS_BUG);
  }
  char bytes[48] = {0};
  int64_t head[2] = {1, 1};
  memcpy(bytes, head, sizeof head);
  for (size_t size = 1; size < 24; size++) {
    ms_error err = {0};
    CHECK(read_part(bytes, size, 4, sum, &err) == -1);
  }
  for (head[0] = 0; head[0] < 4; head[0]++) { /* a run that is not behind the one before it */
    memcpy(bytes + 24, head, sizeof head);
    ms_error err = {0};
    CHECK(read_part(bytes, sizeof bytes, 4, sum, &err) == (head[0] < 2 ? -1 : 0));
  }
}

int main(void) {
  test_sums();
  test_untouched();
  test_negative_zeros();
  test_room();
  test_zeros();
  test_touched();
  test_touched_rows();
  test_slices();
  test_malformed();
  return ms_test_end();
}
