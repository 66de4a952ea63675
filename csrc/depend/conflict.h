/* SPDX-License-Identifier: MIT
 *
 * Conflicts: every pair of accesses that meet in different iterations, a write among them.
 *
 * Pairs of proven accesses come first, so that the pair that a set of distances remembers for a
 * cell (distance.h) is a proven one where there is any. Lives in the solver's arena. */
#ifndef MS_DEPEND_CONFLICT_H
#define MS_DEPEND_CONFLICT_H

#include "depend/distance.h"

typedef struct ms_pair {
  const ms_access *a, *b;
  bool proven;
} ms_pair;

typedef struct ms_conflicts {
  const ms_domain *domain;
  ms_solver *solver;
  bool known;    /* false: the quota ran out, nothing here is complete */
  ms_pair *pair; /* those that meet in different iterations */
  uint32_t pair_count;
  ms_distances *all;      /* over all pairs */
  ms_distances *proven;   /* over pairs of proven accesses */
  ms_distances **group;   /* over the pairs of one group; NULL where there are none */
  ms_distances **assumed; /* the same over pairs that are not proven, where `assumes` takes these
                             for pairs that never meet: they are in nothing else here */
  ms_assumption assumes;
  uint32_t group_count;
} ms_conflicts;

/* Collects the conflicts of a body: if independence is assumed, those of proven accesses alone; if
 * levels are, all of them at distances that have "+" first and anything behind it. -1 only when
 * memory is out; a spent quota is `known` false. */
int ms_conflicts_find(ms_conflicts *conflicts, ms_solver *solver, const ms_domain *domain,
                      const ms_accesses *accesses, uint32_t group_count, ms_assumption assumes);

#endif
