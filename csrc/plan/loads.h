/* SPDX-License-Identifier: MIT
 *
 * Loads: how much work the ranges of a plan's space axis hold, for sharing them out.
 *
 * Boxes are counted, and so are the entries of a partition. Where a row cuts, or where the bounds
 * of collapsed loops depend on outer indices, iterations are sampled on a regular lattice: loads
 * decide nothing but who runs what. Pure. */
#ifndef MS_PLAN_LOADS_H
#define MS_PLAN_LOADS_H

#include "plan/plan.h"

/* Fills plan->loads of a plan that has all else but stages; leaves NULL where all ranges are
 * alike. MS_ARR when memory is out. */
int ms_loads_find(const ms_plan_terms *terms, ms_plan *plan, ms_error *err);

#endif
