/* SPDX-License-Identifier: MIT
 *
 * Pending: taken out and merged vectors against plain sums; malformed bytes. */
#include "array/pending.h"

#include <math.h>
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

static void test_sums(void) {
  unsigned seed = 7;
  for (int one_in = 1; one_in < 200; one_in = one_in * 2 + 1) {
    double pending[COUNT], sum[COUNT], expected[COUNT];
    fill(sum, &seed, 2);
    memcpy(expected, sum, sizeof sum);
    fill(pending, &seed, one_in);
    for (int k = 0; k < COUNT; k++) expected[k] += pending[k];
    size_t size = ms_pending_size(pending, COUNT);
    char *bytes = malloc(size + 1);
    if (bytes == NULL) abort();
    ms_pending_take(pending, COUNT, bytes);
    ms_error err = {0};
    CHECK(ms_pending_add(sum, COUNT, bytes, size, &err) == 0);
    CHECK(memcmp(sum, expected, sizeof sum) == 0);
    for (int k = 0; k < COUNT; k++) CHECK(pending[k] == 0 && !signbit(pending[k]));
    free(bytes);
  }
}

static void test_untouched(void) {
  double pending[4] = {0, -0.0, 0, 0}, sum[4] = {-0.0, -0.0, 1, 2};
  CHECK(ms_pending_size(pending, 4) == 0);
  CHECK(ms_pending_size(pending, 0) == 0);
  pending[3] = NAN;
  char bytes[64];
  CHECK(ms_pending_size(pending, 4) == 24);
  ms_pending_take(pending, 4, bytes);
  ms_error err = {0};
  CHECK(ms_pending_add(sum, 4, bytes, 24, &err) == 0);
  CHECK(signbit(sum[0]) && signbit(sum[1]) && sum[2] == 1 && isnan(sum[3]));
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
  test_malformed();
  return ms_test_end();
}
