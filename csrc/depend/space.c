/* SPDX-License-Identifier: MIT
 *
 * Space: see space.h.
 *
 * Distances count iterations: a loop of step 2 with A[i] = A[i-2] has distance 1. A collapsed loop
 * whose bounds depend on outer indices starts at different values, so its step must be 1 or -1,
 * and its ordinals are index values (negated for -1). */
#include "depend/space.h"
#include "depend/capture_path.h"
#include "depend/evaluate.h"
#include "depend/inline.h"
#include "depend/variable_value.h"

#include <string.h>

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
static ms_abstract_value index_of(const ms_domain *domain, uint32_t k) {
  int64_t origin = domain->dim[k].origin, step = domain->dim[k].step;
  if (!small(origin, MS_FORM_INDEX) || !small(step, MS_FORM_COEFFICIENT) ||
      (domain->dim[k].box && domain->dim[k].extent > MS_FORM_INDEX))
    return ms_abstract_value_scalar();
  ms_form form = ms_form_constant(origin);
  form.at[k] = step;
  if (domain->steady != NULL) form.at[MS_VAR_STEADY] = domain->steady->lo_each[k];
  return ms_abstract_value_number(&form);
}

static void set_box(ms_domain *domain, uint32_t k, const ms_range *range) {
  domain->dim[k].origin = range->lo;
  domain->dim[k].step = range->step;
  domain->dim[k].box = true;
  domain->dim[k].extent = extent_of(range);
}

/* A range that is longer or shorter by so many ordinals for each step of the steady variable. */
static void set_growing(ms_domain *domain, uint32_t k, const ms_range *range, int64_t each) {
  set_box(domain, k, range);
  domain->dim[k].box = false;
  domain->dim[k].low.count = domain->dim[k].high.count = 1;
  domain->dim[k].low.form[0].at[k] = 1;
  domain->dim[k].high.form[0] = ms_form_constant(domain->dim[k].extent - 1);
  domain->dim[k].high.form[0].at[k] = -1;
  domain->dim[k].high.form[0].at[MS_VAR_STEADY] = each;
}

static void set_range(ms_domain *domain, uint32_t k, const ms_range *range) {
  const ms_steady *steady = domain->steady;
  int64_t each = steady == NULL ? 0 : (steady->hi_each[k] - steady->lo_each[k]) / range->step;
  if (each == 0) {
    set_box(domain, k, range);
  } else {
    set_growing(domain, k, range, each);
  }
}

/* Whether a node is a call of the builtin that has this name. */
static bool is_call_of(const ms_walk *walk, const ms_node *node, const char *name) {
  if (node->kind != MS_CALL || node->kids < 2) return false;
  int64_t capture = ms_capture_path_of(walk->loop, node->kid[0]);
  if (capture < 0) return false;
  ms_meaning means = ms_inline_meaning(walk, (uint32_t)capture);
  const ms_binding *binding = &walk->bindings[means.binding];
  return means.depth == walk->loop->captures[capture].field_count &&
         binding->kind == MS_BIND_BUILTIN && strcmp(binding->name, name) == 0;
}

/* The forms of a bound, those of calls of `extreme` in it apart. False: they are not affine, or too
 * many. */
static bool add_ends(ms_walk *walk, ms_node *node, const char *extreme, ms_bounds *ends) {
  while (node->kind == MS_PAREN) node = node->kid[0];
  if (is_call_of(walk, node, extreme)) {
    for (uint32_t k = 1; k < node->kids; k++) {
      if (!add_ends(walk, node->kid[k], extreme, ends)) return false;
    }
    return true;
  }
  ms_abstract_value value;
  ms_evaluate(walk, node, &value);
  if (value.kind != MS_ABSTRACT_VALUE_NUMBER || ends->count == MS_MAX_BOUNDS) return false;
  ends->form[ends->count++] = value.form;
  return true;
}

static bool are_constant(const ms_bounds *ends) {
  for (uint32_t e = 0; e < ends->count; e++) {
    if (!ms_form_is_constant(&ends->form[e])) return false;
  }
  return true;
}

/* The extreme of constants: of the ends where a loop of this step begins, or where it ends. */
static int64_t extreme_of(const ms_bounds *ends, bool greatest) {
  int64_t most = ends->form[0].constant;
  for (uint32_t e = 1; e < ends->count; e++) {
    int64_t next = ends->form[e].constant;
    if (greatest ? next > most : next < most) most = next;
  }
  return most;
}

/* The bounds as forms >= 0 over the outer ordinals; false if they are not. */
static bool set_bounds(const ms_walk *walk, ms_domain *domain, const ms_bounds *start,
                       const ms_bounds *limit, int64_t step) {
  uint32_t k = domain->dim_count;
  ms_form own = {0};
  const ms_bounds *low = step > 0 ? start : limit, *high = step > 0 ? limit : start;
  own.at[k] = step;
  domain->dim[k].step = step;
  domain->dim[k].low.count = low->count;
  domain->dim[k].high.count = high->count;
  bool fits = walk->scope_count == 0 && small(step, 1);
  for (uint32_t e = 0; e < low->count && fits; e++)
    fits = ms_form_add(&domain->dim[k].low.form[e], &own, &low->form[e], -1);
  for (uint32_t e = 0; e < high->count && fits; e++)
    fits = ms_form_add(&domain->dim[k].high.form[e], &high->form[e], &own, -1);
  return fits;
}

static bool collapse_one(ms_walk *walk, ms_domain *domain, ms_node *node) {
  ms_form one = ms_form_constant(1);
  ms_abstract_value step = ms_abstract_value_number(&one);
  ms_bounds start = {0}, limit = {0};
  if (node->kid[2] != NULL) ms_evaluate(walk, node->kid[2], &step);
  if (step.kind != MS_ABSTRACT_VALUE_NUMBER || !ms_form_is_constant(&step.form)) return false;
  if (step.form.constant == 0 || node->symbols[0]->assigned) return false;
  bool up = step.form.constant > 0;
  if (!add_ends(walk, node->kid[0], up ? "math.max" : "math.min", &start)) return false;
  if (!add_ends(walk, node->kid[1], up ? "math.min" : "math.max", &limit)) return false;
  uint32_t k = domain->dim_count;
  if (are_constant(&start) && are_constant(&limit)) {
    ms_range range = {extreme_of(&start, up), extreme_of(&limit, !up), step.form.constant};
    set_box(domain, k, &range);
  } else if (!set_bounds(walk, domain, &start, &limit, step.form.constant)) {
    return false;
  }
  domain->dim[k].name = node->symbols[0]->name;
  domain->dim_count++;
  ms_abstract_value value = index_of(domain, k);
  ms_variable_value_set(walk, node->symbols[0], &value);
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
                          "or sums of outer indices, from math.max to math.min of at most %d such, "
                          "with step 1 or -1 where they depend on them",
                          walk->space->collapse, inner->line, MS_MAX_BOUNDS);
    *body = inner->kid[3];
  }
  return 0;
}

int ms_space_domain(ms_walk *walk, ms_domain *domain, ms_node **body, ms_error *err) {
  const ms_space *space = walk->space;
  const ms_loop *loop = walk->loop;
  *domain = (ms_domain){.steady = space->steady.present ? &space->steady : NULL};
  if (space->dim_count < 1 || space->dim_count > MS_MAX_DIMS)
    return ms_error_set(err, MS_OPT, "an iteration space has 1 to %d dimensions, not %u",
                        MS_MAX_DIMS, space->dim_count);
  for (uint32_t k = 0; k < space->dim_count; k++) {
    if (space->range[k].step == 0)
      return ms_error_set(err, MS_OPT, "the step of range %u is 0", k + 1);
    set_range(domain, k, &space->range[k]);
    domain->dim[k].name = k < loop->index_count ? loop->indices[k]->name
                                                : ms_arena_format(walk->arena, "index %u", k + 1);
    walk->index_value[k] = index_of(domain, k);
  }
  domain->dim_count = space->dim_count;
  return space->collapse > 1 ? collapse(walk, domain, body, err) : 0;
}
