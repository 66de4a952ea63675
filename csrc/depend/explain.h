/* SPDX-License-Identifier: MIT
 *
 * Explain: the plan's reasons, in the user's own names. See reason.h for the catalogue. */
#ifndef MS_DEPEND_EXPLAIN_H
#define MS_DEPEND_EXPLAIN_H

#include "depend/strategy.h"
#include "depend/walk_state.h"

/* Longer code is cut in places and not repeated in fixes. */
#define MS_LONGEST_TEXT 72

typedef struct ms_reasons {
  ms_reason *item;
  uint32_t count, capacity;
} ms_reasons;

typedef struct ms_explainer {
  const ms_walk *walk;
  const ms_conflicts *conflicts;
  ms_arena *arena; /* the plan's: all texts outlive the walk */
  ms_reasons *reasons;
  bool hopeless;  /* no strategy at all is legal: a buffer is what is left */
  bool provable;  /* what is proven alone would run: what is not stands in the way */
  bool collapses; /* with the loop inside taken in it would run, in the order as written */
} ms_explainer;

/* Reasons for the walk's findings. -1: out of memory (so for all here). */
int ms_explain_findings(const ms_explainer *explain);

/* Reasons for the conflicts that keep the loop from running: for each array one pair of places
 * with the earliest pair of iterations. `unordered_runs`: giving up the order would help. */
int ms_explain_conflicts(const ms_explainer *explain, bool unordered_runs);

/* The notices of what assume = "independent" lifted: of each array one pair of places. */
int ms_explain_assumed(const ms_explainer *explain);

/* The notice that an ordered loop that runs could run as a choice (a rotation) without its order.
 */
int ms_explain_order(const ms_explainer *explain, const ms_choice *choice);

/* The reason "this strategy is not run by this version". */
int ms_explain_not_run(const ms_explainer *explain, const ms_choice *choice, bool unordered_runs);

/* Whether a binding is an array that only elements of lists have: "models[1].w". */
bool ms_explain_is_inside(const ms_walk *walk, uint32_t binding);

/* The user's path to a binding: "self.W". NULL: memory. */
const char *ms_explain_path(const ms_walk *walk, ms_arena *arena, uint32_t binding);

#endif
