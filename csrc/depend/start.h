/* SPDX-License-Identifier: MIT
 *
 * Starts: what carried variables hold before the loop, where no reduction can start from it; and
 * strings that a body appends to. */
#ifndef MS_DEPEND_START_H
#define MS_DEPEND_START_H

#include "depend/walk_state.h"

/* Why a reduction cannot start from what its variable holds before the loop, behind the variable's
 * name in a message, and what may be written instead; NULL where it can. In the walk's arena. */
const char *ms_start_words(ms_walk *walk, const ms_scalar_plan *plan, const char **fix);

/* All mentions of the capture in the body are appended to it (`s = s .. e`): what may be written
 * instead, in the walk's arena; NULL where they are not. *place is the first of them. */
const char *ms_start_appended(ms_walk *walk, ms_node *body, uint32_t index, const ms_node **place);

#endif
