/* SPDX-License-Identifier: MIT
 *
 * Loads: see loads.h. */
#include "plan/loads.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "depend/verdict.h"
#include "plan/axis.h"

#define SAMPLES       4096  /* at most */
#define SAMPLE_WEIGHT 65536 /* so that a sample outweighs an empty block */
#define MOST          0x1p62 /* more than a load can be; who has the most to do is all that matters */

static bool is_box(const ms_verdict *verdict) {
  bool box = !verdict->has_row;
  for (uint32_t d = 0; d < verdict->dim_count; d++) box = box && !verdict->extent[d].bounded;
  return box;
}

/* ---- boxes and entries ---- */

static void count_boxes(const ms_verdict *verdict, ms_plan *plan) {
  const ms_plan_axis *axis = &plan->axes[ms_grid_space(&plan->grid)];
  double others = 1;
  for (uint32_t d = 0; d < verdict->dim_count; d++) {
    const ms_range *range = &verdict->extent[d].range;
    if ((int32_t)d != axis->dim) others *= (double)((range->hi - range->lo) / range->step + 1);
  }
  for (int64_t r = 0; r < axis->cut.ranges; r++) {
    int64_t length = axis->cut.each + (r < axis->cut.longer ? 1 : 0);
    plan->loads[r] = (uint64_t)fmin((double)plan->loads[r] + (double)length * others, MOST);
  }
}

static void count_entries(const ms_partition *partition, ms_plan *plan) {
  uint32_t space = ms_grid_space(&plan->grid);
  for (uint32_t block = 0; block < plan->blocks; block++) {
    int64_t entries = partition->start[(size_t)block + 1] - partition->start[block];
    plan->loads[ms_grid_range(&plan->grid, block, space)] += (uint64_t)entries;
  }
}

/* ---- samples ---- */

/* A walk over a lattice of the space. */
typedef struct lattice {
  const ms_verdict *verdict;
  ms_plan *plan;
  const ms_plan_axis *axis;     /* the space axis */
  int64_t count[MS_MAX_DIMS];   /* values that are sampled along each dimension */
  int64_t at[MS_MAX_DIMS], row; /* the sample, and its value of the row */
} lattice;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static void choose_counts(lattice *samples) {
  const ms_verdict *verdict = samples->verdict;
  const ms_plan *plan = samples->plan;
  int64_t product = 1, *count = samples->count;
  for (uint32_t d = 0; d < verdict->dim_count; d++) {
    const ms_extent *extent = &verdict->extent[d];
    bool several = (verdict->has_row && verdict->row[d] != 0) || extent->bounded;
    int64_t wanted = several ? 64 : 4;
    for (uint32_t a = 0; a < plan->grid.count; a++) {
      if (plan->axes[a].dim != (int32_t)d) continue;
      wanted = most(wanted, 2 * least(plan->axes[a].cut.ranges, 64));
    }
    count[d] =
        most(1, least(wanted, (extent->range.hi - extent->range.lo) / extent->range.step + 1));
    product *= count[d];
  }
  while (product > SAMPLES) {
    uint32_t largest = 0;
    for (uint32_t d = 1; d < verdict->dim_count; d++) {
      if (count[d] > count[largest]) largest = d;
    }
    product /= count[largest];
    count[largest] = (count[largest] + 1) / 2;
    product *= count[largest];
  }
}

/* The range of the space axis that a value lies in, or the nearest one. */
static int64_t range_of(const ms_plan_axis *axis, int64_t value) {
  return least(most(ms_layout_range(&axis->cut, value), 0), axis->cut.ranges - 1);
}

static int64_t sum_at(const ms_index_sum *sum, const int64_t *at, uint32_t dims) {
  int64_t value = sum->constant;
  for (uint32_t d = 0; d < dims; d++) value += sum->at[d] * at[d];
  return value;
}

/* Whether the index of dimension `d` lies within what outer ones leave of its extent. */
static bool is_inside(const lattice *samples, uint32_t d) {
  const ms_extent *extent = &samples->verdict->extent[d];
  bool inside = true;
  if (!extent->bounded) return true;
  for (uint32_t k = 0; k < extent->low_count; k++) {
    inside = inside && samples->at[d] >= sum_at(&extent->low[k], samples->at, d);
  }
  for (uint32_t k = 0; k < extent->high_count; k++) {
    inside = inside && samples->at[d] <= sum_at(&extent->high[k], samples->at, d);
  }
  return inside;
}

/* Visits the samples from dimension `d` on. */
static void visit(lattice *samples, uint32_t d) {
  const ms_verdict *verdict = samples->verdict;
  const ms_plan_axis *axis = samples->axis;
  if (d == verdict->dim_count) {
    int64_t value = axis->dim < 0 ? samples->row : samples->at[axis->dim];
    samples->plan->loads[range_of(axis, value)] += SAMPLE_WEIGHT;
    return;
  }
  const ms_extent *extent = &verdict->extent[d];
  int64_t first, last, row = samples->row;
  ms_axis_ordinals(extent, &first, &last);
  for (int64_t s = 0; s < samples->count[d]; s++) {
    double along = ((double)s + 0.5) * (double)(last - first + 1) / (double)samples->count[d];
    int64_t ordinal = first + (int64_t)floor(along), step = extent->range.step;
    samples->at[d] = ordinal * step + (extent->bounded ? 0 : extent->range.lo);
    samples->row = row + (verdict->has_row ? verdict->row[d] * ordinal : 0);
    if (is_inside(samples, d)) visit(samples, d + 1);
  }
  samples->row = row;
}

static void sample(const ms_verdict *verdict, ms_plan *plan) {
  lattice samples = {
      .verdict = verdict, .plan = plan, .axis = &plan->axes[ms_grid_space(&plan->grid)]};
  choose_counts(&samples);
  visit(&samples, 0);
}

int ms_loads_find(const ms_plan_terms *terms, ms_plan *plan, ms_error *err) {
  const ms_verdict *verdict = terms->verdict;
  bool box = is_box(verdict);
  if (terms->partition == NULL && box && plan->grid.sequential > 0) return 0;
  uint32_t ranges = plan->grid.ranges[ms_grid_space(&plan->grid)];
  plan->loads = calloc(ranges, sizeof *plan->loads);
  if (plan->loads == NULL) return ms_error_memory(err, MS_ARR, "a loop's plan");
  ms_grid_loads(&plan->grid, plan->loads);
  if (terms->partition != NULL) {
    count_entries(terms->partition, plan);
  } else if (box) {
    count_boxes(verdict, plan);
  } else {
    sample(verdict, plan);
  }
  return 0;
}
