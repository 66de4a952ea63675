/* SPDX-License-Identifier: MIT
 *
 * Purity: whether it can be told by nothing but its value, or an error, that an expression was
 * evaluated. Blocks evaluate what the loop as written would have skipped. */
#ifndef MS_DEPEND_PURE_H
#define MS_DEPEND_PURE_H

#include "depend/walk_state.h"

/* Whether an expression of the body stores, prints and draws nothing; functions that it calls are
 * looked into. */
bool ms_node_is_pure(const ms_walk *walk, ms_node *node);

/* The binding that a path means in the body, or, with the meanings of its captures, in a function;
 * -1: not known, -2: it begins with no captured name. */
int64_t ms_pure_meaning(const ms_walk *walk, const ms_loop *code, const ms_meaning *means,
                        const ms_node *node);

#endif
