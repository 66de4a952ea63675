/* SPDX-License-Identifier: MIT
 *
 * Walk, calls: what functions and methods do to arrays; builtin.h has those that are known by name.
 * See walk.h and effect.h. */
#include <string.h>

#include "depend/abstract_view.h"
#include "depend/arguments.h"
#include "depend/builtin.h"
#include "depend/call.h"
#include "depend/effect.h"
#include "depend/evaluate.h"
#include "depend/footprint.h"
#include "depend/impure.h"
#include "depend/inline.h"
#include "depend/literal.h"
#include "depend/own_object.h"
#include "depend/piece.h"
#include "depend/store.h"
#include "depend/subscript.h"
#include "depend/variable_value.h"

/* A call of a function that is not walked: what is known of it as a whole. */
static void call_whole(ms_walk *walk, const ms_abstract_value *function, const ms_arguments *all,
                       const ms_node *node, ms_abstract_value *value) {
  ms_abstract_value callee = *function;
  const ms_binding *binding = callee.kind == MS_ABSTRACT_VALUE_OTHER && callee.callable
                                  ? &walk->bindings[callee.binding]
                                  : NULL;
  bool reads = binding != NULL && binding->stores_nothing;
  ms_arguments_touch(walk, all, reads ? MS_USE_BY_KIND : MS_USE_WRITE, node);
  /* Given functions and objects, one that only reads may call what does not. */
  reads = reads && all->known;
  ms_footprint_add(walk, &callee, false, node);
  if (!reads) ms_footprint_add(walk, &callee, true, node);
  for (uint32_t k = 0; k < all->count && !reads; k++)
    ms_own_object_store(walk, NULL, &all->values[k]);
  if (binding != NULL && binding->stores && all->captured) callee.changes = true;
  if (binding == NULL && ms_arguments_give_outer(walk, all)) callee.changes = true;
  ms_arguments_find_changes(walk, &callee, node);
  uint64_t groups = all->groups | ms_footprint_groups(walk, &callee) | walk->stored;
  *value =
      ms_abstract_value_other(groups, all->captured || callee.captured || walk->stored_captured);
  value->metamethods = callee.metamethods | all->metamethods;
  value->changes = all->changes || callee.changes;
  value->impure = all->impure != NULL ? all->impure : callee.impure;
  ms_variable_value_add_stored(walk, value);
}

static ms_passed passed_by(const ms_arguments *all, const ms_node *call) {
  const ms_node *last = call->kids > 1 ? call->kid[call->kids - 1] : NULL;
  bool open = last != NULL && all->count > 0 &&
              (last->kind == MS_CALL || last->kind == MS_METHOD || last->kind == MS_VARARG);
  return (ms_passed){all->values, all->count, open};
}

/* A call of what a captured name or field means, with its arguments. */
static void call_function(ms_walk *walk, const ms_abstract_value *callee, const ms_arguments *all,
                          const ms_node *node, ms_abstract_value *value) {
  bool known = callee->kind == MS_ABSTRACT_VALUE_OTHER && callee->callable;
  if (known) ms_impure_find(walk, callee->impure, node);
  ms_passed passed = passed_by(all, node);
  if (known && ms_walk_inline(walk, callee->binding, node, &passed, value)) return;
  call_whole(walk, callee, all, node, value);
}

/* A call of what gives something that is this part of the loop's own: like a table that the body
 * has made, which may hold what was stored anywhere. */
static bool call_owned(ms_walk *walk, const ms_abstract_value *callee, ms_node *node,
                       ms_abstract_value *value) {
  bool known = callee->kind == MS_ABSTRACT_VALUE_OTHER && callee->callable;
  if (!known || !walk->bindings[callee->binding].owned) return false;
  ms_arguments_walk(walk, node, MS_USE_WRITE);
  ms_own_object_strange(walk);
  *value = ms_abstract_value_other(walk->stored, walk->stored_captured);
  ms_variable_value_add_stored(walk, value);
  return true;
}

static void call_value(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  ms_abstract_value callee;
  ms_evaluate(walk, node->kid[0], &callee);
  if (call_owned(walk, &callee, node, value)) return;
  if (ms_walk_builtin(walk, &callee, node, value)) return;
  if (callee.kind == MS_ABSTRACT_VALUE_OTHER && callee.literal != NULL) {
    ms_arguments all = ms_arguments_evaluate(walk, node, NULL);
    ms_passed passed = passed_by(&all, node);
    ms_walk_literal(walk, callee.literal, &passed, value);
    return;
  }
  ms_abstract_value event;
  bool table = ms_evaluate_field(walk, &callee, MS_FIELD_CALL, &event) && event.callable;
  if (!table) ms_evaluate_event(walk, &callee, MS_EVENT_CALL, node);
  ms_arguments all = ms_arguments_evaluate(walk, node, table ? &callee : NULL);
  call_function(walk, table ? &event : &callee, &all, node, value);
}

static bool known_extent(ms_walk *walk, const ms_abstract_view *view, ms_node *node,
                         ms_abstract_value *value) {
  const ms_binding *binding = &walk->bindings[view->binding];
  ms_abstract_value dim;
  if (strcmp(node->text, "size") != 0 || node->kids != 2 || view->subscript_count > 0) return false;
  ms_evaluate(walk, node->kid[1], &dim);
  if (dim.kind != MS_ABSTRACT_VALUE_NUMBER || !ms_form_is_constant(&dim.form)) return false;
  if (dim.form.constant < 1 || dim.form.constant > binding->dim_count) return false;
  ms_form extent = ms_form_constant(binding->dims[dim.form.constant - 1]);
  *value = ms_abstract_value_number(&extent);
  return true;
}

static void method_of_view(ms_walk *walk, const ms_abstract_value *object, ms_node *node,
                           ms_abstract_value *value) {
  ms_effect effect = ms_effect_of_method(node->text, node->kids - 1);
  if (known_extent(walk, object->view, node, value)) return;
  bool unknown = effect == MS_EFFECT_UNKNOWN;
  if (unknown && walk->stranger == NULL && !ms_guard_is_never(walk->guard)) {
    walk->stranger = node;
    walk->stranger_line = ms_inline_place(walk, node)->line;
  }
  ms_arguments all = ms_arguments_walk(walk, node, unknown ? MS_USE_WRITE : MS_USE_READ);
  uint64_t own = ms_footprint_groups(walk, object);
  *value = effect == MS_EFFECT_PURE
               ? ms_abstract_value_scalar()
               : ms_abstract_value_other(own | all.groups, unknown || all.captured);
  if (effect == MS_EFFECT_FRESH) *value = ms_abstract_value_other(0, false);
  if (effect == MS_EFFECT_VIEW)
    ms_abstract_view_part(walk, object->view, node->text, all.values, all.count, value);
  if (effect == MS_EFFECT_VIEW || ms_effect_is_shape(node->text)) return;
  if (unknown) {
    ms_footprint_add_groups(walk, own, false, node);
    ms_footprint_add_groups(walk, own, true, node);
    return;
  }
  if (effect != MS_EFFECT_WRITE) ms_footprint_add_view(walk, object->view, false, node);
  if (effect == MS_EFFECT_WRITE || effect == MS_EFFECT_UPDATE) {
    ms_footprint_add_view(walk, object->view, true, node);
    *value = *object; /* they give their receiver */
  }
}

/* A method of a part of some array or other; false if it is none that arrays have. */
static bool method_of_part(ms_walk *walk, const ms_abstract_value *object, ms_node *node,
                           ms_abstract_value *value) {
  ms_effect effect = ms_effect_of_method(node->text, node->kids - 1);
  if (walk->space->methods || effect == MS_EFFECT_UNKNOWN) return false;
  if (!object->formed && !ms_own_object_is_array(walk, object, node->text)) return false;
  const ms_abstract_value part = *object;
  ms_impure_find_barred(walk, node->text, node);
  ms_arguments_walk(walk, node, MS_USE_READ);
  *value = ms_abstract_value_scalar();
  if (effect == MS_EFFECT_FRESH) *value = ms_abstract_value_other(0, false);
  bool writes = effect == MS_EFFECT_WRITE || effect == MS_EFFECT_UPDATE;
  if (writes || effect == MS_EFFECT_VIEW) *value = part;
  if (effect == MS_EFFECT_VIEW || ms_effect_is_shape(node->text)) return true;
  if (effect != MS_EFFECT_WRITE) ms_footprint_add_groups(walk, part.groups, false, node);
  if (writes) ms_footprint_add_groups(walk, part.groups, true, node);
  return true;
}

/* Elements of lists in lists of which the methods are walked one by one. */
#define MOST_ELEMENTS 256U

/* The function that an element has by a name; false: none is known. */
static bool method_of(ms_walk *walk, const ms_abstract_value *object, const char *name,
                      ms_abstract_value *method) {
  return ms_evaluate_field(walk, object, name, method) && method->callable &&
         walk->bindings[method->binding].kind == MS_BIND_FUNCTION;
}

/* How many elements are known, each of which has a function by this name; or 0. */
static uint32_t count_methods(ms_walk *walk, const ms_abstract_value *list, const char *name) {
  ms_abstract_value element, method;
  uint32_t count = 0;
  while (ms_subscript_element(walk, list, count + 1, &element)) {
    if (!method_of(walk, &element, name, &method)) return 0;
    count++;
  }
  return count;
}

/* A function that is called for one object or another, or not. */
static void call_possible(ms_walk *walk, const ms_abstract_value *method, ms_arguments *all,
                          const ms_node *node, bool first, ms_abstract_value *value) {
  ms_abstract_value each;
  ms_arguments_add_up(walk, all);
  walk->possible++;
  call_function(walk, method, all, node, &each);
  walk->possible--;
  *value = first ? each : ms_variable_value_either(walk, value, &each);
}

/* The method of each element of a list. */
static void method_of_each(ms_walk *walk, const ms_abstract_value *list, uint32_t count,
                           ms_node *node, ms_abstract_value *value) {
  ms_abstract_value method;
  ms_arguments all = ms_arguments_evaluate(walk, node, list);
  walk->elements *= count;
  for (uint32_t k = 1; k <= count && !walk->failed; k++) {
    ms_subscript_element(walk, list, k, &all.values[0]);
    method_of(walk, &all.values[0], node->text, &method);
    call_possible(walk, &method, &all, node, k == 1, value);
  }
  walk->elements /= count;
}

/* A method of some element or other of a captured list of objects that all have a function by its
 * name: each of these may be called; false if it is none. */
static bool method_of_element(ms_walk *walk, const ms_abstract_value *object, ms_node *node,
                              ms_abstract_value *value) {
  ms_abstract_value list, method;
  if (object->kind != MS_ABSTRACT_VALUE_OTHER || object->list == 0) return false;
  ms_evaluate_binding(walk, object->list - 1, &list);
  const ms_binding *binding = &walk->bindings[object->list - 1];
  uint32_t count = count_methods(walk, &list, node->text), found = 0;
  if (count > 0 && walk->elements * count > MOST_ELEMENTS) return false;
  ms_impure_find_barred(walk, node->text, node); /* it may be a string where a variable was one */
  if (count > 0) {
    method_of_each(walk, &list, count, node, value);
    return true;
  }
  const size_t prefix = strlen(MS_FIELD_METHOD);
  ms_arguments all = {0};
  for (uint32_t f = 0; f < binding->field_count; f++) {
    const ms_field *field = &binding->fields[f];
    if (strncmp(field->name, MS_FIELD_METHOD, prefix) != 0) continue;
    if (strcmp(field->name + prefix, node->text) != 0) continue;
    if (found == 0) all = ms_arguments_evaluate(walk, node, object);
    ms_evaluate_binding(walk, field->binding, &method);
    call_possible(walk, &method, &all, node, found++ == 0, value);
  }
  return found > 0;
}

/* A method of something that is neither an array nor known. */
static void method_of_other(ms_walk *walk, const ms_abstract_value *object, ms_node *node,
                            ms_abstract_value *value) {
  uint64_t own = ms_footprint_groups(walk, object);
  bool pure = object->kind != MS_ABSTRACT_VALUE_OTHER ||
              (own == 0 && ms_effect_is_string_method(node->text));
  bool stores_nothing = object->kind == MS_ABSTRACT_VALUE_OTHER && object->stores_nothing;
  if (object->kind != MS_ABSTRACT_VALUE_OTHER || !object->plain)
    ms_impure_find_barred(walk, node->text, node);
  bool changes = ms_effect_changes(node->text);
  if (own != 0 && !object->plain && changes) stores_nothing = false; /* it may be an array */
  ms_arguments all = ms_arguments_evaluate(walk, node, NULL);
  if (walk->space->methods && !all.simple) pure = false;
  if (strcmp(node->text, "gsub") == 0) ms_arguments_call_back(walk, &all, node);
  ms_arguments_touch(walk, &all,
                     pure             ? MS_USE_READ
                     : stores_nothing ? MS_USE_BY_KIND
                                      : MS_USE_WRITE,
                     node);
  if (pure) {
    *value =
        all.simple ? ms_abstract_value_scalar() : ms_abstract_value_other(all.groups, all.captured);
    return;
  }
  for (uint32_t k = 0; k < all.count; k++) ms_own_object_store(walk, NULL, &all.values[k]);
  ms_own_object_store(walk, NULL, object);
  ms_evaluate_event(walk, object, MS_EVENT_INDEX, node);
  ms_footprint_add_groups(walk, own, false, node);
  if (!stores_nothing || !all.known) ms_footprint_add_groups(walk, own, true, node);
  ms_abstract_value called = *object;
  called.changes = called.changes || ms_arguments_give_outer(walk, &all);
  ms_arguments_find_changes(walk, &called, node);
  bool array = object->objects != 0 && object->objects != MS_OBJECTS_ELEMENT;
  if (array && changes) ms_walk_find_store(walk, true, object, node);
  *value = ms_abstract_value_other(own | all.groups | walk->stored, true);
  value->metamethods = object->metamethods | all.metamethods;
  value->changes = object->changes || all.changes;
  value->impure = object->impure != NULL ? object->impure : all.impure;
  ms_variable_value_add_stored(walk, value);
}

/* A method of one view or another, as conditions say; false if the pieces are something else. */
static bool method_of_pieces(ms_walk *walk, const ms_abstract_value *object, ms_node *node,
                             ms_abstract_value *value) {
  const ms_pieces all = ms_pieces_of(object);
  for (uint32_t p = 0; p < all.count; p++) {
    if (all.piece[p].value.kind != MS_ABSTRACT_VALUE_VIEW) return false;
  }
  for (uint32_t p = 0; p < all.count; p++) {
    ms_abstract_value each;
    ms_outside_piece outside = ms_piece_enter(walk, &all, p);
    method_of_view(walk, &all.piece[p].value, node, &each);
    ms_piece_leave(walk, &outside);
    *value = p == 0 ? each : ms_variable_value_either(walk, value, &each);
  }
  return true;
}

static void method_value(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  ms_abstract_value object, method;
  ms_evaluate(walk, node->kid[0], &object);
  if (method_of_pieces(walk, &object, node, value)) return;
  if (method_of_part(walk, &object, node, value)) return;
  const bool own = ms_own_object_method(walk, &object, node->text, &method);
  if (own || method_of(walk, &object, node->text, &method)) {
    ms_arguments all = ms_arguments_evaluate(walk, node, &object);
    const uint32_t kept = own && !ms_arguments_give_outer(walk, &all);
    walk->kept += kept;
    call_function(walk, &method, &all, node, value);
    walk->kept -= kept;
  } else if (!method_of_element(walk, &object, node, value)) {
    method_of_other(walk, &object, node, value);
  }
}

void ms_walk_call(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  if (node->kind == MS_METHOD) {
    method_value(walk, node, value);
  } else {
    call_value(walk, node, value);
  }
}

bool ms_call_visits_entries(ms_walk *walk, const ms_node *node) {
  const ms_node *call = node->kid[0];
  ms_abstract_value receiver;
  bool is = node->kids == 2 && call->kind == MS_METHOD && call->kids == 1 &&
            strcmp(call->text, "nonzeros") == 0;
  if (is) ms_evaluate(walk, call->kid[0], &receiver);
  return is && receiver.kind == MS_ABSTRACT_VALUE_VIEW;
}
