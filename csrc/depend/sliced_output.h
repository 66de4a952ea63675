/* SPDX-License-Identifier: MIT
 *
 * Sliced output: captured plain tables that the body only assigns elements of, `t[i] = value`.
 *
 * Where no other name leads to such a table, a block can form its part of it apart, and the parts
 * are put together after the loop. To the dependence test it is an array that is never read. */
#ifndef MS_DEPEND_SLICED_OUTPUT_H
#define MS_DEPEND_SLICED_OUTPUT_H

#include "depend/walk_state.h"

/* Fills walk->sliced, before the groups are made. -1: out of memory. */
int ms_sliced_outputs_find(ms_walk *walk);

/* Records the assignment to `target` if that is an element of a slice whose key is affine and
 * follows some index; false for any other target, which is then no output by slices. */
bool ms_sliced_output_assign(ms_walk *walk, ms_node *target);

/* The names of the indices that the keys of slice `capture` follow, in the walk's arena; false if
 * no element was assigned. */
bool ms_sliced_output_indices(ms_walk *walk, uint32_t capture, const char **names);

#endif
