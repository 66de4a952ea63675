/* SPDX-License-Identifier: MIT
 *
 * Integers: their common divisor, floors of quotients. Pure functions. */
#ifndef MS_DEPEND_INTEGER_H
#define MS_DEPEND_INTEGER_H

#include <stdint.h>

/* |value|; not of INT64_MIN. */
int64_t ms_integer_absolute(int64_t value);

/* Greatest common divisor of absolutes, not 0 unless both are. */
int64_t ms_integer_gcd(int64_t a, int64_t b);

/* Floor of the quotient; `divisor` is positive. */
int64_t ms_integer_floor_div(int64_t value, int64_t divisor);

/* Divides a vector by what its components share. */
void ms_integer_make_primitive(int64_t *vector, uint32_t dims);

#endif
