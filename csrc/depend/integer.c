/* SPDX-License-Identifier: MIT
 *
 * Integers: see integer.h. */
#include "depend/integer.h"

int64_t ms_integer_absolute(int64_t value) {
  return value < 0 ? -value : value;
}

int64_t ms_integer_gcd(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return ms_integer_absolute(a);
}

int64_t ms_integer_floor_div(int64_t value, int64_t divisor) {
  int64_t quotient = value / divisor;
  return value % divisor != 0 && value < 0 ? quotient - 1 : quotient;
}

void ms_integer_make_primitive(int64_t *vector, uint32_t dims) {
  int64_t common = 0;
  for (uint32_t k = 0; k < dims; k++) common = ms_integer_gcd(common, vector[k]);
  for (uint32_t k = 0; k < dims && common > 1; k++) vector[k] /= common;
}
