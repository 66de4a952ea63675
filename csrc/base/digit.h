/* SPDX-License-Identifier: MIT
 *
 * Digits: what is one, whatever locale the program has set. */
#ifndef MS_BASE_DIGIT_H
#define MS_BASE_DIGIT_H

#include <stdbool.h>

/* Whether a character, or what stands for the end of a text, is a decimal digit. */
static inline bool ms_is_digit(int c) {
  return c >= '0' && c <= '9';
}

#endif
