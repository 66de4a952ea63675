/* SPDX-License-Identifier: MIT
 *
 * Values of variables: what variables hold, and assignments to them and into arrays. See walk.h. */
#ifndef MS_DEPEND_VARIABLE_VALUE_H
#define MS_DEPEND_VARIABLE_VALUE_H

#include "depend/walk_state.h"

/* Gives a variable its value: a collapsed inner loop's, too. */
void ms_variable_value_set(ms_walk *walk, const ms_symbol *symbol, const ms_abstract_value *value);

/* An assignment to a name, a field or an element. */
void ms_variable_value_assign(ms_walk *walk, ms_node *target, const ms_abstract_value *value);

/* What a variable is that may be either of two values. */
ms_abstract_value ms_variable_value_either(const ms_walk *walk, const ms_abstract_value *a,
                                           const ms_abstract_value *b);

/* What is in `slot` may also be `value`; NULL in it: nothing yet. */
void ms_variable_value_join(ms_walk *walk, ms_abstract_value **slot,
                            const ms_abstract_value *value);

/* A value goes into a table, or somewhere else where it is not followed. */
void ms_variable_value_store(ms_walk *walk, const ms_abstract_value *value);

/* The value may also be something that was stored. */
void ms_variable_value_add_stored(const ms_walk *walk, ms_abstract_value *value);

/* A table becomes the class of objects that the body makes: what its methods store into them, the
 * iteration keeps. */
void ms_variable_value_own_objects(ms_walk *walk, ms_abstract_value *class);

#endif
