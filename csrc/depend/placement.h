/* SPDX-License-Identifier: MIT
 *
 * Placement: where the arrays of a plan live while it runs. */
#ifndef MS_DEPEND_PLACEMENT_H
#define MS_DEPEND_PLACEMENT_H

#include "depend/strategy.h"
#include "depend/walk_state.h"

/* Among the dimensions from `first` until before `end` that a partition may cut, the one along
 * which most written arrays align; the smallest of equals. */
uint32_t ms_placement_cut(const ms_walk *walk, const ms_domain *domain, const ms_patterns *patterns,
                          uint32_t first, uint32_t end);

/* The arrays of the plan with their placements, in the order of the captures; in the walk's arena.
 * -1: out of memory. */
int ms_placement_find(const ms_walk *walk, const ms_conflicts *conflicts, const ms_choice *choice,
                      ms_array_plan **arrays, uint32_t *count);

/* By binding, 1 + the number of the array that it is, of `count`; 0: it is none of them. In the
 * arena; NULL: out of memory. */
uint32_t *ms_placement_array_of(const ms_walk *walk, const ms_array_plan *arrays, uint32_t count,
                                ms_arena *arena);

/* The dimension that replicas share out: of those that no distance crosses one that most written
 * arrays follow, and the longest of these; domain->dim_count: there is none. */
uint32_t ms_placement_share(const ms_walk *walk, const ms_domain *domain,
                            const ms_patterns *patterns);

#endif
