/* SPDX-License-Identifier: MIT
 *
 * Lines of plans: numbers for which a loop's plans differ in nothing but the ranges, as its verdict
 * was proved to be steady (depend/verdict.h) along them: from + k * each for whole k of least ..
 * most. Such a plan needs no analysis. One thread. */
#ifndef MS_JOB_PLAN_LINE_H
#define MS_JOB_PLAN_LINE_H

#include "job/known_plans.h"

typedef struct ms_plan_line {
  double *from, *each; /* as many as the known plans have; not owned */
  uint32_t ranges;     /* the last numbers are first and last value of each range; */
  double least, most;  /* both 0: there is no line */
  ms_plan_terms terms; /* for `from` */
} ms_plan_line;

/* The plan for numbers that are on the line, which is made, and known from now on by the number 0.
 * `steps`: of the ranges. NULL: they are not on it, or memory is out. */
const ms_known_plan *ms_plan_line_follow(const ms_plan_line *line, ms_known_plans *known,
                                         const double *numbers, const int64_t *steps);

#endif
