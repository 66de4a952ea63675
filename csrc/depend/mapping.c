/* SPDX-License-Identifier: MIT
 *
 * Mappings: see mapping.h. */
#include "depend/mapping.h"

#include <string.h>

/* A subscript that takes every value from 1 to `extent`; false when there are too many. */
static bool push_any(ms_walk *walk, int64_t extent, ms_form *form) {
  if (walk->scope_count == MS_MAX_INNER || extent < 1) return false;
  ms_inner *inner = &walk->scope[walk->scope_count];
  ms_form variable = {0}, one = ms_form_constant(1), last = ms_form_constant(extent);
  variable.at[MS_MAX_DIMS + walk->scope_count] = 1;
  *inner = (ms_inner){.total = true};
  if (!ms_form_add(&inner->low, &variable, &one, -1)) return false;
  if (!ms_form_add(&inner->high, &last, &variable, -1)) return false;
  walk->scope_count++;
  *form = variable;
  return true;
}

/* A subscript of the base while it is added up. */
typedef struct sum {
  bool known;
  ms_quadratic number;
} sum;

static ms_quadratic constant(int64_t value) {
  const ms_form form = ms_form_constant(value);
  return ms_quadratic_of(&form);
}

/* Adds factor * (subscript - 1) of dimension `d` of a view to a subscript of the base. */
static void add_dimension(ms_walk *walk, const ms_binding *binding, const ms_access *access,
                          uint32_t d, sum *of) {
  const ms_quadratic one = constant(1), factor = constant(binding->view->factor[d]);
  ms_quadratic own;
  ms_form any;
  if (d >= access->subscript_count || !ms_subscript_number(&access->subscript[d], &own)) {
    of->known = of->known && push_any(walk, binding->dims[d], &any);
    own = ms_quadratic_of(&any);
  }
  of->known = of->known && ms_quadratic_operate(MS_OP_SUB, &own, &one, &own) &&
              ms_quadratic_operate(MS_OP_MUL, &own, &factor, &own) &&
              ms_quadratic_operate(MS_OP_ADD, &of->number, &own, &of->number);
}

static ms_subscript subscript_of(ms_walk *walk, const sum *of) {
  if (!of->known) return (ms_subscript){.known = false};
  if (ms_quadratic_is_form(&of->number))
    return (ms_subscript){.known = true, .form = of->number.rest};
  ms_quadratic *kept = ms_arena_take(walk->arena, 1, sizeof *kept);
  walk->failed = walk->failed || kept == NULL;
  if (kept != NULL) *kept = of->number;
  return (ms_subscript){.quadratic = kept};
}

void ms_mapping_apply(ms_walk *walk, ms_access *access) {
  if (!walk->groups.overlap[access->group]) return;
  const ms_binding *binding = &walk->bindings[access->binding];
  const ms_mapping *view = binding->view;
  if (view == NULL) {
    access->possible = true;
    access->subscript_count = 0;
    return;
  }
  sum sums[MS_MAX_DIMS];
  ms_quadratic number;
  for (uint32_t s = 0; s < access->subscript_count; s++) {
    access->possible = access->possible || !ms_subscript_number(&access->subscript[s], &number);
  }
  for (uint32_t k = 0; k < view->dim_count; k++) sums[k] = (sum){true, constant(view->first[k])};
  for (uint32_t d = 0; d < binding->dim_count; d++) {
    uint32_t k = view->along[d];
    if (k < view->dim_count) add_dimension(walk, binding, access, d, &sums[k]);
  }
  access->subscript_count = view->dim_count;
  for (uint32_t k = 0; k < view->dim_count; k++)
    access->subscript[k] = subscript_of(walk, &sums[k]);
}

bool ms_mapping_invert(const ms_binding *binding, const int64_t *base, int64_t *subscripts) {
  const ms_mapping *view = binding->view;
  bool used[MS_MAX_DIMS] = {false};
  for (uint32_t d = 0; d < binding->dim_count; d++) {
    uint32_t k = view->along[d];
    subscripts[d] = 1;
    if (k >= view->dim_count) continue;
    if (used[k] || view->factor[d] != 1) return false;
    used[k] = true;
    subscripts[d] = base[k] - view->first[k] + 1;
  }
  return true;
}

uint32_t ms_mapping_dims(const ms_binding *binding, const int64_t **dims) {
  const ms_mapping *view = binding->view;
  *dims = view == NULL ? binding->dims : view->dims;
  return view == NULL ? binding->dim_count : view->dim_count;
}
