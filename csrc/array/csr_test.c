/* SPDX-License-Identifier: MIT
 *
 * Tests of compressed rows against a search through all entries. */
#include "array/csr.h"

#include <string.h>

#include "base/philox.h"
#include "base/test.h"

#define DIMS 3

static uint32_t draw(uint64_t *state, uint32_t below) {
  ms_philox block = ms_philox_at(17, (*state)++, 0);
  return (uint32_t)(ms_philox_unit(ms_philox_half(&block, 0)) * below);
}

static ms_array *random_array(int type, const int64_t *dims, int64_t count, uint64_t *state) {
  ms_error err = {0};
  ms_array *array = ms_array_sparse(type, DIMS, dims, count, &err);
  for (int64_t e = 0; e < count; e++) {
    for (int d = 0; d < DIMS; d++) array->coords[d][e] = (int32_t)draw(state, (uint32_t)dims[d]);
    double value = (double)e;
    ms_type_of(type)->narrow(&value, (char *)array->data + (size_t)e * ms_type_of(type)->size, 1);
  }
  return array;
}

static double value_at(const ms_array *array, const void *values, int64_t place) {
  const ms_type_ops *ops = ms_type_of(array->type);
  double value = 0;
  ops->widen((const char *)values + (size_t)place * ops->size, &value, 1);
  return value;
}

/* Whether place k comes after place k - 1: by subscripts, then by file order (the values). */
static int in_order(const ms_array *array, const ms_csr *rows, int64_t k) {
  for (int d = 1; d < DIMS; d++) {
    int32_t before = rows->columns[d][k - 1], here = rows->columns[d][k];
    if (before != here) return before < here;
  }
  return value_at(array, rows->values, k - 1) < value_at(array, rows->values, k);
}

static void check_rows(const ms_array *array, const ms_csr *rows) {
  CHECK(rows->start[0] == 0 && rows->start[array->dims[0]] == array->count);
  for (int64_t row = 0; row < array->dims[0]; row++) {
    for (int64_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
      CHECK(k == rows->start[row] || in_order(array, rows, k));
      int64_t e = (int64_t)value_at(array, rows->values, k);
      CHECK(array->coords[0][e] == row);
      for (int d = 1; d < DIMS; d++) CHECK(array->coords[d][e] + 1 == rows->columns[d][k]);
    }
  }
}

/* The range of leading subscripts holds as many entries as there are with them. */
static void check_range(const ms_array *array, const ms_csr *rows, const int32_t *at, int count) {
  int64_t first = -1, last = -1, wanted = 0;
  for (int64_t e = 0; e < array->count; e++) {
    int same = 1;
    for (int d = 0; d < count; d++) same = same && array->coords[d][e] == at[d];
    wanted += same;
  }
  ms_csr_range(rows, at, count, &first, &last);
  CHECK(last - first == wanted);
}

static void test_random(void) {
  static const int types[] = {MS_FLOAT, MS_DOUBLE, MS_INT32, MS_INT64};
  const int64_t dims[DIMS] = {20, 7, 3};
  uint64_t state = 0;
  for (int round = 0; round < 40; round++) {
    ms_error err = {0};
    ms_array *array = random_array(types[round % 4], dims, draw(&state, 200), &state);
    const ms_csr *rows = ms_csr_get(array, &err);
    CHECK(rows != NULL && ms_csr_get(array, &err) == rows);
    check_rows(array, rows);
    for (int k = 0; k < 30; k++) {
      const int32_t at[DIMS] = {(int32_t)draw(&state, 20), (int32_t)draw(&state, 7),
                                (int32_t)draw(&state, 3)};
      for (int count = 1; count <= DIMS; count++) check_range(array, rows, at, count);
    }
    ms_array_release(array);
  }
}

static void test_renewed(void) {
  ms_error err = {0};
  const int64_t dims[DIMS] = {4, 4, 4};
  uint64_t state = 99;
  ms_array *array = random_array(MS_DOUBLE, dims, 10, &state);
  const ms_csr *rows = ms_csr_get(array, &err);
  double first = value_at(array, rows->values, 0);
  for (int64_t e = 0; e < 10; e++) ((double *)array->data)[e] += 100;
  array->version++;
  rows = ms_csr_get(array, &err);
  CHECK(rows->version == array->version && value_at(array, rows->values, 0) == first + 100);
  ms_array_invalidate(array, "a test");
  CHECK(ms_csr_get(array, &err) == NULL && err.code == MS_ARR);
  ms_array_release(array);
}

static void test_unsuitable(void) {
  ms_error err = {0};
  const int64_t dims[] = {1000000, 4};
  ms_array *tall = ms_array_sparse(MS_DOUBLE, 2, dims, 10, &err);
  CHECK(!ms_csr_suit(tall) && ms_csr_get(tall, &err) == NULL && err.code == MS_ARR);
  ms_array_release(tall);
  ms_array *vector = ms_array_sparse(MS_DOUBLE, 1, dims, 10, &err);
  CHECK(!ms_csr_suit(vector));
  ms_array_release(vector);
  ms_error_clear(&err);
  ms_array *dense = ms_array_dense(MS_DOUBLE, 1, dims + 1, &err);
  CHECK(dense != NULL && !ms_csr_suit(dense));
  ms_array_release(dense);
}

static void test_foreign(void) {
  ms_error err = {0};
  int32_t rows_of[] = {0, 1}, columns_of[] = {1, 0}, columns[] = {2, 1}, *coords[8] = {rows_of};
  int32_t *both[8] = {NULL, columns};
  double values[] = {5, 6};
  int64_t dims[] = {2, 2}, start[] = {0, 1, 2}, first, last;
  coords[1] = columns_of;
  ms_array *array = ms_array_foreign(MS_DOUBLE, 2, dims, NULL, values, coords, 2, &err);
  CHECK(array != NULL && ms_csr_foreign(array, start, both, values, &err) == 0);
  const int32_t at[] = {1, 0};
  ms_csr_range(array->rows, at, 2, &first, &last);
  CHECK(first == 1 && last == 2);
  CHECK(ms_csr_foreign(array, NULL, both, NULL, &err) == 0 && array->rows == NULL);
  CHECK(ms_csr_foreign(array, start, both, values, &err) == 0);
  ms_array_release(array);
}

int main(void) {
  test_random();
  test_renewed();
  test_unsuitable();
  test_foreign();
  CHECK(ms_segment_bytes() == 0);
  return ms_test_end();
}
