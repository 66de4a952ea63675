/* SPDX-License-Identifier: MIT
 *
 * Walk, variables of numeric loops. See walk.h. */
#ifndef MS_DEPEND_NUMERIC_LOOP_H
#define MS_DEPEND_NUMERIC_LOOP_H

#include "depend/walk_state.h"

/* The variable of a numeric loop with these ends (start, limit, step), each of which may be one
 * thing or another, and the guard inside the loop; false if it is no affine form. *exact becomes
 * false where the guard takes in more. */
bool ms_numeric_loop_variable(ms_walk *walk, const ms_abstract_value *ends, ms_form *variable,
                              bool *exact);

#endif
