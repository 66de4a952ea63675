/* SPDX-License-Identifier: MIT
 *
 * The functions of lanes.h in the order of addition that suits the compiler best: what stands in
 * front of native kernels in fast mode in place of that text (kernel/native/prelude.h). Fast mode's
 * flags allow the compiler to vectorise these sums. Pure functions. */
#ifndef MS_ARRAY_ANYORDER_H
#define MS_ARRAY_ANYORDER_H

#include <stddef.h>
#include <stdint.h>

#define MS_REDUCE_CHUNK 4096

/* gcc peels a short loop of constant length completely before it vectorises, which makes it half as
 * fast. */
#ifdef __clang__
#define MS_ROLLED
#else
#define MS_ROLLED _Pragma("GCC unroll 1")
#endif

#define MS_SUM_ANY(number, TERM)                                           \
  do {                                                                     \
    number sum = 0;                                                        \
    MS_ROLLED                                                              \
    for (int64_t k = 0; k < (int64_t)count; k++) sum += (number)(TERM(k)); \
    return sum;                                                            \
  } while (0)

static inline float ms_sum_float(const float *x, size_t count) {
#define TERM(k) x[k]
  MS_SUM_ANY(float, TERM);
#undef TERM
}

static inline double ms_sum_double(const double *x, size_t count) {
#define TERM(k) x[k]
  MS_SUM_ANY(double, TERM);
#undef TERM
}

static inline float ms_dot_float(const float *x, const float *y, size_t count) {
#define TERM(k) x[k] * y[k]
  MS_SUM_ANY(float, TERM);
#undef TERM
}

static inline double ms_dot_double(const double *x, const double *y, size_t count) {
#define TERM(k) x[k] * y[k]
  MS_SUM_ANY(double, TERM);
#undef TERM
}

static inline float ms_sum_float_strided(const float *x, int64_t stride, int64_t count) {
#define TERM(k) x[(k)*stride]
  MS_SUM_ANY(float, TERM);
#undef TERM
}

static inline double ms_sum_double_strided(const double *x, int64_t stride, int64_t count) {
#define TERM(k) x[(k)*stride]
  MS_SUM_ANY(double, TERM);
#undef TERM
}

static inline float ms_dot_float_strided(const float *x, int64_t x_stride, const float *y,
                                         int64_t y_stride, int64_t count) {
#define TERM(k) x[(k)*x_stride] * y[(k)*y_stride]
  MS_SUM_ANY(float, TERM);
#undef TERM
}

static inline double ms_dot_double_strided(const double *x, int64_t x_stride, const double *y,
                                           int64_t y_stride, int64_t count) {
#define TERM(k) x[(k)*x_stride] * y[(k)*y_stride]
  MS_SUM_ANY(double, TERM);
#undef TERM
}

static inline double ms_dot_mixed_strided(const float *x, int64_t x_stride, const double *y,
                                          int64_t y_stride, int64_t count) {
#define TERM(k) (double)x[(k)*x_stride] * y[(k)*y_stride]
  MS_SUM_ANY(double, TERM);
#undef TERM
}

static inline double ms_sum_wide_strided(const float *x, int64_t stride, int64_t count) {
#define TERM(k) (double)x[(k)*stride]
  MS_SUM_ANY(double, TERM);
#undef TERM
}

static inline double ms_spread_float_strided(const float *x, int64_t stride, double from,
                                             int64_t count) {
#define TERM(k) ((double)x[(k)*stride] - from) * ((double)x[(k)*stride] - from)
  MS_SUM_ANY(double, TERM);
#undef TERM
}

static inline double ms_spread_double_strided(const double *x, int64_t stride, double from,
                                              int64_t count) {
#define TERM(k) (x[(k)*stride] - from) * (x[(k)*stride] - from)
  MS_SUM_ANY(double, TERM);
#undef TERM
}

#endif
