/* SPDX-License-Identifier: MIT
 *
 * Entry: the loop's own read of the entry of its data set that an iteration is about, which is the
 * variable after the indices: `for i, j, v in parallel(S)`. */
#ifndef MS_DEPEND_ENTRY_H
#define MS_DEPEND_ENTRY_H

#include "depend/walk.h"

/* Adds the read to the accesses of the walk, whose body has been walked, if the body uses the
 * variable; and finds writes that may make a sparse entry's value a stale one. -1: out of memory.
 */
int ms_entry_read(ms_walk *walk);

#endif
