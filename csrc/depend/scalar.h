/* SPDX-License-Identifier: MIT
 *
 * Scalars: what part each captured variable plays in a loop.
 *
 * A variable that the body assigns is a reduction, private, or carried; anything else that is no
 * array, table or function is broadcast. */
#ifndef MS_DEPEND_SCALAR_H
#define MS_DEPEND_SCALAR_H

#include "depend/walk.h"

/* The scalars of a body. Refusals and notices join the walk's findings. The list is in the walk's
 * arena. -1: out of memory. */
int ms_scalars_find(ms_walk *walk, ms_node *body, ms_scalar_plan **scalars, uint32_t *count);

/* Whether the variable that capture `c` names is read outside of the loop's body at a place that
 * can run after the loop. Globals: in this chunk; other chunks are not seen. */
bool ms_scalar_read_after(const ms_loop *loop, const ms_capture *capture);

/* The reduction operator that all mentions of the capture in the body agree on; false if they are
 * not all parts of reductions with one operator. */
bool ms_scalar_reduction(const ms_loop *loop, const ms_capture *capture, ms_node *body,
                         ms_reduce_op *op);

/* A NAME node that means the captured variable itself. */
bool ms_capture_is(const ms_capture *capture, const ms_node *node);

#endif
