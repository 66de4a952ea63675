/* SPDX-License-Identifier: MIT
 *
 * Walk, local values: what locals that are assigned hold where control is, along each path. See
 * walk.h. */
#ifndef MS_DEPEND_LOCAL_VALUE_H
#define MS_DEPEND_LOCAL_VALUE_H

#include "depend/walk_state.h"

typedef struct ms_after ms_after;             /* see local_value.c */
typedef struct ms_branch_path ms_branch_path; /* see local_value.c */

/* A numeric loop's iterations. */
typedef struct ms_trips {
  const ms_node *loop;
  bool counted; /* `counter` is the form of the number, from 0, of an iteration */
  ms_form counter;
  bool closed;             /* the loop runs all its `count` iterations: none leaves it */
  ms_abstract_value count; /* a value that the loop does not change */
  ms_after *after;
} ms_trips;

/* Notes that a local holds a value from here on. */
void ms_local_value_hold(ms_walk *walk, const ms_symbol *symbol, const ms_abstract_value *value);

/* The value that a local holds; false if that is not known. */
bool ms_local_value_held(const ms_walk *walk, const ms_symbol *symbol, ms_abstract_value *value);

/* Forgets the values of all locals that a node assigns. */
void ms_local_value_forget(ms_walk *walk, ms_node *node);

/* A path through an if ends here; what it assigned is kept with it and undone. */
void ms_local_value_end_path(ms_walk *walk, const ms_change *since, ms_branch_path **paths);

/* Where all paths of an if have met: what locals then hold; whether some hold what they were given
 * in `node`. */
bool ms_local_value_meet(ms_walk *walk, ms_node *node, const ms_branch_path *paths, bool exact);

/* Called before a numeric loop with this start, limit and step: what is known of its trips. */
void ms_trips_count(ms_walk *walk, ms_trips *trips, const ms_abstract_value *ends);

/* Called before the loop's block is walked. */
void ms_trips_begin(ms_walk *walk, ms_trips *trips);

/* Called behind the block: whether locals then hold numbers that may depend on a variable in the
 * loop's start, limit or step. */
bool ms_trips_end(ms_walk *walk, const ms_trips *trips);

#endif
