/* SPDX-License-Identifier: MIT
 *
 * Affine forms: constant + sum of coefficient * variable, over integers.
 *
 * Variables 0 .. MS_MAX_DIMS-1 are the ordinals of the iteration space's dimensions (0, 1, 2, ...
 * within a range, whatever its start and step); the rest are quantified inner variables: inner
 * loop indices, and quotients that stand for `%` and floor; the last one is steady (meaning.h).
 * Every operation keeps coefficients and constants below the limits here and fails where it cannot,
 * so that the doubles of the running loop, the analyser and isl agree on every value. Plain values;
 * any thread. */
#ifndef MS_DEPEND_FORM_H
#define MS_DEPEND_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "depend/meaning.h"

/* Inner variables that one access can have. A body with more is analysed less exactly. */
#define MS_MAX_INNER  12
#define MS_VAR_STEADY (MS_MAX_DIMS + MS_MAX_INNER)
#define MS_MAX_VARS   (MS_VAR_STEADY + 1)

/* With indices below 2^31 a form of a few terms stays an exact double. */
#define MS_FORM_COEFFICIENT ((int64_t)1 << 20)
#define MS_FORM_CONSTANT    ((int64_t)1 << 45)
#define MS_FORM_INDEX       ((int64_t)1 << 31)

typedef struct ms_form {
  int64_t constant;
  int64_t at[MS_MAX_VARS];
} ms_form;

/* The form of a number. */
ms_form ms_form_constant(int64_t constant);

/* sum = a + scale * b; false when a limit is passed (then *sum is undefined). `sum` may be a. */
bool ms_form_add(ms_form *sum, const ms_form *a, const ms_form *b, int64_t scale);

/* Divides all of a form by `divisor` if that leaves no remainder anywhere. */
bool ms_form_divide(ms_form *form, int64_t divisor);

/* No variable occurs. */
bool ms_form_is_constant(const ms_form *form);

/* The value at a point, given as values of all variables. */
int64_t ms_form_value(const ms_form *form, const int64_t *variables);

#endif
