/* SPDX-License-Identifier: MIT
 *
 * Gathering: plain tables that the body only appends to, counts in or marks keys of. Each block
 * fills a table of its own, and the driver puts them together in the order of blocks.
 *
 *   t[#t + 1] = v             a list; blocks must take the iterations one after the other
 *   table.insert(t, v)        likewise
 *   h[k] = (h[k] or 0) + e    sums by key; also - e
 *   if h[k] then h[k] = h[k] + e else h[k] = e end
 *   h[k] = h[k] or 0  h[k] = h[k] + e    also if not h[k] then h[k] = 0 end
 *   t[k] = true               a set: one constant, the same wherever it stands
 *
 * The body mentions the table in such statements only, and nothing else leads to it; while e is
 * evaluated, nothing changes k: Lua would store at the new one. */
#ifndef MS_DEPEND_GATHER_H
#define MS_DEPEND_GATHER_H

#include "depend/walk_state.h"

/* Fills walk->gathered. -1: out of memory. */
int ms_gathers_find(ms_walk *walk);

/* Whether an assignment's target is a part of such a statement; its key has been evaluated then. */
bool ms_gather_assign(ms_walk *walk, ms_node *target);

/* Walks a call of table.insert that is such a statement; false: it is none. */
bool ms_gather_insert(ms_walk *walk, ms_node *node);

#endif
