/* SPDX-License-Identifier: MIT
 *
 * Walk, findings of stores: variables and plain tables of which each worker has a copy. See walk.h.
 */
#ifndef MS_DEPEND_STORE_H
#define MS_DEPEND_STORE_H

#include "depend/walk_state.h"

/* The body stores into a plain table from outside; `into` may be NULL. */
void ms_walk_find_store(ms_walk *walk, bool proven, const ms_abstract_value *into,
                        const ms_node *node);

/* A function that the body calls assigns what is outside of it. */
void ms_walk_find_outer_store(ms_walk *walk, bool proven, const ms_node *node);

#endif
