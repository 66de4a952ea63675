/* SPDX-License-Identifier: MIT
 *
 * Walk, subscripts: indexing views, ranges, and quotients as variables. See walk.h. */
#ifndef MS_DEPEND_SUBSCRIPT_H
#define MS_DEPEND_SUBSCRIPT_H

#include "depend/walk_state.h"

/* A view of a whole array, for its maker to fill; NULL, and the walk has failed, without memory. */
ms_abstract_view *ms_subscript_new_view(ms_walk *walk, uint32_t binding);

/* A whole array as a value. */
void ms_subscript_whole_array(ms_walk *walk, uint32_t binding, ms_abstract_value *value);

/* Whether a key of an array was seen that may be a table. */
bool ms_subscript_is_table_key(const ms_walk *walk, const ms_node *node);

/* Whether indexing a value with a number is indexing an array, whatever it is. */
bool ms_subscript_is_of_array(const ms_walk *walk, const ms_abstract_value *object);

/* object[key]; `whole` is the node of all of it. */
void ms_subscript_index(ms_walk *walk, const ms_abstract_value *object, ms_node *key,
                        ms_node *whole, ms_abstract_value *value);

/* Element `number`, from 1, of a captured list of which all elements are known; false if it is
 * none. */
bool ms_subscript_element(ms_walk *walk, const ms_abstract_value *object, int64_t number,
                          ms_abstract_value *value);

/* What indexing an object with something unknown gives: any part of it. */
void ms_subscript_part(ms_walk *walk, const ms_abstract_value *object, const ms_node *node,
                       ms_abstract_value *value);

/* The floor of a form by a divisor, a quotient, as a variable of the scope; false if it holds no
 * more. */
bool ms_subscript_floor(ms_walk *walk, const ms_form *form, int64_t divisor, ms_form *quotient);

#endif
