/* SPDX-License-Identifier: MIT
 *
 * Walk, flow: where control comes, and where not. See walk.h. */
#ifndef MS_DEPEND_FLOW_H
#define MS_DEPEND_FLOW_H

#include "depend/walk_state.h"

/* The beginning of a block; what was known before it, to be put back behind it. */
ms_entrance ms_flow_enter(ms_walk *walk);

/* An if with its branches. */
void ms_flow_if(ms_walk *walk, ms_node *node);

/* A break, goto or return. */
void ms_flow_exit(ms_walk *walk, const ms_node *node);

/* A label, where jumps meet. */
void ms_flow_label(ms_walk *walk, const ms_node *node);

/* The end of a block: jumps to its labels are no longer open. */
void ms_flow_close_jumps(ms_walk *walk, const ms_node *block);

/* Whether a loop may end before its condition says so. */
bool ms_flow_leaves(ms_node *loop);

/* Notes a place where control never comes; `beside`: beside all branches of an if. */
void ms_flow_note_dead(ms_walk *walk, const ms_node *node, bool beside);

/* Whether the walk has noted such a place. */
bool ms_flow_is_dead(const ms_walk *walk, const ms_node *node, bool beside);

#endif
