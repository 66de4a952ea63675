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

/* The list of a vector's runs against the vector. */
static void check_list(const double *vector, const char *bytes, size_t size) {
  int64_t at[COUNT + 2], expected = 0;
  double value[COUNT + 2];
  ms_error err = {0};
  int64_t listed = ms_pending_list(bytes, size, COUNT, at, value, &err);
  CHECK(size / 8 <= COUNT + 2);
  for (int64_t k = 0; k < COUNT; k++) {
    if (vector[k] == 0) continue;
    CHECK(expected < listed && at[expected] == k && value[expected] == vector[k]);
    expected++;
  }
  CHECK(listed == expected);
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
    CHECK(ms_pending_add(sum, COUNT, bytes, size, &err) == 0);
    CHECK(memcmp(sum, expected, sizeof sum) == 0);
    check_list(before, bytes, size);
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
  CHECK(ms_pending_add(sum, 4, bytes, 24, &err) == 0);
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
      CHECK(size <= MS_PENDING_ROOM(count) && ms_pending_add(sum, count, bytes, size, &err) == 0);
      bool same = true;
      for (int k = 0; k < count; k++) same = same && sum[k] == (k % gap == 0 ? k + 1 : 0);
      CHECK(same);
    }
  }
}

static void test_malformed(void) {
  static const int64_t heads[][2] = {{-1, 1}, {0, 0}, {0, -1}, {4, 1}, {3, 2}, {0, 2}, {9, 1}};
  double sum[4] = {0};
  for (size_t h = 0; h < sizeof heads / sizeof heads[0]; h++) {
    char bytes[24] = {0};
    memcpy(bytes, heads[h], sizeof heads[h]);
    ms_error err = {0};
    CHECK(ms_pending_add(sum, 4, bytes, sizeof bytes, &err) == -1);
    CHECK(err.code == MS_BUG);
    int64_t at[3];
    double value[3];
    err = (ms_error){0};
    CHECK(ms_pending_list(bytes, sizeof bytes, 4, at, value, &err) == -1 && err.code == MS_BUG);
  }
  char bytes[24] = {0};
  int64_t head[2] = {0, 1};
  memcpy(bytes, head, sizeof head);
  for (size_t size = 1; size < sizeof bytes; size++) {
    ms_error err = {0};
    CHECK(ms_pending_add(sum, 4, bytes, size, &err) == -1);
  }
}

int main(void) {
  test_sums();
  test_untouched();
  test_negative_zeros();
  test_room();
  test_malformed();
  return ms_test_end();
}
