/* SPDX-License-Identifier: MIT
 *
 * Purity: whether it can be told by nothing but its value, or an error, that an expression was
 * evaluated. Blocks evaluate what the loop as written would have skipped. */
#ifndef MS_DEPEND_PURE_H
#define MS_DEPEND_PURE_H

#include "depend/walk.h"

/* Whether an expression of the body stores, prints and draws nothing; functions that it calls are
 * looked into. */
bool ms_node_is_pure(const ms_walk *walk, ms_node *node);

#endif
