/* SPDX-License-Identifier: MIT
 *
 * Numerals: see numeral.h. Decimal, hexadecimal (with fraction and binary exponent) and binary
 * (0b, whole numbers only) forms, and the suffixes LL, ULL, LLU and i.
 *
 * Rounding is strtod's. Its decimal point depends on the locale, so it never sees one: the digits
 * are handed over as an integer with an exponent. */
#include "syntax/numeral.h"

#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/digit.h"
#include "base/text.h"

/* LuaJIT's bound on exponents and on digits behind the point (its builds of before 2023 have none,
 * and read such numbers wrongly). */
#define EXPONENT_BOUND (1 << 20)

typedef struct numeral {
  int base;
  const char *digits; /* from the first significant one; may hold the point */
  size_t count;       /* significant digits, without zeros at the end of a fraction */
  int64_t exponent;   /* of 10 (decimal) or 2, counted from the last counted digit */
  bool fraction;      /* has a point or an exponent */
  bool wide, imaginary;
} numeral;

static bool is_hex_digit(char c) {
  return ms_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c, char lower) {
  return (c | 0x20) == lower;
}

/* Reads base, leading zeros, digits and point; returns where it stopped, NULL if malformed. */
static const char *read_digits(const char *at, numeral *number) {
  const char *point = NULL;
  bool any = false;
  number->base = 10;
  if (at[0] == '0' && is_letter(at[1], 'x')) number->base = 16;
  if (at[0] == '0' && is_letter(at[1], 'b')) number->base = 2;
  if (number->base != 10) at += 2;
  for (; *at == '0' || *at == '.'; at++) {
    if (*at == '0') {
      any = true;
    } else {
      if (point != NULL) return NULL;
      point = at;
    }
  }
  number->digits = at;
  for (; *at == '.' || (number->base == 16 ? is_hex_digit(*at) : ms_is_digit(*at)); at++) {
    if (*at != '.') {
      number->count++;
    } else {
      if (point != NULL) return NULL;
      point = at;
    }
  }
  if (!any && number->count == 0) return NULL;
  if (point == NULL) return at;
  if (number->base == 2) return NULL;
  number->fraction = true;
  if (number->count == 0) return at;
  number->exponent = point - (at - 1);
  for (const char *last = at - 1; number->exponent < 0 && *last == '0'; last--) {
    number->exponent++;
    number->count--;
  }
  if (number->exponent <= -EXPONENT_BOUND) return NULL;
  if (number->base == 16) number->exponent *= 4;
  return at;
}

static const char *read_exponent(const char *at, numeral *number) {
  if (number->base == 2 || !is_letter(*at, number->base == 16 ? 'p' : 'e')) return at;
  number->fraction = true;
  at++;
  bool negative = *at == '-';
  if (*at == '+' || *at == '-') at++;
  if (!ms_is_digit(*at)) return NULL;
  int64_t exponent = 0;
  for (; ms_is_digit(*at); at++) {
    exponent = exponent * 10 + (*at - '0');
    if (exponent >= EXPONENT_BOUND) return NULL;
  }
  number->exponent += negative ? -exponent : exponent;
  return at;
}

/* Reads i, LL, ULL or LLU. U and L alone are malformed. */
static const char *read_suffix(const char *at, numeral *number) {
  if (is_letter(*at, 'i')) {
    number->imaginary = true;
    return at + 1;
  }
  if (number->fraction || *at == '\0') return at;
  bool before = is_letter(*at, 'u');
  if (before) at++;
  if (!is_letter(at[0], 'l') || !is_letter(at[1], 'l')) return NULL;
  at += 2;
  number->wide = true;
  return !before && is_letter(*at, 'u') ? at + 1 : at;
}

/* The value of a binary numeral, or of a decimal one that must fit 64 bits; false if it does not
 * fit or a digit is not of the base. */
static bool whole_value(const numeral *number, uint64_t *value) {
  uint64_t base = (uint64_t)number->base, sum = 0;
  for (size_t i = 0; i < number->count; i++) {
    if (!ms_is_digit(number->digits[i])) return false;
    uint64_t digit = (uint64_t)(number->digits[i] - '0');
    if (digit >= base || sum > (UINT64_MAX - digit) / base) return false;
    sum = sum * base + digit;
  }
  *value = sum;
  return true;
}

/* The rounded value; false when memory is out. */
static bool rounded_value(const numeral *number, double *value) {
  ms_text text = {0};
  if (number->base == 16) ms_text_add(&text, "0x");
  if (number->count == 0) ms_text_add(&text, "0");
  const char *at = number->digits;
  for (size_t left = number->count; left > 0;) {
    size_t run = strcspn(at, ".");
    if (run > left) run = left;
    ms_text_append(&text, at, run);
    left -= run;
    at += run;
    if (*at == '.') at++;
  }
  ms_text_format(&text, "%c%" PRId64, number->base == 16 ? 'p' : 'e', number->exponent);
  if (!text.failed) *value = strtod(text.bytes, NULL);
  bool done = !text.failed;
  ms_text_free(&text);
  return done;
}

ms_numeral ms_numeral_read(const char *text, double *value) {
  numeral number = {0};
  const char *at = read_digits(text, &number);
  if (at != NULL) at = read_exponent(at, &number);
  if (at != NULL) at = read_suffix(at, &number);
  if (at == NULL || *at != '\0') return MS_NUMERAL_BAD;
  ms_numeral kind = number.wide || number.imaginary ? MS_NUMERAL_BOXED : MS_NUMERAL_PLAIN;
  uint64_t whole = 0;
  if (number.base == 2 || (number.wide && number.base == 10)) {
    if (!whole_value(&number, &whole)) return MS_NUMERAL_BAD;
    *value = (double)whole;
    return kind;
  }
  if (number.wide && number.count > 16) return MS_NUMERAL_BAD;
  return rounded_value(&number, value) ? kind : MS_NUMERAL_MEMORY;
}
