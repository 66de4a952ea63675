/* SPDX-License-Identifier: MIT
 *
 * Walk, calls: of functions and methods. See walk.h. */
#ifndef MS_DEPEND_CALL_H
#define MS_DEPEND_CALL_H

#include "depend/walk_state.h"

/* What a call passes; `open`: and all further values of the last one's call. */
typedef struct ms_passed {
  const ms_abstract_value *value;
  uint32_t count;
  bool open;
} ms_passed;

/* The first value of a call; what the call does is recorded. */
void ms_walk_call(ms_walk *walk, ms_node *node, ms_abstract_value *value);

/* Whether a generic loop is `for f, v in X[i]:nonzeros()` of an array: its variables are numbers.
 */
bool ms_call_visits_entries(ms_walk *walk, const ms_node *node);

#endif
