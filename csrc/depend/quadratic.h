/* SPDX-License-Identifier: MIT
 *
 * Quadratics: (square * root^2 + rest) / divisor, with affine root and rest.
 *
 * What subscripts of packed triangles are, i * (i - 1) / 2 + j, and on the way there halves of
 * affine forms (square 0). The root is primitive, without a constant, and its first coefficient is
 * positive: two of one direction are equal. The divisor is a power of two, so that doubles hold
 * such numbers exactly, as long as the dividend is below 2^53. Plain values; any thread. */
#ifndef MS_DEPEND_QUADRATIC_H
#define MS_DEPEND_QUADRATIC_H

#include "depend/form.h"
#include "syntax/tree.h"

#define MS_QUADRATIC_DIVIDEND 9007199254740992.0 /* 2^53 */

typedef struct ms_quadratic {
  int64_t square;
  ms_form root, rest;
  int64_t divisor;
} ms_quadratic;

/* A form as a quadratic one of divisor 1. */
ms_quadratic ms_quadratic_of(const ms_form *form);

/* A number with few binary places; false for others. */
bool ms_quadratic_of_double(double number, ms_quadratic *result);

/* a op b; false where that is no quadratic, or a limit is passed. */
bool ms_quadratic_operate(ms_op op, const ms_quadratic *a, const ms_quadratic *b,
                          ms_quadratic *result);

/* Whether a number is an affine form: `rest`. */
bool ms_quadratic_is_form(const ms_quadratic *number);

/* Whether a number is an integer wherever its variables are. */
bool ms_quadratic_is_whole(const ms_quadratic *number);

/* The floor of its value at a point, given as values of all variables. */
int64_t ms_quadratic_value(const ms_quadratic *number, const int64_t *variables);

/* Completes the square: the dividend becomes square * root^2 + *share * root + rest, with a
 * constant in the root so that the share is at most the square, in absolutes. So for integers the
 * first two are least (of a negative square greatest), and 0, where the root is 0. False when a
 * limit is passed, or there is no square. */
bool ms_quadratic_complete(ms_quadratic *number, int64_t *share);

#endif
