/* SPDX-License-Identifier: MIT
 *
 * Known plans: those of one loop over the same arrays, by the numbers that they depend on, which a
 * driver loop changes from one execution to the next.
 *
 * Keeps plans; at most so many, then all are forgotten. One thread. */
#ifndef MS_JOB_KNOWN_PLANS_H
#define MS_JOB_KNOWN_PLANS_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/plan.h"

typedef struct ms_known_plan {
  ms_plan *plan;
  uint64_t number; /* given with it */
  uint32_t next;   /* from 1, in its chain; 0: the end */
} ms_known_plan;

typedef struct ms_known_plans {
  uint32_t width; /* numbers of each */
  uint32_t count, room;
  ms_known_plan *plans;
  double *numbers;   /* width of each */
  uint32_t *buckets; /* from 1, as many as there is room for; 0: none */
  uint32_t latest;   /* the plan that was found last, from 1; 0: none */
} ms_known_plans;

/* The plan for these numbers, to the bit; NULL: it is not known. */
const ms_known_plan *ms_known_plans_find(ms_known_plans *known, const double *numbers);

/* Adds a plan for numbers that none is known for. False when memory is out. */
bool ms_known_plans_add(ms_known_plans *known, const double *numbers, ms_plan *plan,
                        uint64_t number);

/* Releases all. */
void ms_known_plans_clear(ms_known_plans *known);

#endif
