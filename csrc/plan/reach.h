/* SPDX-License-Identifier: MIT
 *
 * Reach: how far along the parallel axis of a sweep distances lead, in ranges. Blocks wait for the
 * phase before within it, and for no others. */
#ifndef MS_PLAN_REACH_H
#define MS_PLAN_REACH_H

#include "depend/verdict.h"
#include "plan/plan.h"

/* Fills in the grid's reach, if it is a sweep whose axes are cut. Where it is not known how far
 * distances lead along the axis, a range reaches all on that side. */
void ms_reach_find(const ms_verdict *verdict, ms_plan *plan);

#endif
