/* SPDX-License-Identifier: MIT
 *
 * Walk, footprint: the elements of arrays that the body reads and writes. See walk.h. */
#ifndef MS_DEPEND_FOOTPRINT_H
#define MS_DEPEND_FOOTPRINT_H

#include "depend/walk_state.h"

/* Groups the arrays of a walk's bindings by their storage. -1: out of memory. */
int ms_footprint_make_groups(ms_walk *walk);

/* The groups of the arrays that a value may be or hold, as a set of bits. */
uint64_t ms_footprint_groups(const ms_walk *walk, const ms_abstract_value *value);

/* All elements of a view are read or written. */
void ms_footprint_add_view(ms_walk *walk, const ms_abstract_view *view, bool write,
                           const ms_node *node);

/* One element, by `count` subscripts, is. */
void ms_footprint_add_element(ms_walk *walk, uint32_t binding, const ms_subscript *subscript,
                              uint32_t count, bool write, const ms_node *node);

/* Any elements of the arrays of these groups may be. */
void ms_footprint_add_groups(ms_walk *walk, uint64_t groups, bool write, const ms_node *node);

/* Whatever a value may be or hold is: a view as such, anything else by its groups. */
void ms_footprint_add(ms_walk *walk, const ms_abstract_value *value, bool write,
                      const ms_node *node);

#endif
