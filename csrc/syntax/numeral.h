/* SPDX-License-Identifier: MIT
 *
 * Numerals: the text of a number as LuaJIT reads it. Independent of the C locale. */
#ifndef MS_SYNTAX_NUMERAL_H
#define MS_SYNTAX_NUMERAL_H

#include <stdbool.h>

typedef enum ms_numeral {
  MS_NUMERAL_BAD,    /* not a numeral */
  MS_NUMERAL_PLAIN,  /* a double */
  MS_NUMERAL_BOXED,  /* 1LL, 2ULL: value rounded to a double; 3i: the imaginary part */
  MS_NUMERAL_MEMORY, /* memory is out */
} ms_numeral;

/* Reads a terminated text that starts with a digit, or with "." and a digit, as a whole. */
ms_numeral ms_numeral_read(const char *text, double *value);

#endif
