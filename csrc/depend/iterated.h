/* SPDX-License-Identifier: MIT
 *
 * Walk, generic loops of the body: what their variables are, and their blocks. See walk.h.
 *
 * A list of objects from outside of which elements are known (bindings' fields) is walked for each
 * of them, so that what is called is known. */
#ifndef MS_DEPEND_ITERATED_H
#define MS_DEPEND_ITERATED_H

#include "depend/walk_state.h"

/* for ... in ... do ... end */
void ms_walk_generic(ms_walk *walk, ms_node *node);

#endif
