/* SPDX-License-Identifier: MIT
 *
 * Gathering: plain tables that the body only appends to or counts in. Each block fills a table of
 * its own, and the driver puts them together in the order of blocks.
 *
 *   t[#t + 1] = v             a list; blocks must take the iterations one after the other
 *   h[k] = (h[k] or 0) + e    sums by key; also - e
 *
 * The body mentions the table in such statements only, and nothing else leads to it. */
#ifndef MS_DEPEND_GATHER_H
#define MS_DEPEND_GATHER_H

#include "depend/walk.h"

/* Fills walk->gathered. -1: out of memory. */
int ms_gathers_find(ms_walk *walk);

/* Whether an assignment's target is a part of such a statement; its key has been evaluated then. */
bool ms_gather_assign(ms_walk *walk, ms_node *target);

#endif
