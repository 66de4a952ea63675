/* SPDX-License-Identifier: MIT
 *
 * Plan: see plan.h. */
#include "plan/plan.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "depend/verdict.h"
#include "plan/axis.h"
#include "plan/loads.h"
#include "plan/order.h"
#include "plan/reach.h"

static atomic_uint_fast64_t last_id;

int ms_plan_cut(const ms_plan_terms *terms, ms_cut *cut, ms_error *err) {
  ms_axes axes;
  if (ms_axes_find(terms, &axes, err) != 0) return -1;
  *cut = (ms_cut){.count = axes.count, .ordered = terms->ordered ? 1 : 0};
  for (uint32_t a = 0; a < axes.count; a++) {
    cut->dims[a] = (uint32_t)axes.axis[a].dim;
    cut->ranges[a] = (uint32_t)axes.ranges[a];
  }
  return 0;
}

static int out_of_memory(ms_error *err) {
  return ms_error_memory(err, MS_ARR, "a loop's plan");
}

/* Cuts an axis: where a partition does, or evenly. */
static int cut_axis(const ms_plan_terms *terms, ms_plan *plan, uint32_t a, int64_t wanted,
                    ms_error *err) {
  ms_plan_axis *axis = &plan->axes[a];
  const ms_partition *partition = terms->partition;
  int64_t ranges = partition != NULL ? partition->cut.ranges[a] : wanted;
  axis->cut =
      ms_layout_cut(axis->values.lo, axis->values.step, ms_axis_length(&axis->values), ranges);
  plan->grid.ranges[a] = (uint32_t)ranges;
  if (partition == NULL && (axis->swept || axis->dim < 0)) return 0;
  axis->starts = calloc((size_t)ranges + 1, sizeof *axis->starts);
  if (axis->starts == NULL) return out_of_memory(err);
  for (int64_t r = 0; r <= ranges; r++) {
    axis->starts[r] = partition != NULL ? partition->bounds[a][r] : ms_layout_begin(&axis->cut, r);
  }
  if (!axis->swept) plan->bounds.start[a] = axis->starts;
  return 0;
}

static int cut_axes(const ms_plan_terms *terms, ms_plan *plan, ms_error *err) {
  const ms_verdict *verdict = terms->verdict;
  ms_axes axes;
  if (ms_axes_find(terms, &axes, err) != 0) return -1;
  plan->grid = (ms_grid){.strategy = terms->rounds > 0 ? MS_ROUNDS : verdict->strategy,
                         .count = axes.count,
                         .sequential = axes.swept};
  memcpy(plan->axes, axes.axis, sizeof plan->axes);
  for (uint32_t a = 0; a < axes.count; a++) {
    if (cut_axis(terms, plan, a, axes.ranges[a], err) != 0) return -1;
  }
  plan->blocks = ms_grid_blocks(&plan->grid);
  ms_reach_find(verdict, plan);
  return 0;
}

/* How many blocks of an ordered loop belong together: in the loop's order all their iterations come
 * before those of the next so many blocks, while iterations of the same group's blocks may
 * alternate. Groups are told apart by the axes that cut the outermost dimensions, up to and with
 * the first one whose ranges have several values. */
static uint32_t together(const ms_plan *plan) {
  uint32_t blocks = plan->blocks;
  bool apart = true;
  for (uint32_t a = 0; a < plan->grid.count; a++) {
    const ms_plan_axis *axis = &plan->axes[a];
    apart = apart && axis->dim == (int32_t)a;
    if (apart) blocks /= plan->grid.ranges[a];
    apart = apart && plan->grid.ranges[a] == ms_axis_length(&axis->values);
  }
  return blocks;
}

static void lay_out(const ms_plan_terms *terms, ms_plan *plan) {
  const ms_verdict *verdict = terms->verdict;
  ms_layout *layout = &plan->layout;
  layout->ordered = terms->ordered;
  if (terms->partition != NULL) {
    layout->of_entries = 1;
    layout->starts = terms->partition->start;
    return;
  }
  layout->dims = verdict->dim_count;
  layout->axis_count = plan->grid.count;
  for (uint32_t d = 0; d < layout->dims; d++) layout->extents[d] = verdict->extent[d].range;
  for (uint32_t a = 0; a < layout->axis_count; a++) {
    layout->axes[a] = plan->axes[a].cut;
    layout->axes[a].at = 2 * (plan->axes[a].dim < 0 ? (int64_t)layout->dims : plan->axes[a].dim);
  }
}

static int find_travels(const ms_verdict *verdict, ms_plan *plan, ms_error *err) {
  int32_t dims[MS_CUTS];
  for (uint32_t a = 0; a < MS_CUTS; a++) dims[a] = plan->axes[a].swept ? -1 : plan->axes[a].dim;
  size_t bindings = verdict->binding_count;
  plan->travels = calloc((size_t)verdict->array_count + 1, sizeof *plan->travels);
  plan->array_of = calloc(bindings + 1, sizeof *plan->array_of);
  if (plan->travels == NULL || plan->array_of == NULL) return out_of_memory(err);
  plan->bindings = verdict->binding_count;
  if (bindings > 0) memcpy(plan->array_of, verdict->array_of, bindings * sizeof *plan->array_of);
  for (uint32_t a = 0; a < verdict->array_count; a++) {
    if (!verdict->arrays[a].written) continue;
    plan->travels[a] = ms_travel_of(&verdict->arrays[a], &plan->grid, dims);
  }
  return 0;
}

static int fill(const ms_plan_terms *terms, ms_plan *plan, ms_error *err) {
  if (cut_axes(terms, plan, err) != 0) return -1;
  if (terms->ordered) plan->grid.together = together(plan);
  plan->volume = ms_axis_volume(terms);
  lay_out(terms, plan);
  if (find_travels(terms->verdict, plan, err) != 0) return -1;
  if (ms_loads_find(terms, plan, err) != 0) return -1;
  if (!(terms->delay > 0) || isinf(terms->delay)) return 0;
  return ms_stages_cut(&plan->grid, &plan->layout, (uint64_t)terms->delay, &plan->stages, err);
}

ms_plan *ms_plan_new(const ms_plan_terms *terms, ms_error *err) {
  ms_plan *plan = calloc(1, sizeof *plan);
  if (plan == NULL) {
    out_of_memory(err);
    return NULL;
  }
  plan->id = atomic_fetch_add(&last_id, 1) + 1;
  plan->references = 1;
  if (fill(terms, plan, err) == 0) return plan;
  ms_plan_release(plan);
  return NULL;
}

ms_plan *ms_plan_moved(const ms_plan_terms *terms, const ms_range *ranges, ms_error *err) {
  const ms_verdict *verdict = terms->verdict;
  ms_verdict moved = *verdict;
  for (uint32_t d = 0; d < moved.dim_count; d++) moved.extent[d].range = ranges[d];
  ms_plan_terms own = *terms;
  own.verdict = &moved;
  return ms_plan_new(&own, err);
}

void ms_plan_keep(ms_plan *plan) {
  plan->references++;
}

void ms_plan_release(ms_plan *plan) {
  if (--plan->references > 0) return;
  for (uint32_t a = 0; a < MS_CUTS; a++) free(plan->axes[a].starts);
  free(plan->loads);
  free(plan->travels);
  free(plan->array_of);
  ms_stages_free(&plan->stages);
  free(plan);
}

const ms_travel *ms_plan_travel(const ms_plan *plan, uint32_t binding) {
  uint32_t array = plan->array_of[binding];
  return array > 0 && plan->travels[array - 1].written ? &plan->travels[array - 1] : NULL;
}

void ms_plan_values(const ms_plan *plan, uint32_t axis, uint32_t range, int64_t *values) {
  const ms_plan_axis *along = &plan->axes[axis];
  const int64_t *starts = along->starts;
  values[0] = starts != NULL ? starts[range] : ms_layout_begin(&along->cut, range);
  values[1] = starts != NULL ? starts[range + 1] : ms_layout_begin(&along->cut, range + 1);
  values[1] -= along->cut.step;
}

uint32_t ms_plan_next(const ms_plan *plan, uint32_t block) {
  ms_order order = ms_order_of(&plan->grid);
  ms_block_box all = ms_order_whole(&order);
  return ms_order_next(&order, &all, block);
}
