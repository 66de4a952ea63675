/* SPDX-License-Identifier: MIT
 *
 * Walk, subscripts: indexing views, ranges, and quotients as variables. See walk.h. */
#include <stdio.h>
#include <string.h>

#include "depend/piece.h"

/* A view of a whole array, for its maker to fill; NULL, and the walk has failed, without memory. */
ms_abstract_view *ms_walk_new_view(ms_walk *walk, uint32_t binding) {
  size_t room = walk->bindings[binding].dim_count * sizeof(ms_subscript);
  ms_abstract_view *view = ms_arena_take(walk->arena, 1, sizeof *view + room);
  walk->failed = walk->failed || view == NULL;
  if (view != NULL) view->binding = binding;
  return view;
}

void ms_walk_view(ms_walk *walk, uint32_t binding, ms_abstract_value *value) {
  ms_abstract_view *view = ms_walk_new_view(walk, binding);
  *value = ms_abstract_value_scalar();
  if (view != NULL) *value = (ms_abstract_value){.kind = MS_ABSTRACT_VALUE_VIEW, .view = view};
}

/* What indexing an object with something unknown gives: any part of it. */
void ms_walk_part(ms_walk *walk, const ms_abstract_value *object, const ms_node *node,
                  ms_abstract_value *value) {
  if (object->kind == MS_ABSTRACT_VALUE_NUMBER || object->kind == MS_ABSTRACT_VALUE_SCALAR) {
    if (node->kind == MS_INDEX && node->kid[1]->kind == MS_STRING)
      ms_walk_find_barred(walk, node->kid[1]->text, node);
    *value = ms_abstract_value_scalar();
    return;
  }
  uint64_t groups = ms_walk_groups_of(walk, object);
  bool plain = object->kind == MS_ABSTRACT_VALUE_OTHER && object->plain;
  if (!plain) ms_walk_record_groups(walk, groups, false, node);
  *value =
      ms_abstract_value_other(groups | walk->stored, object->captured || walk->stored_captured);
  bool class = walk->owns_objects && node->kind == MS_INDEX && node->kid[1]->kind == MS_STRING &&
               strcmp(node->kid[1]->text, "__index") == 0;
  value->captured = value->captured || class;
  value->changes = object->changes;
  value->impure = object->impure;
  if (object->objects != 0)
    value->objects = object->objects <= 1 || object->objects == MS_OBJECTS_ELEMENT
                         ? MS_OBJECTS_ELEMENT
                         : object->objects - 1;
  value->plain_data = object->plain_data;
  value->stores_nothing = object->stores_nothing;
  value->metamethods = object->metamethods;
  if (!object->plain_data) ms_walk_add_stored(walk, value);
  ms_walk_event(walk, object, MS_EVENT_INDEX, node);
}

/* A range {lo, hi} or {} as a quantified variable; unknown where its ends are not affine. */
static void push_range(ms_walk *walk, ms_node *table, int64_t extent, ms_abstract_view *view) {
  ms_subscript *subscript = &view->subscript[view->subscript_count++];
  ms_form one = ms_form_constant(1), last = ms_form_constant(extent);
  ms_abstract_value low = ms_abstract_value_number(&one), high = ms_abstract_value_number(&last);
  view->range = true;
  if (table->kids == 2) {
    ms_walk_value(walk, table->kid[0]->kid[1], &low);
    ms_walk_value(walk, table->kid[1]->kid[1], &high);
  }
  bool known = low.kind == MS_ABSTRACT_VALUE_NUMBER && high.kind == MS_ABSTRACT_VALUE_NUMBER;
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

static void push_value(const ms_abstract_value *value, ms_abstract_view *view) {
  if (view->open != NULL) {
    ms_view_subscribe(view, 0, value);
    view->open++;
    view->open_count--;
    return;
  }
  view->subscript[view->subscript_count++] = ms_abstract_value_subscript(value);
}

/* A copy of a view, for another subscript. */
static ms_abstract_view *copy_view(ms_walk *walk, const ms_abstract_view *object,
                                   ms_abstract_value *value) {
  ms_abstract_view *view = ms_walk_new_view(walk, object->binding);
  *value = ms_abstract_value_scalar();
  if (view == NULL) return NULL;
  view->subscript_count = object->subscript_count;
  view->range = object->range;
  view->open = object->open;
  view->open_count = object->open_count;
  memcpy(view->subscript, object->subscript, object->subscript_count * sizeof *view->subscript);
  *value = (ms_abstract_value){.kind = MS_ABSTRACT_VALUE_VIEW, .view = view};
  return view;
}

/* A[key]; both may have pieces. */
static void index_by_value(ms_walk *walk, const ms_abstract_value *object,
                           const ms_abstract_value *key, ms_abstract_value *value) {
  const ms_pieces views = ms_pieces_of(object), keys = ms_pieces_of(key);
  ms_collection made = ms_pieces_begin(walk);
  for (uint32_t v = 0; v < views.count; v++) {
    for (uint32_t k = 0; k < keys.count; k++) {
      ms_abstract_value each;
      bool exact = views.exact && keys.exact;
      const ms_guard *when =
          ms_guard_and(&walk->guards, views.piece[v].when, keys.piece[k].when, &exact);
      ms_abstract_view *view = copy_view(walk, views.piece[v].value.view, &each);
      if (view == NULL) return;
      push_value(&keys.piece[k].value, view);
      ms_pieces_add(&made, when, &each, exact);
    }
  }
  if (ms_pieces_end(&made, value)) return;
  ms_abstract_view *any =
      views.count > 1 ? NULL : copy_view(walk, views.piece[0].value.view, value);
  const ms_abstract_value unknown = ms_abstract_value_scalar();
  if (any != NULL) push_value(&unknown, any);
  if (views.count > 1) *value = ms_abstract_value_other(ms_walk_groups_of(walk, object), false);
}

/* A[{i, {lo, hi}, ...}]: what the list adds to the subscripts of a view. */
static void index_by_list(ms_walk *walk, const ms_abstract_view *object, ms_node *list,
                          ms_abstract_value *value) {
  const ms_binding *binding = &walk->bindings[object->binding];
  uint32_t left = ms_view_left(walk, object);
  if (copy_view(walk, object, value) == NULL) return;
  for (uint32_t k = 0; k < list->kids && left > 0; k++) {
    const ms_abstract_value so_far = *value;
    ms_node *key = list->kid[k]->kid[1];
    if (list->kid[k]->kid[0] != NULL) continue;
    left--;
    if (key->kind != MS_TABLE) {
      ms_abstract_value at;
      ms_walk_value(walk, key, &at);
      index_by_value(walk, &so_far, &at, value);
      if (value->kind != MS_ABSTRACT_VALUE_VIEW && value->pieces == NULL) return;
    } else if (so_far.kind == MS_ABSTRACT_VALUE_VIEW && so_far.view->open == NULL) {
      ms_abstract_view *view = copy_view(walk, so_far.view, value);
      if (view == NULL) return;
      push_range(walk, key, binding->dims[view->subscript_count], view);
    } else {
      *value = ms_abstract_value_other(ms_walk_groups_of(walk, &so_far), false);
      return;
    }
  }
}

bool ms_walk_is_indexed(const ms_walk *walk, const ms_abstract_value *object) {
  const ms_pieces all = ms_pieces_of(object);
  for (uint32_t p = 0; p < all.count; p++) {
    const ms_abstract_value *each = &all.piece[p].value;
    if (each->kind != MS_ABSTRACT_VALUE_VIEW || each->view->range) return false;
    if (ms_view_left(walk, each->view) == 0) return false;
  }
  return true;
}

/* Element `number`, from 1, of a captured list of which all elements are known. */
bool ms_walk_element(ms_walk *walk, const ms_abstract_value *object, int64_t number,
                     ms_abstract_value *value) {
  char name[16];
  if (number < 1 || number > 9999) return false;
  snprintf(name, sizeof name, MS_FIELD_ELEMENT, (unsigned)number);
  return ms_walk_field(walk, object, name, value);
}

void ms_walk_index(ms_walk *walk, const ms_abstract_value *object, ms_node *key, ms_node *whole,
                   ms_abstract_value *value) {
  ms_abstract_value at = ms_abstract_value_scalar();
  bool indexed = ms_walk_is_indexed(walk, object);
  if (indexed && key->kind == MS_TABLE && object->kind == MS_ABSTRACT_VALUE_VIEW) {
    index_by_list(walk, object->view, key, value);
    return;
  }
  if (indexed || key->kind != MS_STRING) ms_walk_value(walk, key, &at);
  if (indexed && key->kind != MS_TABLE) {
    index_by_value(walk, object, &at, value);
  } else {
    ms_walk_part(walk, object, whole, value);
  }
}

bool ms_walk_floor(ms_walk *walk, const ms_form *form, int64_t divisor, ms_form *quotient) {
  for (uint32_t k = 0; k <= walk->scope_count && k < MS_MAX_INNER; k++) {
    ms_inner inner = {.total = true};
    ms_form variable = {0};
    variable.at[MS_MAX_DIMS + k] = 1;
    ms_form most = ms_form_constant(divisor - 1);
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
