/* SPDX-License-Identifier: MIT
 *
 * Additions: what the body does to an array's elements that is nothing but adding to them:
 * `A[e] = A[e] + x`, the same with the old value in a local, `A[e]:axpy(a, x)`. Those a buffer can
 * collect (fix.h). */
#ifndef MS_DEPEND_ADDITION_H
#define MS_DEPEND_ADDITION_H

#include "depend/walk_state.h"

/* Whether a place that writes elements adds to them. NULL: no. */
bool ms_addition_is(const ms_walk *walk, const ms_node *place);

/* Whether all that the body does with a group's arrays is adding to them: what else reads them
 * would miss a sum that is added at the end. */
bool ms_addition_only(const ms_walk *walk, uint32_t group);

#endif
