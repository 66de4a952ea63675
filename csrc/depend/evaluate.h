/* SPDX-License-Identifier: MIT
 *
 * Walk, expressions: what value an expression has. See walk.h. */
#ifndef MS_DEPEND_EVALUATE_H
#define MS_DEPEND_EVALUATE_H

#include "depend/walk_state.h"

/* The value of an expression; reads are recorded. Never fails: what it does not understand is
 * OTHER. */
void ms_evaluate(ms_walk *walk, ms_node *node, ms_abstract_value *value);

/* What binding number `index` is to the body. */
void ms_evaluate_binding(ms_walk *walk, uint32_t index, ms_abstract_value *value);

/* A field of a captured table of which that field is known; false if it is none. */
bool ms_evaluate_field(ms_walk *walk, const ms_abstract_value *object, const char *name,
                       ms_abstract_value *value);

/* Something happens to a value for which a metatable may name a function: what that may touch is
 * recorded. */
void ms_evaluate_event(ms_walk *walk, const ms_abstract_value *value, ms_event event,
                       const ms_node *node);

#endif
