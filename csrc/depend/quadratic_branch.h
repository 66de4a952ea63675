/* SPDX-License-Identifier: MIT
 *
 * Branches of quadratics: where two accesses with quadratic subscripts meet, as pairs with affine
 * ones.
 *
 * With m * f^2 + g = m * f'^2 + g' the roots f and f' are some k apart, and then m * k * (f + f') +
 * g - g' = 0, which is affine: each k is a branch. That no other k than a few next to 0 occurs is
 * shown by bounds of the product (f - f') * (f + f') (McCormick, 1976): a packed triangle's rows
 * follow each other, so that its elements are equal only in equal rows. Others, and subscripts of
 * different squares, are only compared by lines below and above their curves. */
#ifndef MS_DEPEND_QUADRATIC_BRANCH_H
#define MS_DEPEND_QUADRATIC_BRANCH_H

#include "depend/solver.h"

/* Roots that are farther apart than this must be shown not to meet. */
#define MS_MOST_APART    2
#define MS_MOST_BRANCHES (2 * MS_MOST_APART + 1)

typedef struct ms_quadratic_branch {
  const ms_access *a, *b;
} ms_quadratic_branch;

/* Every subscript that both accesses have is known as an affine form. */
bool ms_quadratic_branch_is_affine(const ms_access *a, const ms_access *b);

/* The pair never meets; or it may meet anywhere. */
#define MS_REACH_NEVER   (-1)
#define MS_REACH_UNKNOWN (-2)

/* How far apart the roots can be where a and b, which are not both affine, meet: that many at most,
 * or MS_REACH_NEVER, MS_REACH_UNKNOWN. */
int ms_quadratic_branch_reach(ms_solver *solver, const ms_domain *domain, const ms_access *a,
                              const ms_access *b);

/* The pairs of affine accesses that stand for a and b, for a reach that is known; returns how many,
 * -1 when a limit is passed or memory is out. They live in the solver's arena. */
int ms_quadratic_branches_make(ms_solver *solver, const ms_domain *domain, const ms_access *a,
                               const ms_access *b, int reach, ms_quadratic_branch *branches);

#endif
