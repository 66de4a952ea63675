/* SPDX-License-Identifier: MIT
 *
 * Axes: see axis.h. */
#include "plan/axis.h"

#include <stdbool.h>

#include "plan/cutting.h"

int64_t ms_axis_length(const ms_range *values) {
  int64_t length = (values->hi - values->lo) / values->step + 1;
  return length > 0 ? length : 0;
}

void ms_axis_ordinals(const ms_extent *extent, int64_t *first, int64_t *last) {
  const ms_range *range = &extent->range;
  *first = extent->bounded ? range->lo * range->step : 0;
  *last = extent->bounded ? range->hi * range->step : (range->hi - range->lo) / range->step;
}

double ms_axis_volume(const ms_plan_terms *terms) {
  const ms_verdict *verdict = terms->verdict;
  double count = 1;
  if (terms->entries >= 0) return terms->entries;
  for (uint32_t d = 0; d < verdict->dim_count; d++) {
    count *= (double)ms_axis_length(&verdict->extent[d].range);
  }
  return count;
}

static const ms_strategy_traits *traits_of(const ms_verdict *verdict) {
  return ms_strategy_traits_of(verdict->strategy);
}

/* Whether one worker runs all: then there is nothing to be cut. */
static bool is_serial(const ms_verdict *verdict) {
  return traits_of(verdict)->alone;
}

/* Whether a scalar's value may depend on the order in which iterations come. */
static bool is_in_order(const ms_scalar_plan *scalar) {
  if (scalar->role == MS_ROLE_LISTED) return true;
  if (scalar->role != MS_ROLE_REDUCTION) return false;
  switch (scalar->op) {
    case MS_REDUCE_AND:
    case MS_REDUCE_OR:
    case MS_REDUCE_MIN:
    case MS_REDUCE_MAX:
    case MS_REDUCE_WITH:
      return true;
    default:
      return false;
  }
}

/* Whether an ordered loop's blocks must be ranges of its iterations, one after the other. */
static bool needs_order(const ms_plan_terms *terms) {
  const ms_verdict *verdict = terms->verdict;
  bool needs = false;
  for (uint32_t s = 0; terms->ordered && s < verdict->scalar_count; s++) {
    needs = needs || is_in_order(&verdict->scalars[s]);
  }
  return needs;
}

/* The dimension that an independent loop is cut along, where blocks have to follow the loop's order
 * the first that has several values. */
static uint32_t free_dim(const ms_plan_terms *terms) {
  const ms_verdict *verdict = terms->verdict;
  uint32_t outermost = 0, dims = terms->sparse > 0 ? terms->sparse : verdict->dim_count;
  int64_t lengths[MS_MAX_DIMS];
  if (is_serial(verdict) || !traits_of(verdict)->any_axis) return 0;
  for (uint32_t d = 0; d < dims; d++) lengths[d] = ms_axis_length(&verdict->extent[d].range);
  if (!needs_order(terms)) return ms_cut_dimension(lengths, dims);
  while (outermost + 1 < dims && lengths[outermost] <= 1) outermost++;
  return lengths[outermost] > 1 ? outermost : 0;
}

/* The verdict's row: its least and greatest value over the box around the space. */
static ms_plan_axis row_axis(const ms_verdict *verdict) {
  ms_plan_axis axis = {.dim = -1, .values = {.step = 1}};
  for (uint32_t d = 0; d < verdict->dim_count; d++) {
    int64_t first, last;
    ms_axis_ordinals(&verdict->extent[d], &first, &last);
    first *= verdict->row[d];
    last *= verdict->row[d];
    axis.values.lo += first < last ? first : last;
    axis.values.hi += first < last ? last : first;
  }
  return axis;
}

static ms_plan_axis dim_axis(const ms_verdict *verdict, uint32_t dim) {
  return (ms_plan_axis){.dim = (int32_t)dim, .values = verdict->extent[dim].range};
}

static void find_axes(const ms_plan_terms *terms, ms_axes *axes) {
  const ms_verdict *verdict = terms->verdict;
  bool one = traits_of(verdict)->any_axis;
  *axes = (ms_axes){.swept = verdict->sequential};
  if (terms->rounds > 0) {
    axes->swept = 1;
    axes->axis[axes->count++] =
        (ms_plan_axis){.dim = -1, .values = {.lo = 1, .hi = terms->rounds, .step = 1}};
  }
  if (verdict->has_row) axes->axis[axes->count++] = row_axis(verdict);
  if (one) axes->axis[axes->count++] = dim_axis(verdict, free_dim(terms));
  for (uint32_t k = 0; !one && k < verdict->strategy_dims; k++) {
    axes->axis[axes->count++] = dim_axis(verdict, verdict->strategy_dim[k]);
  }
  for (uint32_t a = 0; a < axes->swept; a++) axes->axis[a].swept = 1;
}

/* Ranges of each axis that is not swept when nothing else was asked for. */
static int64_t usual_ranges(const ms_plan_terms *terms, uint32_t parallel, double phases) {
  const ms_verdict *verdict = terms->verdict;
  ms_cutting cutting = {.entries = ms_axis_volume(terms),
                        .phases = phases,
                        .delay = terms->delay,
                        .merged = terms->merged,
                        .axes = parallel};
  if (verdict->strategy == MS_ROUNDS) return ms_cutting_round_ranges(cutting.entries / phases);
  return is_serial(verdict) ? 1 : ms_cutting_ranges(&cutting);
}

static int check_asked(const ms_plan_terms *terms, uint32_t parallel, ms_error *err) {
  const ms_verdict *verdict = terms->verdict;
  if (terms->asked == 0 || terms->asked == parallel || is_serial(verdict)) return 0;
  return ms_error_set(
      err, MS_OPT, "option 'grid' has %u entries, but the plan (%s) cuts %u dimension%s",
      terms->asked, ms_strategy_name(verdict->strategy), parallel, parallel == 1 ? "" : "s");
}

/* The number of ranges of an axis that is not swept: what is wanted, where there are so many. */
static int64_t ranges_of(const ms_plan_axis *axis, int64_t wanted) {
  int64_t values = ms_axis_length(&axis->values);
  if (wanted > values) wanted = values;
  return wanted < 1 ? 1 : wanted;
}

int ms_axes_find(const ms_plan_terms *terms, ms_axes *axes, ms_error *err) {
  const ms_verdict *verdict = terms->verdict;
  double phases = 1, blocks = 1;
  find_axes(terms, axes);
  for (uint32_t a = 0; a < axes->swept; a++) {
    axes->ranges[a] = ms_axis_length(&axes->axis[a].values);
    phases *= (double)axes->ranges[a];
  }
  uint32_t parallel = axes->count - axes->swept;
  int64_t usual = usual_ranges(terms, parallel, phases);
  if (check_asked(terms, parallel, err) != 0) return -1;
  bool asked = terms->asked > 0 && !is_serial(verdict);
  for (uint32_t a = axes->swept; a < axes->count; a++) {
    axes->ranges[a] = ranges_of(&axes->axis[a], asked ? terms->ask[a - axes->swept] : usual);
    blocks *= (double)axes->ranges[a];
  }
  if (phases * blocks <= MS_MOST_BLOCKS) return 0;
  return ms_error_set(err, MS_OPT,
                      "the loop's plan (%s) has %.0f steps of %.0f blocks, and no more than %u "
                      "blocks can be scheduled. Run the loop serially: {serial = true}",
                      ms_strategy_name(verdict->strategy), phases, blocks, MS_MOST_BLOCKS);
}
