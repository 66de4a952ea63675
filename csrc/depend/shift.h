/* SPDX-License-Identifier: MIT
 *
 * Walk, shifts and ranges of forms: what functions of `bit` make of numbers. See walk.h. */
#ifndef MS_DEPEND_SHIFT_H
#define MS_DEPEND_SHIFT_H

#include "depend/walk_state.h"

/* The bounds of a form within the scope; infinite where they are not known. */
void ms_shift_range(const ms_walk *walk, const ms_form *form, double *low, double *high);

/* The value of a call of this function of `bit`; false if it is not known. */
bool ms_walk_shift(ms_walk *walk, const char *name, ms_node *node, ms_abstract_value *value);

#endif
