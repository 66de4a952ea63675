/* SPDX-License-Identifier: MIT
 *
 * Numbers: see number.h. Short numbers take Clinger's fast path: a significand below 2^53 and a
 * power of ten up to 22 are both exact doubles, so one operation rounds correctly (W. Clinger,
 * "How to read floating point numbers accurately", PLDI 1990). The rest goes to the C library. */
#include "read/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/digit.h"

#define LONGEST  400 /* enough for any number that a program prints */
#define EXACT    (UINT64_C(1) << 53)
#define EXPONENT 22

static const double powers[EXPONENT + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* What a scan of the text found. */
typedef struct decimal {
  uint64_t significand;
  int exponent; /* of ten */
  bool negative;
  bool exact; /* significand and exponent hold all of it */
} decimal;

/* Reads digits into the significand and returns how many there were. */
static size_t read_digits(const char **at, const char *end, decimal *d) {
  const char *start = *at;
  for (; *at < end && ms_is_digit(**at); (*at)++) {
    if (d->significand >= EXACT / 10) d->exact = false;
    if (d->exact) d->significand = d->significand * 10 + (uint64_t)(**at - '0');
  }
  return (size_t)(*at - start);
}

/* Checks the form [+-] digits [. digits] [e [+-] digits]. */
static bool scan(const char *text, const char *end, decimal *d) {
  *d = (decimal){.exact = true};
  if (text < end && (*text == '-' || *text == '+')) d->negative = *text++ == '-';
  size_t digits = read_digits(&text, end, d);
  if (text < end && *text == '.') {
    text++;
    size_t fraction = read_digits(&text, end, d);
    digits += fraction;
    d->exponent = fraction < LONGEST ? -(int)fraction : -LONGEST;
  }
  if (digits == 0) return false;
  if (text < end && (*text == 'e' || *text == 'E')) {
    text++;
    bool negative = text < end && *text == '-';
    if (text < end && (*text == '-' || *text == '+')) text++;
    if (text == end) return false;
    int exponent = 0;
    for (; text < end && ms_is_digit(*text); text++) {
      if (exponent < 100000) exponent = exponent * 10 + (*text - '0');
    }
    d->exponent += negative ? -exponent : exponent;
  }
  return text == end;
}

static locale_t plain;
static pthread_once_t plain_once = PTHREAD_ONCE_INIT;

static void make_plain(void) {
  plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* The slow road: a terminated copy for strtod, in the C locale. */
static bool parse_any(const char *text, size_t length, double *number) {
  pthread_once(&plain_once, make_plain);
  char copy[LONGEST + 1];
  if (length > LONGEST || plain == (locale_t)0) return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  *number = strtod_l(copy, NULL, plain);
  return isfinite(*number);
}

bool ms_number_parse(const char *text, size_t length, double *number) {
  decimal d;
  if (!scan(text, text + length, &d)) return false;
  if (!d.exact || d.exponent < -EXPONENT || d.exponent > EXPONENT) {
    return parse_any(text, length, number);
  }
  double value = (double)d.significand;
  value = d.exponent < 0 ? value / powers[-d.exponent] : value * powers[d.exponent];
  *number = d.negative ? -value : value;
  return true;
}

bool ms_number_integer(const char *text, size_t length, int64_t *number) {
  bool negative = length > 0 && text[0] == '-';
  size_t at = negative ? 1 : 0;
  if (at == length || length - at > 16) return false;
  if (text[at] == '0' && length > 1) return false;
  uint64_t value = 0;
  for (; at < length; at++) {
    if (!ms_is_digit(text[at])) return false;
    value = value * 10 + (uint64_t)(text[at] - '0');
  }
  if (value > EXACT) return false;
  *number = negative ? -(int64_t)value : (int64_t)value;
  return true;
}
