/* SPDX-License-Identifier: MIT
 *
 * Walk, subscripts: indexing views, ranges, and quotients as variables. See walk.h. */
#include <string.h>

#include "depend/walk.h"

/* A view of a whole array, for its maker to fill; NULL, and the walk has failed, without memory. */
ms_view *ms_walk_new_view(ms_walk *walk, uint32_t binding) {
  size_t room = walk->bindings[binding].dim_count * sizeof(ms_subscript);
  ms_view *view = ms_arena_take(walk->arena, 1, sizeof *view + room);
  walk->failed = walk->failed || view == NULL;
  if (view != NULL) view->binding = binding;
  return view;
}

void ms_walk_view(ms_walk *walk, uint32_t binding, ms_value *value) {
  ms_view *view = ms_walk_new_view(walk, binding);
  *value = ms_value_scalar();
  if (view != NULL) *value = (ms_value){.kind = MS_VALUE_VIEW, .view = view};
}

/* What indexing an object with something unknown gives: any part of it. */
void ms_walk_part(ms_walk *walk, const ms_value *object, const ms_node *node, ms_value *value) {
  if (object->kind == MS_VALUE_NUMBER || object->kind == MS_VALUE_SCALAR) {
    *value = ms_value_scalar();
    return;
  }
  uint64_t groups = ms_walk_groups_of(walk, object);
  bool plain = object->kind == MS_VALUE_OTHER && object->plain;
  if (!plain) ms_walk_touch_groups(walk, groups, false, node);
  *value = ms_value_other(groups | walk->stored, object->captured || walk->stored_captured);
  value->changes = object->changes;
  value->impure = object->impure;
  value->data = object->data;
  value->quiet = object->quiet;
  value->acts = object->acts;
  ms_walk_event(walk, object, MS_EVENT_INDEX, node);
}

/* A range {lo, hi} or {} as a quantified variable; unknown where its ends are not affine. */
static void push_range(ms_walk *walk, ms_node *table, int64_t extent, ms_view *view) {
  ms_subscript *subscript = &view->subscript[view->subscript_count++];
  ms_form one = ms_form_of(1), last = ms_form_of(extent);
  ms_value low = ms_value_number(&one), high = ms_value_number(&last);
  view->range = true;
  if (table->kids == 2) {
    ms_walk_value(walk, table->kid[0]->kid[1], &low);
    ms_walk_value(walk, table->kid[1]->kid[1], &high);
  }
  bool known = low.kind == MS_VALUE_NUMBER && high.kind == MS_VALUE_NUMBER;
  if (!known || (table->kids != 0 && table->kids != 2) || walk->scope_count == MS_MAX_INNER) return;
  ms_inner *inner = &walk->scope[walk->scope_count];
  ms_form variable = {0};
  variable.at[MS_MAX_DIMS + walk->scope_count] = 1;
  if (!ms_form_add(&inner->low, &variable, &low.form, -1)) return;
  if (!ms_form_add(&inner->high, &high.form, &variable, -1)) return;
  inner->loop = false;
  inner->total = ms_form_is_constant(&low.form) && ms_form_is_constant(&high.form) &&
                 low.form.constant <= high.form.constant;
  walk->scope_count++;
  subscript->known = true;
  subscript->form = variable;
}

static void push_subscript(ms_walk *walk, ms_node *key, ms_view *view, uint32_t dims,
                           const int64_t *extents) {
  if (view->subscript_count >= dims) return;
  if (key->kind == MS_TABLE) {
    push_range(walk, key, extents[view->subscript_count], view);
    return;
  }
  ms_value value;
  ms_walk_value(walk, key, &value);
  ms_subscript *subscript = &view->subscript[view->subscript_count++];
  subscript->known = value.kind == MS_VALUE_NUMBER;
  if (subscript->known) subscript->form = value.form;
}

/* A[key] for a view: a smaller view. */
static void index_view(ms_walk *walk, const ms_view *object, ms_node *key, ms_value *value) {
  const ms_binding *binding = &walk->bindings[object->binding];
  ms_view *view = ms_walk_new_view(walk, object->binding);
  *value = ms_value_scalar();
  if (view == NULL) return;
  view->subscript_count = object->subscript_count;
  memcpy(view->subscript, object->subscript, object->subscript_count * sizeof *view->subscript);
  *value = (ms_value){.kind = MS_VALUE_VIEW, .view = view};
  if (key->kind != MS_TABLE) {
    push_subscript(walk, key, view, binding->dim_count, binding->dims);
    return;
  }
  for (uint32_t k = 0; k < key->kids; k++) {
    ms_node *field = key->kid[k];
    if (field->kid[0] == NULL)
      push_subscript(walk, field->kid[1], view, binding->dim_count, binding->dims);
  }
}

void ms_walk_index(ms_walk *walk, const ms_value *object, ms_node *key, ms_node *whole,
                   ms_value *value) {
  if (object->kind == MS_VALUE_VIEW && !object->view->range &&
      object->view->subscript_count < walk->bindings[object->view->binding].dim_count) {
    index_view(walk, object->view, key, value);
    return;
  }
  ms_value unused;
  if (key->kind != MS_STRING) ms_walk_value(walk, key, &unused);
  ms_walk_part(walk, object, whole, value);
}

bool ms_walk_floor(ms_walk *walk, const ms_form *form, int64_t divisor, ms_form *quotient) {
  for (uint32_t k = 0; k <= walk->scope_count && k < MS_MAX_INNER; k++) {
    ms_inner inner = {.total = true};
    ms_form variable = {0};
    variable.at[MS_MAX_DIMS + k] = 1;
    ms_form most = ms_form_of(divisor - 1);
    if (form->at[MS_MAX_DIMS + k] != 0) continue;
    if (!ms_form_add(&inner.low, form, &variable, -divisor)) return false;
    if (!ms_form_add(&inner.high, &most, &inner.low, -1)) return false;
    if (k == walk->scope_count) {
      walk->scope[walk->scope_count++] = inner;
    } else if (memcmp(&walk->scope[k].low, &inner.low, sizeof inner.low) != 0 ||
               memcmp(&walk->scope[k].high, &inner.high, sizeof inner.high) != 0) {
      continue;
    }
    *quotient = variable;
    return true;
  }
  return false;
}
