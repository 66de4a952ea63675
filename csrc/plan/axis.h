/* SPDX-License-Identifier: MIT
 *
 * Axes: what of a loop's space is cut, and into how many ranges. Pure. */
#ifndef MS_PLAN_AXIS_H
#define MS_PLAN_AXIS_H

#include "depend/verdict.h"
#include "plan/plan.h"

/* The axes of a plan, those that are swept first. */
typedef struct ms_axes {
  uint32_t count, swept;
  ms_plan_axis axis[MS_CUTS]; /* `dim`, `swept` and `values` */
  int64_t ranges[MS_CUTS];    /* wanted, no more than there are values */
} ms_axes;

/* MS_OPT where what was asked for does not fit, and where there were too many blocks. */
int ms_axes_find(const ms_plan_terms *terms, ms_axes *axes, ms_error *err);

/* How many values a range has, 0 or more. */
int64_t ms_axis_length(const ms_range *values);

/* Ordinals of an extent, the first and the last: how many steps behind the first index, or, where
 * outer indices bound it, the index in loop direction. */
void ms_axis_ordinals(const ms_extent *extent, int64_t *first, int64_t *last);

/* How many iterations the space has at most: those of its box, or what is known of its entries. */
double ms_axis_volume(const ms_plan_terms *terms);

#endif
