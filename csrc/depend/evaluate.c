/* SPDX-License-Identifier: MIT
 *
 * Walk, expressions: what value an expression has. See walk.h. */
#include <math.h>
#include <string.h>

#include "depend/abstract_view.h"
#include "depend/arithmetic.h"
#include "depend/call.h"
#include "depend/capture_path.h"
#include "depend/condition.h"
#include "depend/evaluate.h"
#include "depend/footprint.h"
#include "depend/impure.h"
#include "depend/inline.h"
#include "depend/literal.h"
#include "depend/local_value.h"
#include "depend/own_object.h"
#include "depend/piece.h"
#include "depend/subscript.h"
#include "depend/variable_value.h"
#include "depend/walk.h"

/* Deeper expressions than people write are not followed; the C stack is finite. */
#define MAX_DEPTH 1000U

static ms_abstract_value value_of_truth(const ms_truth *truth) {
  ms_abstract_value value = ms_abstract_value_scalar();
  value.truth = truth;
  return value;
}

static uint64_t reached_groups(const ms_walk *walk, const ms_binding *binding) {
  uint64_t groups = 0;
  for (uint32_t k = 0; k < binding->reached_count; k++) {
    uint32_t index = binding->reached[k];
    uint32_t group = index < walk->binding_count ? walk->groups.of[index] : MS_NO_GROUP;
    if (group != MS_NO_GROUP) groups |= (uint64_t)1 << (group < 63 ? group : 63);
  }
  return groups;
}

void ms_evaluate_binding(ms_walk *walk, uint32_t index, ms_abstract_value *value) {
  const ms_binding *binding = &walk->bindings[index];
  switch (binding->kind) {
    case MS_BIND_NUMBER:
      *value = ms_arithmetic_constant(walk, binding->number);
      if (value->kind == MS_ABSTRACT_VALUE_NUMBER) value->form.at[MS_VAR_STEADY] = binding->each;
      return;
    case MS_BIND_BOOLEAN: /* the number says which, if that is known */
      *value = value_of_truth(binding->number == 1   ? &ms_truth_true
                              : binding->number == 0 ? &ms_truth_false
                                                     : NULL);
      return;
    case MS_BIND_NIL:
      *value = value_of_truth(&ms_truth_false);
      return;
    case MS_BIND_STRING:
      *value = value_of_truth(&ms_truth_true);
      return;
    case MS_BIND_ARRAY:
      ms_subscript_whole_array(walk, index, value);
      return;
    case MS_BIND_TABLE:
      *value = ms_abstract_value_other(reached_groups(walk, binding), true);
      value->plain = true;
      value->objects = binding->objects;
      value->plain_data = binding->plain_data;
      value->levels = binding->levels;
      value->changes = binding->changes;
      value->changer = binding->changer;
      value->impure = binding->impure;
      value->stores_nothing = binding->stores_nothing;
      value->metamethods = binding->metamethods;
      value->exact = true;
      value->binding = index;
      return;
    case MS_BIND_BUILTIN:
    case MS_BIND_FUNCTION:
    case MS_BIND_UNKNOWN:
      *value = ms_abstract_value_other(reached_groups(walk, binding), true);
      value->plain = true;
      value->callable = true;
      value->changes = binding->changes;
      value->changer = binding->changer;
      value->impure = binding->impure;
      value->binding = index;
      return;
    default:
      *value = ms_abstract_value_scalar();
      return;
  }
}

bool ms_evaluate_field(ms_walk *walk, const ms_abstract_value *object, const char *name,
                       ms_abstract_value *value) {
  if (object->kind != MS_ABSTRACT_VALUE_OTHER || !object->exact) return false;
  const ms_binding *binding = &walk->bindings[object->binding];
  for (uint32_t f = 0; f < binding->field_count; f++) {
    if (strcmp(binding->fields[f].name, name) != 0) continue;
    ms_evaluate_binding(walk, binding->fields[f].binding, value);
    return true;
  }
  return false;
}

static void captured_value(ms_walk *walk, uint32_t index, ms_node *node, ms_abstract_value *value) {
  const ms_capture *capture = &walk->loop->captures[index];
  ms_meaning means = ms_inline_meaning(walk, index);
  ms_evaluate_binding(walk, means.binding, value);
  if (walk->bindings[means.binding].globals != NULL)
    ms_impure_find_globals(walk, walk->bindings[means.binding].globals, node);
  if (capture->assigned) {
    ms_variable_value_join(walk, &walk->capture_value[index], value);
    if (walk->capture_value[index] != NULL) *value = *walk->capture_value[index];
  }
  for (uint32_t field = means.depth; field < capture->field_count; field++) {
    ms_abstract_value object = *value;
    ms_subscript_part(walk, &object, node, value);
  }
}

static void name_value(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  int64_t capture = ms_capture_path_of(walk->loop, node);
  if (capture >= 0) {
    captured_value(walk, (uint32_t)capture, node, value);
    return;
  }
  *value = ms_abstract_value_scalar();
  if (node->symbol == NULL || ms_capture_path_starts(walk->loop, node)) {
    *value = ms_abstract_value_other(UINT64_MAX, true);
    return;
  }
  for (uint32_t k = 0; k < walk->loop->index_count && walk->frame == NULL; k++) {
    if (walk->loop->indices[k] != node->symbol) continue;
    if (k < walk->space->dim_count && !node->symbol->assigned) *value = walk->index_value[k];
    return;
  }
  if (ms_local_value_held(walk, node->symbol, value)) return;
  const ms_abstract_value *known = walk->symbol_value[node->symbol->index];
  walk->early = walk->early || known == NULL;
  if (known != NULL) *value = *known;
}

static bool is_element(const ms_walk *walk, const ms_abstract_value *value) {
  return value->kind == MS_ABSTRACT_VALUE_VIEW && !value->view->range &&
         ms_abstract_view_left(walk, value->view) == 0;
}

/* Reading a view that has all its subscripts is reading an element, or elements that may be
 * written. */
static void read_element(ms_walk *walk, ms_abstract_value *value, const ms_node *node) {
  const ms_pieces all = ms_pieces_of(value);
  bool may_range = false;
  for (uint32_t p = 0; p < all.count; p++) {
    if (!is_element(walk, &all.piece[p].value)) return;
    may_range = may_range || all.piece[p].value.view->may_range;
  }
  const uint64_t groups = ms_footprint_groups(walk, value);
  ms_footprint_add(walk, value, false, node);
  *value = may_range ? ms_abstract_value_other(groups, false) : ms_abstract_value_scalar();
  value->formed = may_range;
}

static void index_value(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  int64_t capture = ms_capture_path_of(walk->loop, node);
  if (capture >= 0) {
    captured_value(walk, (uint32_t)capture, node, value);
    return;
  }
  ms_abstract_value object;
  ms_evaluate(walk, node->kid[0], &object);
  const ms_node *key = node->kid[1];
  if (key->kind == MS_STRING && ms_evaluate_field(walk, &object, key->text, value)) return;
  if (key->kind != MS_STRING && object.kind == MS_ABSTRACT_VALUE_OTHER && object.exact) {
    ms_abstract_value at;
    ms_evaluate(walk, node->kid[1], &at);
    if (at.kind == MS_ABSTRACT_VALUE_NUMBER && ms_form_is_constant(&at.form) &&
        ms_subscript_element(walk, &object, at.form.constant, value))
      return;
  }
  ms_subscript_index(walk, &object, node->kid[1], node, value);
  read_element(walk, value, node);
  if (value->formed && value->pieces == NULL) /* an element has been read */
    ms_footprint_add_groups(walk, ms_footprint_groups(walk, value), false, node);
}

/* ---- arithmetic ---- */

void ms_evaluate_event(ms_walk *walk, const ms_abstract_value *value, ms_event event,
                       const ms_node *node) {
  if (value->kind != MS_ABSTRACT_VALUE_OTHER || (value->metamethods & event) == 0) return;
  ms_footprint_add_groups(walk, value->groups, false, node);
  if (!value->stores_nothing) ms_footprint_add_groups(walk, value->groups, true, node);
  ms_impure_find(walk, value->impure, node);
  if ((value->metamethods & ((uint32_t)event << MS_EVENT_CHANGES)) != 0)
    ms_walk_find(walk, MS_REASON_CHANGES, false, node, "call a function that returns what it forms",
                 "the operation may call a metamethod that changes variables or tables outside of "
                 "the loop, and each worker has its own copy of them");
}

/* What an operation gives that may have called functions: anything that its operands lead to. */
static void operated(const ms_walk *walk, const ms_abstract_value *left,
                     const ms_abstract_value *right, ms_abstract_value *value) {
  uint64_t groups =
      ms_footprint_groups(walk, left) | ms_footprint_groups(walk, right) | walk->stored;
  *value = ms_abstract_value_other(groups, true);
  value->metamethods = left->metamethods | right->metamethods;
  value->changes = left->changes || right->changes;
  value->impure = left->impure != NULL ? left->impure : right->impure;
  ms_variable_value_add_stored(walk, value);
}

static void binary_value(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  if (node->op == MS_OP_AND || node->op == MS_OP_OR) {
    ms_condition_logic(walk, node, value);
    return;
  }
  ms_abstract_value left, right;
  ms_evaluate(walk, node->kid[0], &left);
  ms_evaluate(walk, node->kid[1], &right);
  ms_evaluate_event(walk, &left, MS_EVENT_OPERATOR, node);
  ms_evaluate_event(walk, &right, MS_EVENT_OPERATOR, node);
  *value = ms_abstract_value_scalar();
  if (((left.metamethods | right.metamethods) & MS_EVENT_OPERATOR) != 0)
    operated(walk, &left, &right, value);
  if (ms_abstract_value_is_number(&left) && ms_abstract_value_is_number(&right)) {
    ms_arithmetic_operate(walk, node->op, &left, &right, value);
  } else {
    ms_pieces_operate(walk, node->op, &left, &right, value);
  }
}

static void unary_value(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  ms_abstract_value operand;
  ms_evaluate(walk, node->kid[0], &operand);
  ms_evaluate_event(walk, &operand, MS_EVENT_OPERATOR, node);
  *value = ms_abstract_value_scalar();
  if ((operand.metamethods & MS_EVENT_OPERATOR) != 0) operated(walk, &operand, &operand, value);
  if (node->op == MS_OP_NOT)
    value->truth = ms_condition_not(walk, ms_abstract_value_truth(&operand));
  const ms_form none = {0};
  const ms_abstract_value zero = ms_abstract_value_number(&none);
  if (node->op == MS_OP_NEG && ms_abstract_value_is_number(&operand))
    ms_arithmetic_operate(walk, MS_OP_SUB, &zero, &operand, value);
}

/* `__index = Class` of a metatable. */
static bool is_event(const ms_node *key) {
  return key != NULL && key->kind == MS_STRING && strncmp(key->text, "__", 2) == 0;
}

static void table_value(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  uint64_t groups = 0;
  for (uint32_t k = 0; k < node->kids; k++) {
    ms_abstract_value item;
    ms_node *field = node->kid[k];
    if (field->kid[0] != NULL) {
      ms_evaluate(walk, field->kid[0], &item);
      groups |= ms_footprint_groups(walk, &item);
      ms_variable_value_store(walk, &item);
    }
    ms_evaluate(walk, field->kid[1], &item);
    groups |= ms_footprint_groups(walk, &item);
    if (is_event(field->kid[0])) ms_variable_value_own_objects(walk, &item);
    if (field->kid[0] != NULL) ms_own_object_store(walk, field->kid[0], &item);
    ms_variable_value_store(walk, &item);
  }
  *value = ms_abstract_value_other(groups, false);
  value->plain = true;
}

static void evaluate(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  switch (node->kind) {
    case MS_NUMBER:
      *value =
          node->boxed ? ms_abstract_value_scalar() : ms_arithmetic_constant(walk, node->number);
      return;
    case MS_NIL:
    case MS_FALSE:
      *value = value_of_truth(&ms_truth_false);
      return;
    case MS_TRUE:
    case MS_STRING:
      *value = value_of_truth(&ms_truth_true);
      return;
    case MS_NAME:
      name_value(walk, node, value);
      return;
    case MS_INDEX:
      index_value(walk, node, value);
      return;
    case MS_CALL:
    case MS_METHOD:
      ms_walk_call(walk, node, value);
      return;
    case MS_BINARY:
      binary_value(walk, node, value);
      return;
    case MS_UNARY:
      unary_value(walk, node, value);
      return;
    case MS_PAREN:
      ms_evaluate(walk, node->kid[0], value);
      return;
    case MS_TABLE:
      table_value(walk, node, value);
      return;
    case MS_FUNCTION:
      *value = ms_abstract_value_other(0, false);
      value->plain = true;
      value->literal = ms_literal_only_called(node);
      if (value->literal == NULL) ms_walk_function(walk, node->function);
      return;
    case MS_VARARG:
      if (walk->functions == 0)
        ms_walk_find(walk, MS_REASON_VARARG, true, node,
                     "give it a name: local first, second = ...",
                     "the body uses ..., which a worker does not have");
      *value = ms_abstract_value_other(UINT64_MAX, true);
      return;
    default:
      *value = ms_abstract_value_scalar();
      return;
  }
}

void ms_evaluate(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  if (walk->depth >= MAX_DEPTH) {
    ms_walk_find(walk, MS_REASON_COMPLEX, false, node, "split the expression with local variables",
                 "the expression is nested too deeply to be analysed");
    *value = ms_abstract_value_other(UINT64_MAX, true);
    return;
  }
  walk->depth++;
  evaluate(walk, node, value);
  walk->depth--;
}
