/* SPDX-License-Identifier: MIT
 *
 * Walk, conditions: comparisons, and, or, not. See walk.h. */
#ifndef MS_DEPEND_CONDITION_H
#define MS_DEPEND_CONDITION_H

#include "depend/walk_state.h"

/* The value of `a and b`, `a or b`. */
void ms_condition_logic(ms_walk *walk, ms_node *node, ms_abstract_value *value);

/* The value of a comparison; false if nothing is known of when it is true. */
bool ms_condition_compare(ms_walk *walk, ms_op op, const ms_abstract_value *left,
                          const ms_abstract_value *right, ms_abstract_value *value);

/* When a value is false. */
const ms_truth *ms_condition_not(ms_walk *walk, const ms_truth *truth);

/* A copy in the walk's arena; NULL, and the walk has failed, without memory. */
const ms_truth *ms_condition_keep(ms_walk *walk, const ms_truth *truth);

#endif
