/* SPDX-License-Identifier: MIT
 *
 * Abstract views: what narrow, select and transpose make of arrays. See walk.h. */
#ifndef MS_DEPEND_ABSTRACT_VIEW_H
#define MS_DEPEND_ABSTRACT_VIEW_H

#include "depend/walk_state.h"

/* How many dimensions a view has; those that a range leaves count as subscripts. */
uint32_t ms_abstract_view_left(const ms_walk *walk, const ms_abstract_view *view);

/* Gives dimension `number`, from 0, of a view that lists what is left its subscript. */
void ms_abstract_view_subscribe(ms_abstract_view *view, uint32_t number,
                                const ms_abstract_value *value);

/* What narrow, select or transpose gives. */
void ms_abstract_view_part(ms_walk *walk, const ms_abstract_view *of, const char *method,
                           const ms_abstract_value *values, uint32_t count,
                           ms_abstract_value *value);

/* The subscripts of all elements of a view that lists what is left; their variables are added to
 * the walk's scope, which the caller takes back. */
void ms_abstract_view_elements(ms_walk *walk, const ms_abstract_view *view,
                               ms_subscript *subscript);

#endif
