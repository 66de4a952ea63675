/* SPDX-License-Identifier: MIT
 *
 * Tests of integers: signs, and quotients that are none. */
#include "depend/integer.h"

#include "base/test.h"

static void test_divisor(void) {
  CHECK(ms_integer_gcd(12, -18) == 6 && ms_integer_gcd(0, -5) == 5);
  CHECK(ms_integer_absolute(-3) == 3 && ms_integer_absolute(3) == 3);
  int64_t vector[] = {-6, 0, 9};
  ms_integer_make_primitive(vector, 3);
  CHECK(vector[0] == -2 && vector[1] == 0 && vector[2] == 3);
}

static void test_floor(void) {
  CHECK(ms_integer_floor_div(7, 2) == 3 && ms_integer_floor_div(-7, 2) == -4 &&
        ms_integer_floor_div(-8, 2) == -4);
}

int main(void) {
  test_divisor();
  test_floor();
  return ms_test_end();
}
