/* SPDX-License-Identifier: MIT
 *
 * Paths of captures: which capture of a loop, `self.out` or `A`, a node of its text is. */
#ifndef MS_DEPEND_CAPTURE_PATH_H
#define MS_DEPEND_CAPTURE_PATH_H

#include "syntax/loop.h"

/* The capture that a NAME or INDEX node is the exact path of, or -1. */
int64_t ms_capture_path_of(const ms_loop *loop, const ms_node *node);

/* Whether some capture starts at this name. */
bool ms_capture_path_starts(const ms_loop *loop, const ms_node *name);

/* Whether a node means the captured path itself. */
bool ms_capture_path_is(const ms_capture *capture, const ms_node *node);

#endif
