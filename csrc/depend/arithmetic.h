/* SPDX-License-Identifier: MIT
 *
 * Arithmetic of the walk: operations on affine forms and quadratics. See walk.h. */
#ifndef MS_DEPEND_ARITHMETIC_H
#define MS_DEPEND_ARITHMETIC_H

#include "depend/walk_state.h"

/* left op right, of numbers. */
void ms_arithmetic_operate(ms_walk *walk, ms_op op, const ms_abstract_value *left,
                           const ms_abstract_value *right, ms_abstract_value *value);

/* The floor of a number as another; false if that is not known. */
bool ms_arithmetic_floor(ms_walk *walk, const ms_abstract_value *number, ms_abstract_value *value);

/* The bounds of a number; infinite where they are not known. */
void ms_arithmetic_range(const ms_walk *walk, const ms_abstract_value *number, double *low,
                         double *high);

/* A number that is written out or captured: affine if it is a small enough integer. */
ms_abstract_value ms_arithmetic_constant(ms_walk *walk, double number);

#endif
