/* SPDX-License-Identifier: MIT
 *
 * Walk, generic loops of the body: what their variables are, and their blocks. See walk.h.
 *
 * A list of objects from outside of which elements are known (bindings' fields) is walked for each
 * of them, so that what is called is known. */
#ifndef MS_DEPEND_GENERIC_LOOP_H
#define MS_DEPEND_GENERIC_LOOP_H

#include "depend/walk_state.h"

/* for ... in ... do ... end */
void ms_generic_loop_walk(ms_walk *walk, ms_node *node);

#endif
