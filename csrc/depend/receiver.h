/* SPDX-License-Identifier: MIT
 *
 * Receivers: `self.loss = self.loss + self:err(i)`. The methods that a body calls of a table get
 * the table; a field that the body reduces into may stay one where none of them looks at it. */
#ifndef MS_DEPEND_RECEIVER_H
#define MS_DEPEND_RECEIVER_H

#include "depend/walk_state.h"

/* Whether the body uses a captured table as a whole only to call methods of it, and they, and the
 * methods of it that they call, never look at this field: they name the other fields that they use,
 * and hand the table to nobody. */
bool ms_receiver_keeps(const ms_walk *walk, uint32_t capture, const char *field);

#endif
