/* SPDX-License-Identifier: MIT
 *
 * Buffers: what a body may do to one, and beside it to its array.
 *
 * A block sees what it has pending itself, and merging adds up what all blocks have. So an element
 * that several iterations store into must be stored from what is pending there (b[e] = b[e] + x);
 * else the result depends on which of them share a block, i.e. on the grid. */
#ifndef MS_DEPEND_BUFFERED_H
#define MS_DEPEND_BUFFERED_H

#include "depend/walk_state.h"

/* Notes a read or write of (a part of) a buffer. The view lives as long as the walk. */
void ms_buffered_note(ms_walk *walk, const ms_abstract_view *view, bool write, const ms_node *node);

/* Adds findings for buffers that are overwritten, and for arrays written beside their buffer. */
void ms_buffered_find(ms_walk *walk);

#endif
