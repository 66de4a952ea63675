/* SPDX-License-Identifier: MIT
 *
 * Scalars: what part each captured variable plays in a loop.
 *
 * A variable that the body assigns is a reduction, private, or carried; anything else that is no
 * array, table or function is broadcast. */
#ifndef MS_DEPEND_SCALAR_H
#define MS_DEPEND_SCALAR_H

#include "depend/walk_state.h"

/* The scalars of a body. Refusals and notices join the walk's findings. The list is in the walk's
 * arena. -1: out of memory. */
int ms_scalars_find(ms_walk *walk, ms_node *body, ms_scalar_plan **scalars, uint32_t *count);

/* Whether capture plan->capture is a reduction: all its mentions in the body are parts of
 * statements that combine it by one operator. Fills `op` and `wins`. */
bool ms_scalar_reduction(const ms_walk *walk, ms_node *body, ms_scalar_plan *plan);

/* Whether the body assigns the capture together with a reduction that decides when: then it is a
 * part of that reduction or nothing that blocks could form. */
bool ms_scalar_follows(const ms_walk *walk, ms_node *body, uint32_t capture);

/* Why a capture that some statements of the body combine is no reduction: the place that spoils it,
 * and what follows the variable's name in a message, in the walk's arena; NULL when nothing
 * combines it. */
const ms_node *ms_scalar_spoiler(const ms_walk *walk, uint32_t capture, ms_node *body,
                                 const char **words);

/* The capture is a scalar in a field of a plain table (`self.loss`) that the body only reduces
 * into: such a field may be written, any other may not. */
bool ms_scalar_in_field(const ms_walk *walk, uint32_t index);

/* The capture is a scalar in a field of a plain table that nothing else in the body looks at. */
bool ms_scalar_has_field(const ms_walk *walk, uint32_t index);

#endif
