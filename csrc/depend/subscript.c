/* SPDX-License-Identifier: MIT
 *
 * Walk, subscripts: indexing views, ranges, and quotients as variables. See walk.h. */
#include <stdio.h>
#include <string.h>

#include "depend/abstract_view.h"
#include "depend/condition.h"
#include "depend/evaluate.h"
#include "depend/footprint.h"
#include "depend/impure.h"
#include "depend/piece.h"
#include "depend/subscript.h"
#include "depend/variable_value.h"

/* A view of a whole array, for its maker to fill; NULL, and the walk has failed, without memory. */
ms_abstract_view *ms_subscript_new_view(ms_walk *walk, uint32_t binding) {
  size_t room = walk->bindings[binding].dim_count * sizeof(ms_subscript);
  ms_abstract_view *view = ms_arena_take(walk->arena, 1, sizeof *view + room);
  walk->failed = walk->failed || view == NULL;
  if (view != NULL) view->binding = binding;
  return view;
}

void ms_subscript_whole_array(ms_walk *walk, uint32_t binding, ms_abstract_value *value) {
  ms_abstract_view *view = ms_subscript_new_view(walk, binding);
  *value = ms_abstract_value_scalar();
  if (view != NULL) *value = (ms_abstract_value){.kind = MS_ABSTRACT_VALUE_VIEW, .view = view};
}

/* The list of objects that something is, as elements of it have it; or 0. */
static uint32_t list_of(const ms_walk *walk, const ms_abstract_value *object) {
  return object->exact && walk->bindings[object->binding].listed ? object->binding + 1 : 0;
}

/* What indexing an object with something unknown gives: any part of it. */
void ms_subscript_part(ms_walk *walk, const ms_abstract_value *object, const ms_node *node,
                       ms_abstract_value *value) {
  if (object->kind == MS_ABSTRACT_VALUE_NUMBER || object->kind == MS_ABSTRACT_VALUE_SCALAR) {
    if (node->kind == MS_INDEX && node->kid[1]->kind == MS_STRING)
      ms_impure_find_barred(walk, node->kid[1]->text, node);
    *value = ms_abstract_value_scalar();
    return;
  }
  uint64_t groups = ms_footprint_groups(walk, object);
  bool plain = object->kind == MS_ABSTRACT_VALUE_OTHER && object->plain;
  if (!plain) ms_footprint_add_groups(walk, groups, false, node);
  *value =
      ms_abstract_value_other(groups | walk->stored, object->captured || walk->stored_captured);
  bool class = walk->owns_objects && node->kind == MS_INDEX && node->kid[1]->kind == MS_STRING &&
               strcmp(node->kid[1]->text, "__index") == 0;
  value->captured = value->captured || class;
  value->changes = object->changes;
  value->changer = object->changer;
  value->impure = object->impure;
  if (object->objects != 0)
    value->objects = object->objects <= 1 || object->objects == MS_OBJECTS_ELEMENT
                         ? MS_OBJECTS_ELEMENT
                         : object->objects - 1;
  value->plain_data = object->plain_data;
  value->levels = object->levels > 1 ? object->levels - 1 : object->levels;
  value->stores_nothing = object->stores_nothing;
  value->formed = object->formed;
  value->list = list_of(walk, object);
  value->metamethods = object->metamethods;
  if (!object->plain_data) ms_variable_value_add_stored(walk, value);
  ms_evaluate_event(walk, object, MS_EVENT_INDEX, node);
  if (ms_abstract_value_is_flat(object)) *value = ms_abstract_value_scalar();
}

static void push_value(const ms_abstract_value *value, ms_abstract_view *view) {
  if (view->open != NULL) {
    ms_abstract_view_subscribe(view, 0, value);
    view->open++;
    view->open_count--;
    return;
  }
  view->subscript[view->subscript_count++] = ms_abstract_value_subscript(value);
}

/* A copy of a view, for another subscript. */
static ms_abstract_view *copy_view(ms_walk *walk, const ms_abstract_view *object,
                                   ms_abstract_value *value) {
  ms_abstract_view *view = ms_subscript_new_view(walk, object->binding);
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

/* Whether a key may be a table, which as a subscript is a range or several subscripts. */
static bool may_be_table(const ms_pieces *keys) {
  for (uint32_t k = 0; k < keys->count; k++) {
    const ms_abstract_value *key = &keys->piece[k].value;
    if (key->kind == MS_ABSTRACT_VALUE_OTHER && key->levels != 1) return true;
  }
  return false;
}

bool ms_subscript_is_table_key(const ms_walk *walk, const ms_node *node) {
  const ms_table_key *at = walk->table_keys;
  while (at != NULL && at->node != node) at = at->previous;
  return at != NULL;
}

static void note_table_key(ms_walk *walk, const ms_node *node) {
  if (ms_subscript_is_table_key(walk, node)) return;
  ms_table_key *noted = ms_arena_take(walk->arena, 1, sizeof *noted);
  walk->failed = walk->failed || noted == NULL;
  if (noted == NULL) return;
  *noted = (ms_table_key){node, walk->table_keys};
  walk->table_keys = noted;
}

/* A[key], of the value that `node` has; both may have pieces. */
static void index_by_value(ms_walk *walk, const ms_abstract_value *object,
                           const ms_abstract_value *key, const ms_node *node,
                           ms_abstract_value *value) {
  const ms_pieces views = ms_pieces_of(object), keys = ms_pieces_of(key);
  const bool may_range = may_be_table(&keys);
  if (may_range) note_table_key(walk, node);
  if (may_range && ms_abstract_view_left(walk, views.piece[0].value.view) > 1) {
    *value = ms_abstract_value_other(ms_footprint_groups(walk, object), false);
    value->formed = true;
    return;
  }
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
      view->may_range = may_range;
      ms_pieces_add(&made, when, &each, exact);
    }
  }
  if (ms_pieces_end(&made, value)) return;
  ms_abstract_view *any =
      views.count > 1 ? NULL : copy_view(walk, views.piece[0].value.view, value);
  const ms_abstract_value unknown = ms_abstract_value_scalar();
  if (any != NULL) {
    push_value(&unknown, any);
    any->may_range = may_range;
  }
  if (views.count > 1) *value = ms_abstract_value_other(ms_footprint_groups(walk, object), false);
}

/* An end of a range as pieces that are positions: a negative one counts from the dimension's end.
 * False where it is not affine. */
static bool find_end(ms_walk *walk, const ms_abstract_value *end, int64_t extent,
                     ms_abstract_value *position) {
  const ms_form zero = {0}, above = ms_form_constant(extent + 1);
  const ms_abstract_value none = ms_abstract_value_number(&zero);
  const ms_pieces all = ms_pieces_of(end);
  ms_collection made = ms_pieces_begin(walk);
  for (uint32_t p = 0; p < all.count; p++) {
    const ms_abstract_value *each = &all.piece[p].value;
    ms_abstract_value negative, from_end = *each;
    if (each->kind != MS_ABSTRACT_VALUE_NUMBER) return false;
    if (!ms_form_add(&from_end.form, &above, &each->form, 1)) return false;
    ms_condition_compare(walk, MS_OP_LT, each, &none, &negative);
    const ms_truth *truth = ms_abstract_value_truth(&negative);
    bool below = truth->exact && all.exact, other = below;
    const ms_guard *when = all.piece[p].when;
    const ms_guard *yes = ms_guard_and(&walk->guards, when, truth->yes, &below);
    const ms_guard *no = ms_guard_and(&walk->guards, when, truth->no, &other);
    ms_pieces_add(&made, yes, &from_end, below);
    ms_pieces_add(&made, no, each, other);
  }
  return ms_pieces_end(&made, position);
}

/* The ends of {lo, hi}, {k} or {} as positions; false where they are not known. */
static bool find_ends(ms_walk *walk, ms_node *range, int64_t extent, ms_abstract_value *ends) {
  const ms_form one = ms_form_constant(1), last = ms_form_constant(extent);
  ends[0] = ms_abstract_value_number(&one);
  ends[1] = ms_abstract_value_number(&last);
  bool known = range->kids <= 2;
  for (uint32_t k = 0; k < range->kids; k++) {
    const ms_node *field = range->kid[k];
    ms_abstract_value end;
    ms_evaluate(walk, field->kid[1], &end);
    bool several = range->kids == 1 && ms_node_is_multiple(field->kid[1]);
    if (field->kid[0] != NULL || several) known = false;
    known = known && find_end(walk, &end, extent, &ends[k]);
  }
  if (range->kids == 1) ends[1] = ends[0];
  return known;
}

/* The positions from low to high as a quantified variable; unknown where there are too many. */
static ms_subscript quantify(ms_walk *walk, const ms_form *low, const ms_form *high) {
  const ms_subscript unknown = {0};
  if (walk->scope_count == MS_MAX_INNER) return unknown;
  ms_inner *inner = &walk->scope[walk->scope_count];
  ms_form variable = {0};
  variable.at[MS_MAX_DIMS + walk->scope_count] = 1;
  if (!ms_form_add(&inner->low, &variable, low, -1)) return unknown;
  if (!ms_form_add(&inner->high, high, &variable, -1)) return unknown;
  inner->loop = false;
  inner->total =
      ms_form_is_constant(low) && ms_form_is_constant(high) && low->constant <= high->constant;
  walk->scope_count++;
  return (ms_subscript){.known = true, .form = variable};
}

/* A view with a range as its next subscript. */
static bool push_range(ms_walk *walk, const ms_abstract_view *object, ms_subscript subscript,
                       ms_abstract_value *value) {
  ms_abstract_view *view = copy_view(walk, object, value);
  if (view == NULL) return false;
  view->range = true;
  view->subscript[view->subscript_count++] = subscript;
  return true;
}

/* One view with the range from one number to another behind its subscripts, where `when`. */
static bool add_range(ms_collection *made, const ms_piece *object, const ms_piece *low,
                      const ms_piece *high, bool exact) {
  ms_walk *walk = made->walk;
  ms_abstract_value each;
  const ms_guard *ends = ms_guard_and(&walk->guards, low->when, high->when, &exact);
  const ms_guard *when = ms_guard_and(&walk->guards, object->when, ends, &exact);
  if (ms_guard_is_never(when)) return true;
  const ms_subscript subscript = quantify(walk, &low->value.form, &high->value.form);
  if (!push_range(walk, object->value.view, subscript, &each)) return false;
  ms_pieces_add(made, when, &each, exact);
  return true;
}

/* A[{lo, hi}], of views: the pieces that its ends make; where these are not known, of all of the
 * dimension. */
static void index_by_range(ms_walk *walk, const ms_abstract_value *object, ms_node *range,
                           ms_abstract_value *value) {
  ms_abstract_value ends[2];
  ms_collection made = ms_pieces_begin(walk);
  const ms_pieces views = ms_pieces_of(object);
  const ms_abstract_view *first = views.piece[0].value.view;
  int64_t extent = walk->bindings[first->binding].dims[first->subscript_count];
  made.fits = find_ends(walk, range, extent, ends);
  const ms_pieces lows = ms_pieces_of(&ends[0]), highs = ms_pieces_of(&ends[1]);
  bool exact = views.exact && lows.exact && highs.exact, same = range->kids == 1;
  for (uint32_t v = 0; made.fits && v < views.count; v++) {
    for (uint32_t l = 0; l < lows.count; l++) {
      for (uint32_t h = same ? l : 0; h < (same ? l + 1 : highs.count); h++) {
        if (!add_range(&made, &views.piece[v], &lows.piece[l], &highs.piece[h], exact)) return;
      }
    }
  }
  if (ms_pieces_end(&made, value)) return;
  if (views.count == 1)
    push_range(walk, first, (ms_subscript){0}, value);
  else
    *value = ms_abstract_value_other(ms_footprint_groups(walk, object), false);
}

/* Whether a value is views of one array whose subscripts come in the order of its dimensions, as
 * many of each. */
static bool are_even(const ms_pieces *all) {
  const ms_abstract_view *first = all->piece[0].value.view;
  for (uint32_t p = 0; p < all->count; p++) {
    const ms_abstract_value *each = &all->piece[p].value;
    if (each->kind != MS_ABSTRACT_VALUE_VIEW || each->view->open != NULL) return false;
    if (each->view->binding != first->binding) return false;
    if (each->view->subscript_count != first->subscript_count) return false;
  }
  return true;
}

/* One key of a list, behind the subscripts of the view that `value` is so far; false where it is
 * then none. */
static bool index_by_key(ms_walk *walk, ms_node *key, ms_abstract_value *value) {
  const ms_abstract_value so_far = *value;
  if (key->kind != MS_TABLE) {
    ms_abstract_value at;
    ms_evaluate(walk, key, &at);
    index_by_value(walk, &so_far, &at, key, value);
    return value->kind == MS_ABSTRACT_VALUE_VIEW || value->pieces != NULL;
  }
  const ms_pieces views = ms_pieces_of(&so_far);
  if (!are_even(&views)) {
    ms_abstract_value ignored;
    ms_evaluate(walk, key, &ignored);
    return false;
  }
  index_by_range(walk, &so_far, key, value);
  return value->kind == MS_ABSTRACT_VALUE_VIEW || value->pieces != NULL;
}

/* Whether each field of a list is one subscript: none has a key, and the last is not several. */
static bool is_subscripts(const ms_node *list, uint32_t left) {
  for (uint32_t k = 0; k < list->kids; k++) {
    const ms_node *field = list->kid[k];
    bool several = k + 1 == list->kids && list->kids < left && ms_node_is_multiple(field->kid[1]);
    if (field->kid[0] != NULL || several) return false;
  }
  return list->kids <= left;
}

/* A[{i, {lo, hi}, ...}]: what the list adds to the subscripts of a view. */
static void index_by_list(ms_walk *walk, const ms_abstract_view *object, ms_node *list,
                          ms_abstract_value *value) {
  bool known = is_subscripts(list, ms_abstract_view_left(walk, object));
  ms_abstract_value ignored;
  if (copy_view(walk, object, value) == NULL) return;
  const uint64_t groups = ms_footprint_groups(walk, value);
  for (uint32_t k = 0; k < list->kids; k++) {
    if (known) {
      known = index_by_key(walk, list->kid[k]->kid[1], value);
    } else {
      if (list->kid[k]->kid[0] != NULL) ms_evaluate(walk, list->kid[k]->kid[0], &ignored);
      ms_evaluate(walk, list->kid[k]->kid[1], &ignored);
    }
  }
  if (known) return;
  note_table_key(walk, list);
  *value = ms_abstract_value_other(groups, false);
  value->formed = true;
}

bool ms_subscript_is_of_array(const ms_walk *walk, const ms_abstract_value *object) {
  const ms_pieces all = ms_pieces_of(object);
  for (uint32_t p = 0; p < all.count; p++) {
    const ms_abstract_value *each = &all.piece[p].value;
    if (each->kind != MS_ABSTRACT_VALUE_VIEW || each->view->range) return false;
    if (ms_abstract_view_left(walk, each->view) == 0) return false;
  }
  return true;
}

/* Element `number`, from 1, of a captured list of which all elements are known. */
bool ms_subscript_element(ms_walk *walk, const ms_abstract_value *object, int64_t number,
                          ms_abstract_value *value) {
  char name[16];
  if (number < 1 || number > 9999) return false;
  snprintf(name, sizeof name, MS_FIELD_ELEMENT, (unsigned)number);
  if (!ms_evaluate_field(walk, object, name, value)) return false;
  if (value->kind == MS_ABSTRACT_VALUE_OTHER) value->list = list_of(walk, object);
  return true;
}

void ms_subscript_index(ms_walk *walk, const ms_abstract_value *object, ms_node *key,
                        ms_node *whole, ms_abstract_value *value) {
  ms_abstract_value at = ms_abstract_value_scalar();
  bool indexed = ms_subscript_is_of_array(walk, object);
  if (indexed && key->kind == MS_TABLE && object->kind == MS_ABSTRACT_VALUE_VIEW) {
    index_by_list(walk, object->view, key, value);
    return;
  }
  if (indexed || key->kind != MS_STRING) ms_evaluate(walk, key, &at);
  if (indexed && key->kind != MS_TABLE) {
    index_by_value(walk, object, &at, key, value);
  } else {
    ms_subscript_part(walk, object, whole, value);
  }
}

bool ms_subscript_floor(ms_walk *walk, const ms_form *form, int64_t divisor, ms_form *quotient) {
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
