/* SPDX-License-Identifier: MIT
 *
 * Carried variables: why each iteration needs the one before it, and what may be written. */
#ifndef MS_DEPEND_CARRIED_H
#define MS_DEPEND_CARRIED_H

#include "depend/walk_state.h"

/* What the body does with a captured variable that is no reduction but is like one: *words, which
 * follow its name in a message, and *place, or NULL where that is its first read. Returns what may
 * be written instead, or NULL. Where nothing is known *words stay as they are. All in the walk's
 * arena, which fails (walk->failed) if memory is out. */
const char *ms_carried_fix(ms_walk *walk, ms_node *body, uint32_t index, const char **words,
                           const ms_node **place);

#endif
