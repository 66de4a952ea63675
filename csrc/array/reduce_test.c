/* SPDX-License-Identifier: MIT
 *
 * Reductions against the order that reduce.h defines, written here in plain loops; strided views
 * against contiguous copies; and element-wise arithmetic. */
#include "array/reduce.h"

#include <math.h>
#include <string.h>

#include "array/arith.h"
#include "array/random_fill.h"
#include "array/sum_by_definition.h"
#include "base/test.h"

static const int64_t counts[] = {0, 1, 7, 8, 9, 15, 16, 17, 100, 4095, 4096, 4097, 10000};

static ms_array *random_vector(int type, int64_t count, uint64_t seed) {
  ms_error err = {0};
  ms_array *array = ms_array_dense(type, 1, &count, &err);
  CHECK(ms_random_fill_normal(array, seed, 1, &err) == 0);
  return array;
}

static void test_definition(void) {
  static double wide[10000], products[10000];
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
    for (int type = MS_FLOAT; type <= MS_DOUBLE; type++) {
      ms_error err = {0};
      ms_array *x = random_vector(type, counts[c], 1), *y = random_vector(type, counts[c], 2);
      double other[1];
      bool in_float = type == MS_FLOAT;
      for (int64_t i = 0; i < counts[c]; i++) {
        ms_type_of(type)->widen((char *)x->data + (size_t)i * (in_float ? 4 : 8), &wide[i], 1);
        ms_type_of(type)->widen((char *)y->data + (size_t)i * (in_float ? 4 : 8), other, 1);
        products[i] = wide[i] * other[0];
        if (in_float) products[i] = (double)(float)products[i];
      }
      int lanes = in_float ? 16 : 8;
      CHECK(ms_reduce_array(x, MS_REDUCTION_SUM, &err) ==
            sum_by_definition(wide, counts[c], lanes, in_float));
      double dot = sum_by_definition(products, counts[c], lanes, in_float);
      CHECK(ms_reduce_dot(x, y, &err) == dot);
      CHECK(ms_reduce_dot_row(type, x->data, 1, type, y->data, 1, counts[c], &err) == dot);
      CHECK(err.code == MS_OK);
      ms_array_release(x);
      ms_array_release(y);
    }
  }
}

static void test_strided(void) {
  ms_error err = {0};
  const int64_t dims[] = {61, 7, 83};
  for (int type = MS_FLOAT; type <= MS_DOUBLE; type++) {
    ms_array *array = ms_array_dense(type, 3, dims, &err);
    CHECK(ms_random_fill_normal(array, 3, 1, &err) == 0);
    ms_array *turned = ms_array_transpose(array, 0, 2, &err);
    ms_array *part = ms_array_narrow(turned, 1, 1, 5, &err);
    ms_array *copy = ms_array_clone(part, &err);
    for (int op = MS_REDUCTION_SUM; op <= MS_REDUCTION_MOST; op++) {
      CHECK(ms_reduce_array(part, op, &err) == ms_reduce_array(copy, op, &err));
    }
    CHECK(ms_reduce_dot(part, copy, &err) == ms_reduce_dot(copy, copy, &err));
    CHECK(ms_array_contiguous(copy) && !ms_array_contiguous(part));
    ms_array_release(array);
    ms_array_release(turned);
    ms_array_release(part);
    ms_array_release(copy);
  }
}

static void test_extremes(void) {
  ms_error err = {0};
  double x[] = {3, -7, 5}, with_nan[] = {3, (double)NAN, 5};
  CHECK(ms_reduce_row(MS_DOUBLE, x, 1, 3, MS_REDUCTION_LEAST, &err) == -7);
  CHECK(ms_reduce_row(MS_DOUBLE, x, 1, 3, MS_REDUCTION_MOST, &err) == 5);
  CHECK(ms_reduce_row(MS_DOUBLE, x, 1, 3, MS_REDUCTION_MAGNITUDES, &err) == 15);
  CHECK(isnan(ms_reduce_row(MS_DOUBLE, with_nan, 1, 3, MS_REDUCTION_MOST, &err)));
  CHECK(err.code == MS_OK);
  ms_reduce_row(MS_DOUBLE, x, 1, 0, MS_REDUCTION_MOST, &err);
  CHECK(err.code == MS_ARR);
  int64_t big[] = {INT64_C(1) << 60};
  ms_error_clear(&err);
  ms_reduce_row(MS_INT64, big, 1, 1, MS_REDUCTION_SUM, &err);
  CHECK(err.code == MS_ARR);
}

static void test_axpy_is_the_loop(void) {
  ms_error err = {0};
  for (int type = MS_FLOAT; type <= MS_DOUBLE; type++) {
    ms_array *x = random_vector(type, 3000, 5), *y = random_vector(type, 3000, 6);
    ms_array *loop = ms_array_clone(y, &err);
    for (int i = 0; i < 3000; i++) {
      if (type == MS_FLOAT) {
        float *at = (float *)loop->data + i;
        *at = (float)((double)*at + 0.3 * (double)((float *)x->data)[i]);
      } else {
        double *at = (double *)loop->data + i;
        *at = *at + 0.3 * ((double *)x->data)[i];
      }
    }
    CHECK(ms_arith_array(MS_ARITH_AXPY, y, x, 0.3, &err) == 0);
    CHECK(memcmp(y->data, loop->data, ms_array_bytes(y)) == 0);
    ms_array_release(x);
    ms_array_release(y);
    ms_array_release(loop);
  }
}

static void test_integers_stay(void) {
  ms_error err = {0};
  int32_t y[3000];
  for (int i = 0; i < 3000; i++) y[i] = 2 * i;
  y[2999] = 1;
  CHECK(ms_arith_row(MS_ARITH_SCAL, MS_INT32, y, 1, 0, NULL, 0, 3000, 0.5, &err) == -1);
  CHECK(err.code == MS_ARR && strstr(err.message, "0.5") != NULL && y[5] == 10);
  ms_error_clear(&err);
  y[2999] = 0;
  CHECK(ms_arith_row(MS_ARITH_SCAL, MS_INT32, y, 1, 0, NULL, 0, 3000, 0.5, &err) == 0);
  CHECK(y[5] == 5);
  CHECK(ms_arith_row(MS_ARITH_ADD, MS_INT32, y, 1, 0, NULL, 0, 3000, (double)NAN, &err) == -1);
  int64_t big[] = {INT64_C(1) << 60, -1}, copy[2];
  ms_error_clear(&err);
  CHECK(ms_arith_row(MS_ARITH_COPY, MS_INT64, copy, 1, MS_INT64, big, 1, 2, 0, &err) == 0);
  CHECK(memcmp(big, copy, sizeof big) == 0);
}

static void test_overlap(void) {
  ms_error err = {0};
  double y[5000];
  for (int i = 0; i < 5000; i++) y[i] = i;
  CHECK(ms_arith_row(MS_ARITH_COPY, MS_DOUBLE, y + 1, 1, MS_DOUBLE, y, 1, 4999, 0, &err) == 0);
  bool right = y[0] == 0;
  for (int i = 1; i < 5000; i++) right = right && y[i] == i - 1;
  CHECK(right);
  CHECK(ms_arith_row(MS_ARITH_AXPY, MS_DOUBLE, y, 1, MS_DOUBLE, y, 1, 5000, 1, &err) == 0);
  CHECK(y[10] == 18);
}

int main(void) {
  test_definition();
  test_strided();
  test_extremes();
  test_axpy_is_the_loop();
  test_integers_stay();
  test_overlap();
  return ms_test_end();
}
