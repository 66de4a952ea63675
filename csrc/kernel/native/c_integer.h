/* SPDX-License-Identifier: MIT
 *
 * Writing C: numbers that are integers because of where they come from, as elements of integer
 * arrays are, beside their doubles. */
#ifndef MS_KERNEL_NATIVE_C_INTEGER_H
#define MS_KERNEL_NATIVE_C_INTEGER_H

#include "kernel/native/writer.h"

/* Integers are used up to here: sums of two, and each as a double, are exact. */
#define MS_C_MOST ((int64_t)1 << 52)

/* An integer: its C text and the bounds of what it can be while the scope lasts. */
typedef struct ms_integer_value {
  bool known;
  bool unsigned_zero;     /* as a double it is never -0 */
  const char *text;       /* int64_t */
  const char *lo, *hi;    /* double, over what does not change in the scope; NULL: not known */
  const char *needs;      /* guards for it to be right, joined with &&; NULL for none */
  bool guessed;           /* a number from outside that may be any is among these */
  bool small;             /* an int32, made of small ones: c_small_sum.h */
  const ms_node *element; /* of an int32 array that it is, or NULL */
  const char *of_element; /* its C text */
  int64_t least, most;    /* bounds known beforehand */
  int64_t likely;         /* what it was when the text was written; 0: not known */
} ms_integer_value;

/* For ms_c_value.whole: an int64_t text with its bounds, which are true whatever guards hold and as
 * a double never -0. NULL where integers are not used. */
ms_integer_value *ms_c_integer(ms_writer *w, const char *text, int64_t least, int64_t most);

/* The sum, or the difference if `minus`, of two; NULL if one is, or where it might be too large. */
const ms_integer_value *ms_c_integer_sum(ms_writer *w, const ms_integer_value *a,
                                         const ms_integer_value *b, bool minus);

/* `condition ? yes : no`; NULL if one of them is. */
const ms_integer_value *ms_c_integer_choice(ms_writer *w, const char *condition,
                                            const ms_integer_value *yes,
                                            const ms_integer_value *no);

/* An integer between these bounds as a double. */
const char *ms_c_integer_widened(ms_writer *w, const char *text, int64_t least, int64_t most);

/* The same as a float, rounded once. */
const char *ms_c_integer_narrowed(ms_writer *w, const ms_integer_value *whole);

#endif
