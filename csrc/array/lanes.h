/* SPDX-License-Identifier: MIT
 *
 * Sums of at most MS_REDUCE_CHUNK elements in the order of addition that reduce.h defines.
 *
 * This text is compiled twice: as part of the core, and in front of every native kernel, which
 * inlines it (kernel/native/prelude.h). So it needs nothing but the compiler's own headers.
 *
 * The partial sums, 64 bytes, are kept in registers of 32 bytes, or of 16 where there is no AVX;
 * which they are does not change the order. Registers of 64 bytes would close one of three vector
 * ports of Intel's cores to all instructions near them: AdaGrad's other loop ran a quarter slower.
 * Elements that are missing at the end add nothing: a partial sum is never -0, because all start
 * at 0. Pure functions. */
#ifndef MS_ARRAY_LANES_H
#define MS_ARRAY_LANES_H

#include <stddef.h>
#include <stdint.h>

#define MS_REDUCE_CHUNK 4096
#define MS_FLOAT_LANES  16
#define MS_DOUBLE_LANES 8

/* MS_EACH_REGISTER runs DO(0), DO(1), ... for the registers of partial sums. */
#if defined __AVX__
#define MS_REGISTERS         2
#define MS_EACH_REGISTER(DO) DO(0) DO(1)
#else
#define MS_REGISTERS         4
#define MS_EACH_REGISTER(DO) DO(0) DO(1) DO(2) DO(3)
#endif
#define MS_FLOATS  (MS_FLOAT_LANES / MS_REGISTERS)
#define MS_DOUBLES (MS_DOUBLE_LANES / MS_REGISTERS)

/* Registers of partial sums, and quarters of all partial sums. */
typedef float ms_floats __attribute__((vector_size(64 / MS_REGISTERS)));
typedef double ms_doubles __attribute__((vector_size(64 / MS_REGISTERS)));
typedef float ms_float4 __attribute__((vector_size(16)));
typedef double ms_double2 __attribute__((vector_size(16)));

/* Terms from elements that lie side by side. */
static inline ms_floats ms_floats_from(const float *x) {
  ms_floats terms;
  __builtin_memcpy(&terms, x, sizeof terms);
  return terms;
}

static inline ms_doubles ms_doubles_from(const double *x) {
  ms_doubles terms;
  __builtin_memcpy(&terms, x, sizeof terms);
  return terms;
}

static inline ms_float4 ms_float4_from(const float *x) {
  ms_float4 terms;
  __builtin_memcpy(&terms, x, sizeof terms);
  return terms;
}

static inline ms_double2 ms_double2_from(const double *x) {
  ms_double2 terms;
  __builtin_memcpy(&terms, x, sizeof terms);
  return terms;
}

/* The last elements, fewer than a quarter. */
static inline ms_float4 ms_float4_last(const float *x, size_t count) {
  return (ms_float4){count > 0 ? x[0] : 0, count > 1 ? x[1] : 0, count > 2 ? x[2] : 0, 0};
}

static inline ms_double2 ms_double2_last(const double *x, size_t count) {
  return (ms_double2){count > 0 ? x[0] : 0, 0};
}

static inline float ms_float4_sum(const ms_float4 *quarter) {
  ms_float4 s = (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
  return (s[0] + s[2]) + (s[1] + s[3]);
}

static inline double ms_double2_sum(const ms_double2 *quarter) {
  ms_double2 s = (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
  return s[0] + s[1];
}

/* Adds the terms of the elements [i, count), fewer than there are partial sums: QUARTER(at) gives a
 * quarter of them, LAST(at, n) the last n, fewer than a quarter. */
#define MS_ADD_REST(WIDTH, QUARTER, LAST)                             \
  do {                                                                \
    size_t whole = (count - i) / (WIDTH), last = i + whole * (WIDTH); \
    if (whole > 0) quarter[0] += QUARTER(i);                          \
    if (whole > 1) quarter[1] += QUARTER(i + (WIDTH));                \
    if (whole > 2) quarter[2] += QUARTER(i + 2 * (size_t)(WIDTH));    \
    if (last == count) break;                                         \
    if (whole == 0) quarter[0] += LAST(last, count - last);           \
    if (whole == 1) quarter[1] += LAST(last, count - last);           \
    if (whole == 2) quarter[2] += LAST(last, count - last);           \
    if (whole == 3) quarter[3] += LAST(last, count - last);           \
  } while (0)

/* The bodies of the functions below. REGISTER(r) adds a register of terms to s[r]. Short rows stay
 * in quarters: taking wide registers apart costs more than they save. */
#define MS_SUM_LANES(registers, quarters, LANES, REGISTER, QUARTER, LAST, SUM) \
  do {                                                                         \
    registers s[MS_REGISTERS] = {{0}};                                         \
    quarters quarter[4] = {{0}};                                               \
    size_t i = 0;                                                              \
    if (count >= 2 * (LANES)) {                                                \
      for (; i + (LANES) <= count; i += (LANES)) {                             \
        MS_EACH_REGISTER(REGISTER);                                            \
      }                                                                        \
      __builtin_memcpy(quarter, s, sizeof quarter);                            \
    } else if (count >= (LANES)) {                                             \
      for (; i < (LANES); i += (LANES) / 4) {                                  \
        quarter[i / ((LANES) / 4)] += QUARTER(i);                              \
      }                                                                        \
    }                                                                          \
    MS_ADD_REST((LANES) / 4, QUARTER, LAST);                                   \
    return SUM(quarter);                                                       \
  } while (0)

#define MS_SUM_FLOATS(REGISTER, QUARTER, LAST) \
  MS_SUM_LANES(ms_floats, ms_float4, (size_t)MS_FLOAT_LANES, REGISTER, QUARTER, LAST, ms_float4_sum)
#define MS_SUM_DOUBLES(REGISTER, QUARTER, LAST)                                          \
  MS_SUM_LANES(ms_doubles, ms_double2, (size_t)MS_DOUBLE_LANES, REGISTER, QUARTER, LAST, \
               ms_double2_sum)

/* Elements side by side. */
static inline float ms_sum_float(const float *x, size_t count) {
#define REGISTER(r)     s[r] += ms_floats_from(x + i + (r)*MS_FLOATS);
#define QUARTER(at)     ms_float4_from(x + (at))
#define LAST(at, count) ms_float4_last(x + (at), count)
  MS_SUM_FLOATS(REGISTER, QUARTER, LAST);
#undef REGISTER
#undef QUARTER
#undef LAST
}

static inline double ms_sum_double(const double *x, size_t count) {
#define REGISTER(r)     s[r] += ms_doubles_from(x + i + (r)*MS_DOUBLES);
#define QUARTER(at)     ms_double2_from(x + (at))
#define LAST(at, count) ms_double2_last(x + (at), count)
  MS_SUM_DOUBLES(REGISTER, QUARTER, LAST);
#undef REGISTER
#undef QUARTER
#undef LAST
}

static inline float ms_dot_float(const float *x, const float *y, size_t count) {
#define REGISTER(r) \
  s[r] += ms_floats_from(x + i + (r)*MS_FLOATS) * ms_floats_from(y + i + (r)*MS_FLOATS);
#define QUARTER(at)     ms_float4_from(x + (at)) * ms_float4_from(y + (at))
#define LAST(at, count) ms_float4_last(x + (at), count) * ms_float4_last(y + (at), count)
  MS_SUM_FLOATS(REGISTER, QUARTER, LAST);
#undef REGISTER
#undef QUARTER
#undef LAST
}

static inline double ms_dot_double(const double *x, const double *y, size_t count) {
#define REGISTER(r) \
  s[r] += ms_doubles_from(x + i + (r)*MS_DOUBLES) * ms_doubles_from(y + i + (r)*MS_DOUBLES);
#define QUARTER(at)     ms_double2_from(x + (at)) * ms_double2_from(y + (at))
#define LAST(at, count) ms_double2_last(x + (at), count) * ms_double2_last(y + (at), count)
  MS_SUM_DOUBLES(REGISTER, QUARTER, LAST);
#undef REGISTER
#undef QUARTER
#undef LAST
}

/* Elements some way apart, or of two types: TERM(k) is the term of element k. */
#define MS_SUM_APART(number, LANES, TERM)                                         \
  do {                                                                            \
    number s[LANES] = {0};                                                        \
    int64_t at = 0;                                                               \
    for (; at + (LANES) <= count; at += (LANES)) {                                \
      for (int64_t lane = 0; lane < (LANES); lane++) s[lane] += TERM(at + lane);  \
    }                                                                             \
    for (int64_t lane = 0; at + lane < count; lane++) s[lane] += TERM(at + lane); \
    for (int64_t half = (LANES) / 2; half > 0; half /= 2) {                       \
      for (int64_t lane = 0; lane < half; lane++) s[lane] += s[lane + half];      \
    }                                                                             \
    return s[0];                                                                  \
  } while (0)

static inline float ms_sum_float_strided(const float *x, int64_t stride, int64_t count) {
#define TERM(k) x[(k)*stride]
  MS_SUM_APART(float, MS_FLOAT_LANES, TERM);
#undef TERM
}

static inline double ms_sum_double_strided(const double *x, int64_t stride, int64_t count) {
#define TERM(k) x[(k)*stride]
  MS_SUM_APART(double, MS_DOUBLE_LANES, TERM);
#undef TERM
}

static inline float ms_dot_float_strided(const float *x, int64_t x_stride, const float *y,
                                         int64_t y_stride, int64_t count) {
#define TERM(k) x[(k)*x_stride] * y[(k)*y_stride]
  MS_SUM_APART(float, MS_FLOAT_LANES, TERM);
#undef TERM
}

static inline double ms_dot_double_strided(const double *x, int64_t x_stride, const double *y,
                                           int64_t y_stride, int64_t count) {
#define TERM(k) x[(k)*x_stride] * y[(k)*y_stride]
  MS_SUM_APART(double, MS_DOUBLE_LANES, TERM);
#undef TERM
}

static inline double ms_dot_mixed_strided(const float *x, int64_t x_stride, const double *y,
                                          int64_t y_stride, int64_t count) {
#define TERM(k) (double)x[(k)*x_stride] * y[(k)*y_stride]
  MS_SUM_APART(double, MS_DOUBLE_LANES, TERM);
#undef TERM
}

/* Floats, in double. */
static inline double ms_sum_wide_strided(const float *x, int64_t stride, int64_t count) {
#define TERM(k) (double)x[(k)*stride]
  MS_SUM_APART(double, MS_DOUBLE_LANES, TERM);
#undef TERM
}

/* Squared differences from a number, in double. */
static inline double ms_spread_float_strided(const float *x, int64_t stride, double from,
                                             int64_t count) {
#define TERM(k) ((double)x[(k)*stride] - from) * ((double)x[(k)*stride] - from)
  MS_SUM_APART(double, MS_DOUBLE_LANES, TERM);
#undef TERM
}

static inline double ms_spread_double_strided(const double *x, int64_t stride, double from,
                                              int64_t count) {
#define TERM(k) (x[(k)*stride] - from) * (x[(k)*stride] - from)
  MS_SUM_APART(double, MS_DOUBLE_LANES, TERM);
#undef TERM
}

#endif
