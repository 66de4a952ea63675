/* SPDX-License-Identifier: MIT
 *
 * Induction variables: what an iteration of an inner loop adds to a local, and how often such loops
 * run. */
#ifndef MS_DEPEND_INDUCTION_H
#define MS_DEPEND_INDUCTION_H

#include "depend/walk_state.h"

/* A local that a numeric loop assigns. */
typedef struct ms_induction {
  ms_walk *walk;
  const ms_node *loop;
  const ms_symbol *symbol;
  size_t jumps_from, jumps_to; /* assignments between these may be jumped over, or repeated */
} ms_induction;

/* Whether what a local holds is followed: it is assigned, and no function shares it. */
bool ms_induction_follows(const ms_symbol *symbol);

/* How many of a statement's first parts are assigned; the followed local that such a part is, or
 * NULL. */
uint32_t ms_induction_targets(const ms_node *node);
const ms_symbol *ms_induction_assigned(const ms_node *target);

/* Whether something in a block may end a loop around it. */
bool ms_induction_has_exit(ms_node *node);

/* Finds the jumps in the loop. */
void ms_induction_note_jumps(ms_induction *all);

/* Adds to *sum the constant that a block of the loop adds to the local; false if it is none. */
bool ms_induction_adds(const ms_induction *all, ms_node *block, int64_t *sum);

/* How often a loop runs between two ends: as often as the step goes into what is between them, and
 * 0 where that is less. May add a variable to the walk's scope. False: not known. */
bool ms_induction_trips(ms_walk *walk, const ms_form *start, const ms_form *limit,
                        const ms_form *step, ms_abstract_value *trips);

/* a op b of numbers that may be one thing or another; false if that is not known. */
bool ms_induction_combine(ms_walk *walk, ms_op op, const ms_abstract_value *a,
                          const ms_abstract_value *b, ms_abstract_value *result);

#endif
