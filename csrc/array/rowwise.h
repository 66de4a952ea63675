/* SPDX-License-Identifier: MIT
 *
 * Operations on rows of float and double elements: `count` elements, `stride` apart.
 *
 * This text is compiled twice: as part of the core, and in front of every native kernel, which
 * inlines it (kernel/native/prelude.h). So it needs nothing but lanes.h and lua_math.h, and both
 * have the same bits.
 *
 * Sums have the order of reduce.h (in fast mode any: anyorder.h stands in for lanes.h). The others
 * compute element by element in double and round once, as the plain Lua loop does; with MS_FAST
 * (native kernels in fast mode) rows of floats are computed in float. A row may overlap the one
 * that it is combined with: the result is as if that one had been copied first. Strides are
 * positive. Pure functions of their arguments. */
#ifndef MS_ARRAY_ROWWISE_H
#define MS_ARRAY_ROWWISE_H

#include <stdbool.h>

#include "array/lanes.h"
#include "base/lua_math.h"

/* What two rows of floats are computed in, beside a number or without one: kernel/native/fair.h
 * says which numbers are fair. */
#ifdef MS_FAST
typedef float ms_float_number;
#define MS_IF_FAIR(a, UPDATE)      \
  if (ms_is_fair_float(a)) {       \
    const float number = (float)a; \
    UPDATE;                        \
    return;                        \
  }
#else
typedef double ms_float_number;
#define MS_IF_FAIR(a, UPDATE)
#endif

static inline size_t ms_chunk_size(int64_t first, int64_t count) {
  return count - first < MS_REDUCE_CHUNK ? (size_t)(count - first) : MS_REDUCE_CHUNK;
}

/* Adds up CHUNK(first, n) over the chunks of a row. One chunk's sum, which is never -0, is not
 * worth the time of adding it to 0. */
#define MS_SUM_CHUNKS(CHUNK)                                                \
  do {                                                                      \
    if (count <= MS_REDUCE_CHUNK) return (double)(CHUNK(0, (size_t)count)); \
    double total = 0;                                                       \
    for (int64_t first = 0; first < count; first += MS_REDUCE_CHUNK) {      \
      total += (double)(CHUNK(first, ms_chunk_size(first, count)));         \
    }                                                                       \
    return total;                                                           \
  } while (0)

static inline double ms_row_sum_float(const float *x, int64_t stride, int64_t count) {
#define CHUNK(at, n)                      \
  stride == 1 ? ms_sum_float(x + (at), n) \
              : ms_sum_float_strided(x + (at)*stride, stride, (int64_t)(n))
  MS_SUM_CHUNKS(CHUNK);
#undef CHUNK
}

static inline double ms_row_sum_double(const double *x, int64_t stride, int64_t count) {
#define CHUNK(at, n)                       \
  stride == 1 ? ms_sum_double(x + (at), n) \
              : ms_sum_double_strided(x + (at)*stride, stride, (int64_t)(n))
  MS_SUM_CHUNKS(CHUNK);
#undef CHUNK
}

static inline double ms_row_dot_float_float(const float *x, int64_t x_stride, const float *y,
                                            int64_t y_stride, int64_t count) {
#define CHUNK(at, n)                                                                 \
  x_stride == 1 && y_stride == 1 ? ms_dot_float(x + (at), y + (at), n)               \
                                 : ms_dot_float_strided(x + (at)*x_stride, x_stride, \
                                                        y + (at)*y_stride, y_stride, (int64_t)(n))
  MS_SUM_CHUNKS(CHUNK);
#undef CHUNK
}

static inline double ms_row_dot_double_double(const double *x, int64_t x_stride, const double *y,
                                              int64_t y_stride, int64_t count) {
#define CHUNK(at, n)                                                                    \
  x_stride == 1 && y_stride == 1                                                        \
      ? ms_dot_double(x + (at), y + (at), n)                                            \
      : ms_dot_double_strided(x + (at)*x_stride, x_stride, y + (at)*y_stride, y_stride, \
                              (int64_t)(n))
  MS_SUM_CHUNKS(CHUNK);
#undef CHUNK
}

static inline double ms_row_dot_float_double(const float *x, int64_t x_stride, const double *y,
                                             int64_t y_stride, int64_t count) {
#define CHUNK(at, n) \
  ms_dot_mixed_strided(x + (at)*x_stride, x_stride, y + (at)*y_stride, y_stride, (int64_t)(n))
  MS_SUM_CHUNKS(CHUNK);
#undef CHUNK
}

static inline double ms_row_dot_double_float(const double *x, int64_t x_stride, const float *y,
                                             int64_t y_stride, int64_t count) {
  return ms_row_dot_float_double(y, y_stride, x, x_stride, count);
}

static inline double ms_row_norm_float(const float *x, int64_t stride, int64_t count) {
  return __builtin_sqrt(ms_row_dot_float_float(x, stride, x, stride, count));
}

static inline double ms_row_norm_double(const double *x, int64_t stride, int64_t count) {
  return __builtin_sqrt(ms_row_dot_double_double(x, stride, x, stride, count));
}

/* One factor after the other. */
static inline double ms_row_prod_float(const float *x, int64_t stride, int64_t count) {
  double product = 1;
  for (int64_t k = 0; k < count; k++) product *= (double)x[k * stride];
  return product;
}

static inline double ms_row_prod_double(const double *x, int64_t stride, int64_t count) {
  double product = 1;
  for (int64_t k = 0; k < count; k++) product *= x[k * stride];
  return product;
}

/* Variances are formed in double, of floats too. */
static inline double ms_row_wide_sum(const float *x, int64_t stride, int64_t count) {
#define CHUNK(at, n) ms_sum_wide_strided(x + (at)*stride, stride, (int64_t)(n))
  MS_SUM_CHUNKS(CHUNK);
#undef CHUNK
}

static inline double ms_row_spread_float(const float *x, int64_t stride, int64_t count) {
  double mean = ms_row_wide_sum(x, stride, count) / (double)count;
#define CHUNK(at, n) ms_spread_float_strided(x + (at)*stride, stride, mean, (int64_t)(n))
  MS_SUM_CHUNKS(CHUNK);
#undef CHUNK
}

static inline double ms_row_spread_double(const double *x, int64_t stride, int64_t count) {
  double mean = ms_row_sum_double(x, stride, count) / (double)count;
#define CHUNK(at, n) ms_spread_double_strided(x + (at)*stride, stride, mean, (int64_t)(n))
  MS_SUM_CHUNKS(CHUNK);
#undef CHUNK
}

static inline double ms_row_var_float(const float *x, int64_t stride, int64_t count) {
  return ms_row_spread_float(x, stride, count) / (double)(count - 1);
}

static inline double ms_row_var_double(const double *x, int64_t stride, int64_t count) {
  return ms_row_spread_double(x, stride, count) / (double)(count - 1);
}

static inline double ms_row_std_float(const float *x, int64_t stride, int64_t count) {
  return __builtin_sqrt(ms_row_var_float(x, stride, count));
}

static inline double ms_row_std_double(const double *x, int64_t stride, int64_t count) {
  return __builtin_sqrt(ms_row_var_double(x, stride, count));
}

/* Put before a loop whose iterations may be taken in any order. */
#ifdef __clang__
#define MS_ANY_ORDER _Pragma("clang loop vectorize(assume_safety)")
#else
#define MS_ANY_ORDER _Pragma("GCC ivdep")
#endif

/* y[k] = NEW for all elements; NEW sees the k-th element of y. */
#define MS_UPDATE(element, NEW)                                                              \
  do {                                                                                       \
    if (y_stride == 1) {                                                                     \
      for (int64_t k = 0; k < count; k++) y[k] = (element)(NEW(y[k]));                       \
    } else {                                                                                 \
      for (int64_t k = 0; k < count; k++) y[k * y_stride] = (element)(NEW(y[k * y_stride])); \
    }                                                                                        \
  } while (0)

static inline void ms_row_fill_float(float *y, int64_t y_stride, int64_t count, double a) {
#define NEW(old) a
  MS_UPDATE(float, NEW);
#undef NEW
}

static inline void ms_row_fill_double(double *y, int64_t y_stride, int64_t count, double a) {
#define NEW(old) a
  MS_UPDATE(double, NEW);
#undef NEW
}

static inline void ms_row_scal_float(float *y, int64_t y_stride, int64_t count, double a) {
#define NEW(old) number *(old)
  MS_IF_FAIR(a, MS_UPDATE(float, NEW))
#undef NEW
#define NEW(old) a *(double)(old)
  MS_UPDATE(float, NEW);
#undef NEW
}

static inline void ms_row_scal_double(double *y, int64_t y_stride, int64_t count, double a) {
#define NEW(old) a *(old)
  MS_UPDATE(double, NEW);
#undef NEW
}

/* The functions of bodies; in fast mode of floats those of the C library for floats. */
#ifdef MS_FAST
#define ms_float_exp  __builtin_expf
#define ms_float_log  __builtin_logf
#define ms_float_sqrt __builtin_sqrtf
#define ms_float_tanh __builtin_tanhf
#define ms_float_abs  __builtin_fabsf
#else
#define ms_float_exp(x)  ms_math_exp((double)(x))
#define ms_float_log(x)  ms_math_log((double)(x))
#define ms_float_sqrt(x) ms_math_sqrt((double)(x))
#define ms_float_tanh(x) ms_math_tanh((double)(x))
#define ms_float_abs(x)  ms_math_abs((double)(x))
#endif

static inline void ms_row_exp_float(float *y, int64_t y_stride, int64_t count) {
  MS_UPDATE(float, ms_float_exp);
}

static inline void ms_row_exp_double(double *y, int64_t y_stride, int64_t count) {
  MS_UPDATE(double, ms_math_exp);
}

static inline void ms_row_log_float(float *y, int64_t y_stride, int64_t count) {
  MS_UPDATE(float, ms_float_log);
}

static inline void ms_row_log_double(double *y, int64_t y_stride, int64_t count) {
  MS_UPDATE(double, ms_math_log);
}

static inline void ms_row_sqrt_float(float *y, int64_t y_stride, int64_t count) {
  MS_UPDATE(float, ms_float_sqrt);
}

static inline void ms_row_sqrt_double(double *y, int64_t y_stride, int64_t count) {
  MS_UPDATE(double, ms_math_sqrt);
}

static inline void ms_row_tanh_float(float *y, int64_t y_stride, int64_t count) {
  MS_UPDATE(float, ms_float_tanh);
}

static inline void ms_row_tanh_double(double *y, int64_t y_stride, int64_t count) {
  MS_UPDATE(double, ms_math_tanh);
}

static inline void ms_row_abs_float(float *y, int64_t y_stride, int64_t count) {
  MS_UPDATE(float, ms_float_abs);
}

static inline void ms_row_abs_double(double *y, int64_t y_stride, int64_t count) {
  MS_UPDATE(double, ms_math_abs);
}

static inline void ms_row_pow_float(float *y, int64_t y_stride, int64_t count, double a) {
#define NEW(old) ms_math_pow((double)(old), a)
  MS_UPDATE(float, NEW);
#undef NEW
}

static inline void ms_row_pow_double(double *y, int64_t y_stride, int64_t count, double a) {
#define NEW(old) ms_math_pow(old, a)
  MS_UPDATE(double, NEW);
#undef NEW
}

/* Whether combining rows element by element, all at once, is as if x had been copied first. */
static inline bool ms_row_is_disjoint(const void *y, const void *x, int64_t bytes) {
  uintptr_t to = (uintptr_t)y, from = (uintptr_t)x;
  return to == from || (to - from >= (uintptr_t)bytes && from - to >= (uintptr_t)bytes);
}

/* Rows of one array that may overlap anyhow, x `ahead` elements beyond y: element k of x is element
 * k + (ahead + k * (x_stride - y_stride)) / y_stride of y. Where that is k or later, elements must
 * be taken in order; where it is earlier, in reverse; and none of one part of the row belongs to
 * the other. Gives the number of elements in the first part and whether it goes in order. */
static inline int64_t ms_row_turn(int64_t ahead, int64_t x_stride, int64_t y_stride, int64_t count,
                                  bool *first_in_order) {
  int64_t growth = x_stride - y_stride, turn = count;
  *first_in_order = ahead >= 0;
  if (ahead < 0 && growth > 0) turn = (-ahead - 1) / growth + 1;
  if (ahead >= 0 && growth < 0) turn = ahead / -growth + 1;
  return turn < count ? turn : count;
}

/* y[k] = NEW for all elements; NEW sees the k-th elements of y and x, rows of one type. */
#define MS_COMBINE(element, NEW)                                             \
  do {                                                                       \
    if (y_stride == 1 && x_stride == 1 &&                                    \
        ms_row_is_disjoint(y, x, count * (int64_t)sizeof(element))) {        \
      MS_ANY_ORDER for (int64_t k = 0; k < count; k++) {                     \
        y[k] = (element)(NEW(y[k], x[k]));                                   \
      }                                                                      \
      break;                                                                 \
    }                                                                        \
    int64_t ahead = ((intptr_t)x - (intptr_t)y) / (intptr_t)sizeof(element); \
    bool in_order;                                                           \
    int64_t turn = ms_row_turn(ahead, x_stride, y_stride, count, &in_order); \
    for (int64_t n = 0; n < turn; n++) {                                     \
      int64_t k = in_order ? n : turn - 1 - n;                               \
      y[k * y_stride] = (element)(NEW(y[k * y_stride], x[k * x_stride]));    \
    }                                                                        \
    for (int64_t n = turn; n < count; n++) {                                 \
      int64_t k = in_order ? count - 1 - (n - turn) : n;                     \
      y[k * y_stride] = (element)(NEW(y[k * y_stride], x[k * x_stride]));    \
    }                                                                        \
  } while (0)

/* The same for rows of two types, which never overlap. */
#define MS_COMBINE_MIXED(element, NEW)                                    \
  do {                                                                    \
    MS_ANY_ORDER for (int64_t k = 0; k < count; k++) {                    \
      y[k * y_stride] = (element)(NEW(y[k * y_stride], x[k * x_stride])); \
    }                                                                     \
  } while (0)

#define MS_ROWS(y_element, x_element) \
  y_element *y, int64_t y_stride, const x_element *x, int64_t x_stride, int64_t count

/* What is combined how, in double. */
#define MS_COPIED(old, other)     (other)
#define MS_MULTIPLIED(old, other) (double)(old) * (double)(other)
#define MS_ADDED(old, other)      (double)(old) + a *(double)(other)

static inline void ms_row_copy_float_float(MS_ROWS(float, float)) {
  MS_COMBINE(float, MS_COPIED);
}

static inline void ms_row_copy_double_double(MS_ROWS(double, double)) {
  MS_COMBINE(double, MS_COPIED);
}

static inline void ms_row_copy_float_double(MS_ROWS(float, double)) {
  MS_COMBINE_MIXED(float, MS_COPIED);
}

static inline void ms_row_copy_double_float(MS_ROWS(double, float)) {
  MS_COMBINE_MIXED(double, MS_COPIED);
}

static inline void ms_row_cmul_float_float(MS_ROWS(float, float)) {
#define NEW(old, other) (ms_float_number)(old) * (ms_float_number)(other)
  MS_COMBINE(float, NEW);
#undef NEW
}

static inline void ms_row_cmul_double_double(MS_ROWS(double, double)) {
  MS_COMBINE(double, MS_MULTIPLIED);
}

static inline void ms_row_cmul_float_double(MS_ROWS(float, double)) {
  MS_COMBINE_MIXED(float, MS_MULTIPLIED);
}

static inline void ms_row_cmul_double_float(MS_ROWS(double, float)) {
  MS_COMBINE_MIXED(double, MS_MULTIPLIED);
}

static inline void ms_row_axpy_float_float(MS_ROWS(float, float), double a) {
#define NEW(old, other) (old) + number *(other)
  MS_IF_FAIR(a, MS_COMBINE(float, NEW))
#undef NEW
  MS_COMBINE(float, MS_ADDED);
}

static inline void ms_row_axpy_double_double(MS_ROWS(double, double), double a) {
  MS_COMBINE(double, MS_ADDED);
}

static inline void ms_row_axpy_float_double(MS_ROWS(float, double), double a) {
  MS_COMBINE_MIXED(float, MS_ADDED);
}

static inline void ms_row_axpy_double_float(MS_ROWS(double, float), double a) {
  MS_COMBINE_MIXED(double, MS_ADDED);
}

#endif
