/* SPDX-License-Identifier: MIT
 *
 * Fixes of reasons: what the user may write instead. One that computes something else than the loop
 * as written is a condition ("if old values are fine: ..."). -1: out of memory. */
#ifndef MS_DEPEND_FIX_H
#define MS_DEPEND_FIX_H

#include "depend/explain.h"

/* Adds a text to a reason's fixes, if it has room and there is one. */
void ms_fix_add(ms_reason *reason, const char *fix);

/* "what: the code that sets the option", see option.h. */
int ms_fix_call(const ms_explainer *explain, ms_reason *reason, const char *what,
                const char *option);

/* Giving up the order of iterations. */
int ms_fix_order(const ms_explainer *explain, ms_reason *reason);

/* What computes the same as the loop as written. */
int ms_fix_exact(const ms_explainer *explain, ms_reason *reason);

/* All for a pair of accesses that collide. Where a value flows from one iteration to the next, what
 * keeps the result comes first. `unordered_runs`: giving up the order would help. */
int ms_fix_conflict(const ms_explainer *explain, ms_reason *reason, const ms_meeting *meeting,
                    bool unordered_runs);

#endif
