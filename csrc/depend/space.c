/* SPDX-License-Identifier: MIT
 *
 * Space: see space.h.
 *
 * Distances count iterations: a loop of step 2 with A[i] = A[i-2] has distance 1. A collapsed loop
 * whose bounds depend on outer indices starts at different values, so its step must be 1 or -1,
 * and its ordinals are index values (negated for -1). */
#include "depend/space.h"

/* The number of iterations of lo, lo + step, ... up to hi. */
static int64_t extent_of(const ms_range *range) {
  bool up = range->step > 0;
  if (up ? range->hi < range->lo : range->hi > range->lo) return 0;
  uint64_t length =
      up ? (uint64_t)range->hi - (uint64_t)range->lo : (uint64_t)range->lo - (uint64_t)range->hi;
  uint64_t stride = up ? (uint64_t)range->step : 0 - (uint64_t)range->step;
  uint64_t last = length / stride;
  return last >= INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)last + 1;
}

static bool small(int64_t value, int64_t limit) {
  return value <= limit && value >= -limit;
}

/* The value of the index of dimension k; opaque beyond what stays exact. */
static ms_value index_of(const ms_domain *domain, uint32_t k) {
  int64_t origin = domain->dim[k].origin, step = domain->dim[k].step;
  if (!small(origin, MS_FORM_INDEX) || !small(step, MS_FORM_COEFFICIENT) ||
      (domain->dim[k].box && domain->dim[k].extent > MS_FORM_INDEX))
    return ms_value_scalar();
  ms_form form = ms_form_of(origin);
  form.at[k] = step;
  return ms_value_number(&form);
}

static void set_box(ms_domain *domain, uint32_t k, const ms_range *range) {
  domain->dim[k].origin = range->lo;
  domain->dim[k].step = range->step;
  domain->dim[k].box = true;
  domain->dim[k].extent = extent_of(range);
}

/* The bounds as forms >= 0 over the outer ordinals; false if they are not. */
static bool set_bounds(ms_walk *walk, ms_domain *domain, const ms_value *start,
                       const ms_value *limit, int64_t step) {
  uint32_t k = domain->dim_count;
  ms_form own = {0};
  const ms_form *low = &start->form, *high = &limit->form;
  own.at[k] = step;
  domain->dim[k].step = step;
  if (walk->scope_count > 0 || !small(step, 1)) return false;
  if (step < 0) {
    low = &limit->form;
    high = &start->form;
  }
  return ms_form_add(&domain->dim[k].low, &own, low, -1) &&
         ms_form_add(&domain->dim[k].high, high, &own, -1);
}

static bool collapse_one(ms_walk *walk, ms_domain *domain, ms_node *node) {
  ms_form one = ms_form_of(1);
  ms_value start, limit, step = ms_value_number(&one);
  ms_walk_value(walk, node->kid[0], &start);
  ms_walk_value(walk, node->kid[1], &limit);
  if (node->kid[2] != NULL) ms_walk_value(walk, node->kid[2], &step);
  if (start.kind != MS_VALUE_NUMBER || limit.kind != MS_VALUE_NUMBER) return false;
  if (step.kind != MS_VALUE_NUMBER || !ms_form_is_constant(&step.form)) return false;
  if (step.form.constant == 0 || node->symbols[0]->assigned) return false;
  uint32_t k = domain->dim_count;
  if (ms_form_is_constant(&start.form) && ms_form_is_constant(&limit.form)) {
    ms_range range = {start.form.constant, limit.form.constant, step.form.constant};
    set_box(domain, k, &range);
  } else if (!set_bounds(walk, domain, &start, &limit, step.form.constant)) {
    return false;
  }
  domain->dim[k].name = node->symbols[0]->name;
  domain->dim_count++;
  ms_value value = index_of(domain, k);
  ms_walk_set_symbol(walk, node->symbols[0], &value);
  return true;
}

static int collapse(ms_walk *walk, ms_domain *domain, ms_node **body, ms_error *err) {
  for (uint32_t level = 1; level < walk->space->collapse; level++) {
    const ms_node *block = *body;
    ms_node *inner = block->kids == 1 ? block->kid[0] : NULL;
    if (inner == NULL || inner->kind != MS_FOR_NUMERIC || domain->dim_count == MS_MAX_DIMS) {
      const ms_node *at = block->kids > 0 ? block->kid[block->kids > 1] : walk->loop->statement;
      return ms_error_set(err, MS_OPT,
                          "collapse = %u takes in %u more numeric loop%s, directly inside each "
                          "other; line %u is something else",
                          walk->space->collapse, walk->space->collapse - 1,
                          walk->space->collapse == 2 ? "" : "s", at->line);
    }
    if (!collapse_one(walk, domain, inner))
      return ms_error_set(err, MS_OPT,
                          "collapse = %u: the bounds of the loop on line %u must be whole numbers "
                          "or sums of outer indices, with step 1 or -1 where they depend on them",
                          walk->space->collapse, inner->line);
    *body = inner->kid[3];
  }
  return 0;
}

int ms_space_domain(ms_walk *walk, ms_domain *domain, ms_node **body, ms_error *err) {
  const ms_space *space = walk->space;
  const ms_loop *loop = walk->loop;
  *domain = (ms_domain){0};
  if (space->dim_count < 1 || space->dim_count > MS_MAX_DIMS)
    return ms_error_set(err, MS_OPT, "an iteration space has 1 to %d dimensions, not %u",
                        MS_MAX_DIMS, space->dim_count);
  for (uint32_t k = 0; k < space->dim_count; k++) {
    if (space->range[k].step == 0)
      return ms_error_set(err, MS_OPT, "the step of range %u is 0", k + 1);
    set_box(domain, k, &space->range[k]);
    domain->dim[k].name = k < loop->index_count ? loop->indices[k]->name
                                                : ms_arena_format(walk->arena, "index %u", k + 1);
    walk->index_value[k] = index_of(domain, k);
  }
  domain->dim_count = space->dim_count;
  return space->collapse > 1 ? collapse(walk, domain, body, err) : 0;
}
