/* SPDX-License-Identifier: MIT
 *
 * Walk, functions that the body makes: those that it only calls are walked where it calls them. See
 * walk.h. */
#ifndef MS_DEPEND_LITERAL_H
#define MS_DEPEND_LITERAL_H

#include "depend/call.h"

/* The function of a FUNCTION node if the body does nothing with it but call it; or NULL. */
ms_function *ms_literal_only_called(const ms_node *function);

/* Walks such a function for a call, of which `value` becomes the first result. */
void ms_walk_literal(ms_walk *walk, ms_function *function, const ms_passed *passed,
                     ms_abstract_value *value);

/* A return of such a function gives this value. */
void ms_walk_give_literal(ms_walk *walk, const ms_node *node, const ms_abstract_value *value);

#endif
