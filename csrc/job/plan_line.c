/* SPDX-License-Identifier: MIT
 *
 * Lines of plans: see plan_line.h. */
#include "job/plan_line.h"

#include <math.h>

/* Whether `count` numbers are on the line. */
static bool is_on(const ms_plan_line *line, const double *numbers, uint32_t count) {
  uint32_t first = 0;
  if (line->least == 0 && line->most == 0) return false;
  while (first < count && line->each[first] == 0) first++;
  if (first == count) return false;
  double k = (numbers[first] - line->from[first]) / line->each[first];
  if (k != floor(k) || !(k >= line->least && k <= line->most)) return false;
  for (uint32_t n = 0; n < count; n++) {
    if (numbers[n] != line->from[n] + k * line->each[n]) return false;
  }
  return true;
}

const ms_known_plan *ms_plan_line_follow(const ms_plan_line *line, ms_known_plans *known,
                                         const double *numbers, const int64_t *steps) {
  ms_range ranges[MS_MAX_DIMS];
  ms_error ignored;
  if (!is_on(line, numbers, known->width)) return NULL;
  const double *ends = numbers + known->width - 2 * (size_t)line->ranges;
  for (uint32_t d = 0; d < line->ranges; d++)
    ranges[d] = (ms_range){(int64_t)ends[2 * d], (int64_t)ends[2 * d + 1], steps[d]};
  ms_error_clear(&ignored);
  ms_plan *plan = ms_plan_moved(&line->terms, ranges, &ignored);
  if (plan == NULL) return NULL;
  bool added = ms_known_plans_add(known, numbers, plan, 0);
  ms_plan_release(plan);
  return added ? ms_known_plans_find(known, numbers) : NULL;
}
