/* SPDX-License-Identifier: MIT
 *
 * Four sums in one register, for native kernels: see c_fours.h. A part of the native prelude. */
#ifndef MS_KERNEL_NATIVE_FOUR_SUMS_H
#define MS_KERNEL_NATIVE_FOUR_SUMS_H

/* Without AVX registers have no room, and exchanging elements costs more than it saves. */
#ifdef __AVX__
typedef double ms_four __attribute__((vector_size(32)));

/* Elements of two fours by their places, those of `b` from 4 on. */
#ifdef __clang__
#define MS_FOUR_OF(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef long long ms_four_places __attribute__((vector_size(32)));
#define MS_FOUR_OF(a, b, ...) __builtin_shuffle(a, b, (ms_four_places){__VA_ARGS__})
#endif

/* What four sums are with their next four terms, or less these if `minus`: each sum in the order of
 * its terms. */
static inline ms_four ms_four_sums(ms_four sums, const double *first, const double *second,
                                   const double *third, const double *fourth, int minus) {
  ms_four a, b, c, d;
  __builtin_memcpy(&a, first, sizeof a);
  __builtin_memcpy(&b, second, sizeof b);
  __builtin_memcpy(&c, third, sizeof c);
  __builtin_memcpy(&d, fourth, sizeof d);
  const ms_four even = MS_FOUR_OF(a, b, 0, 4, 2, 6), odd = MS_FOUR_OF(a, b, 1, 5, 3, 7);
  const ms_four evens = MS_FOUR_OF(c, d, 0, 4, 2, 6), odds = MS_FOUR_OF(c, d, 1, 5, 3, 7);
  a = MS_FOUR_OF(even, evens, 0, 1, 4, 5);
  b = MS_FOUR_OF(odd, odds, 0, 1, 4, 5);
  c = MS_FOUR_OF(even, evens, 2, 3, 6, 7);
  d = MS_FOUR_OF(odd, odds, 2, 3, 6, 7);
  return minus ? sums - a - b - c - d : sums + a + b + c + d;
}
#endif

#endif
