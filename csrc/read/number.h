/* SPDX-License-Identifier: MIT
 *
 * Numbers in text files, independent of the locale. Pure functions. */
#ifndef MS_READ_NUMBER_H
#define MS_READ_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a decimal number that takes up all `length` bytes, correctly rounded. False for anything
 * else: empty, hexadecimal, nan, inf, out of double's range. */
bool ms_number_parse(const char *text, size_t length, double *number);

/* Reads an integer in its plain form (no plus sign, no leading zeros, "-0" excluded), of at most
 * 2^53 in magnitude, so that writing the number gives the same text. False for anything else. */
bool ms_number_integer(const char *text, size_t length, int64_t *number);

#endif
