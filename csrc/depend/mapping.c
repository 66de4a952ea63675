/* SPDX-License-Identifier: MIT
 *
 * Mappings: see mapping.h. */
#include "depend/mapping.h"

#include <string.h>

/* A subscript that takes every value from 1 to `extent`; false when there are too many. */
static bool push_any(ms_walk *walk, int64_t extent, ms_form *form) {
  if (walk->scope_count == MS_MAX_INNER || extent < 1) return false;
  ms_inner *inner = &walk->scope[walk->scope_count];
  ms_form variable = {0}, one = ms_form_of(1), last = ms_form_of(extent);
  variable.at[MS_MAX_DIMS + walk->scope_count] = 1;
  *inner = (ms_inner){.total = true};
  if (!ms_form_add(&inner->low, &variable, &one, -1)) return false;
  if (!ms_form_add(&inner->high, &last, &variable, -1)) return false;
  walk->scope_count++;
  *form = variable;
  return true;
}

/* Adds factor * (subscript - 1) of dimension `d` of a view to a subscript of the base. */
static void add_dimension(ms_walk *walk, const ms_binding *binding, const ms_access *access,
                          uint32_t d, ms_subscript *sum) {
  const ms_mapping *view = binding->view;
  ms_form form, first = ms_form_of(-1);
  bool known = d < access->subscript_count && access->subscript[d].known;
  if (known) {
    form = access->subscript[d].form;
  } else if (!push_any(walk, binding->dims[d], &form)) {
    sum->known = false;
    return;
  }
  sum->known = sum->known && ms_form_add(&form, &form, &first, 1) &&
               ms_form_add(&sum->form, &sum->form, &form, view->factor[d]);
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
  ms_subscript subscript[MS_MAX_DIMS] = {0};
  for (uint32_t s = 0; s < access->subscript_count; s++) {
    access->possible = access->possible || !access->subscript[s].known;
  }
  for (uint32_t k = 0; k < view->dim_count; k++) {
    subscript[k] = (ms_subscript){.known = true, .form = ms_form_of(view->first[k])};
  }
  for (uint32_t d = 0; d < binding->dim_count; d++) {
    uint32_t k = view->along[d];
    if (k < view->dim_count) add_dimension(walk, binding, access, d, &subscript[k]);
  }
  access->subscript_count = view->dim_count;
  memcpy(access->subscript, subscript, view->dim_count * sizeof *subscript);
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
