/* SPDX-License-Identifier: MIT
 *
 * Parameters: the captured numbers and booleans whose values a plan may depend on.
 *
 * A plan is kept for executions that differ in other numbers only (a learning rate, say), so this
 * errs by naming too many: a number counts when it, or a local variable that is made from it, may
 * reach a subscript, the bounds of an inner loop, a condition on affine numbers, or an argument of
 * a method or of a function that the body defines; and an argument of a captured function, if such
 * functions are looked into. Where captures are known to be arrays, the numbers that their methods
 * compute with do not count. */
#ifndef MS_DEPEND_PARAMETER_H
#define MS_DEPEND_PARAMETER_H

#include "syntax/loop.h"

/* Fills used[c] for every capture c of the loop. `through`: captured functions are looked into.
 * `arrays`: by capture, which are known to be arrays, or NULL. -1: out of memory. */
int ms_parameters_find(const ms_loop *loop, bool through, const bool *arrays, bool *used);

#endif
