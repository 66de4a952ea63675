/* SPDX-License-Identifier: MIT
 *
 * Which numbers have a fair float, for native kernels in fast mode: see c_region.h. A part of the
 * native prelude. */
#ifndef MS_KERNEL_NATIVE_FAIR_H
#define MS_KERNEL_NATIVE_FAIR_H

#include <stdint.h>

#include "kernel/native/value.h"

/* Whether the float of a number is the same kind of number: not 0, subnormal or infinite where that
 * is not. Nearly all floats are normal, which their bits tell sooner than comparisons would: it is
 * asked in front of inner loops. */
static inline int ms_is_fair_float(double x) {
  const float rounded = (float)x;
  uint32_t bits;
  __builtin_memcpy(&bits, &rounded, sizeof bits);
  if (MS_LIKELY((bits << 1) - 0x01000000u < 0xfe000000u)) return 1; /* its exponent is 1 to 254 */
  return x == 0 || !(__builtin_fabs(x) <= 0x1.fffffffffffffp1023);
}

/* The same of all numbers of a list; of lists in one another (MS_PARAM_STARTS). */
static inline int ms_are_fair_floats(const double *list, int64_t left) {
  while (left > 0 && ms_is_fair_float(list[left - 1])) left--;
  return left == 0;
}

static inline int ms_are_fair_lists(const double *numbers, const int64_t *starts, int levels) {
  int64_t first = 0, end = 1;
  for (; levels > 0; levels--) {
    first = starts[first];
    end = starts[end];
  }
  return ms_are_fair_floats(numbers + first, end - first);
}

#endif
