/* SPDX-License-Identifier: MIT
 *
 * Splitting of versions: a loop whose body reads the last version of some outside names and writes
 * the next.
 *
 * Of rounds each makes a version of an array from the one before it (meissa.iterate), under one
 * name: what stands on the left of an assignment, or is changed by a method, is the next version,
 * everything else the last one. Splitting a name makes two variables of it, so that whatever looks
 * at the loop afterwards sees two arrays. */
#ifndef MS_SYNTAX_VERSION_SPLIT_H
#define MS_SYNTAX_VERSION_SPLIT_H

#include "syntax/loop.h"

/* Gives what the body writes of the captures that are marked in `split` (one flag a capture) a
 * variable of its own, whose symbol is `next`; then finds the captures anew. `changes(name)` says
 * whether a method changes the array that it is called on. The tree is the caller's alone. -1 with
 * MS_SRC when memory is out. */
int ms_version_split(ms_loop *loop, const bool *split, bool (*changes)(const char *name),
                     ms_error *err);

#endif
