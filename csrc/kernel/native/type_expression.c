/* SPDX-License-Identifier: MIT
 *
 * Typed form, expressions: see typed.h. */
#include <string.h>

#include "kernel/emit/variable.h"
#include "kernel/native/typed.h"

ms_kind_of ms_kind_of_number(ms_precision precision) {
  return (ms_kind_of){.can = MS_CAN_NUMBER, .precision = precision};
}

ms_kind_of ms_kind_of_other(void) {
  return (ms_kind_of){.can = MS_CAN_OBJECT, .object = MS_OBJECT_OTHER};
}

ms_kind_of ms_kind_of_scalar(uint32_t can) {
  return (ms_kind_of){.can = can};
}

ms_precision ms_type_precision(int32_t type) {
  return type == MS_FLOAT ? MS_SINGLE : MS_ANY_PRECISION;
}

/* The text of a function that is known: one declared in the tree and never assigned again. */
static const ms_node *function_of(const ms_capture *capture) {
  const ms_symbol *symbol = capture->symbol;
  if (symbol == NULL || symbol->assigned || symbol->declaration == NULL) return NULL;
  const ms_node *from = symbol->declaration;
  if (from->kind != MS_LOCAL_FUNCTION && from->kind != MS_LOCAL) return NULL;
  for (uint32_t s = 0; s < from->symbol_count && s < from->kids; s++) {
    if (from->symbols[s] == symbol && from->kid[s]->kind == MS_FUNCTION) return from->kid[s];
  }
  return NULL;
}

static ms_kind_of array_of(const ms_typed *typed, uint32_t at) {
  if (typed->emitter->job->elements[at].type == MS_OBJECT) return ms_kind_of_other();
  bool sparse = typed->emitter->job->bindings[at].sparse;
  return (ms_kind_of){
      .can = MS_CAN_OBJECT, .object = sparse ? MS_OBJECT_SPARSE : MS_OBJECT_VIEW, .array = at};
}

/* A captured value that the body does not assign, named at `node`. */
static ms_kind_of captured(const ms_typed *typed, const ms_node *node, uint32_t at) {
  const ms_binding *binding = &typed->emitter->job->bindings[at];
  const ms_loop *loop = typed->emitter->job->loop;
  const ms_node *function = NULL;
  switch (binding->kind) {
    case MS_BIND_NIL:
      return ms_kind_of_scalar(MS_CAN_NIL);
    case MS_BIND_NUMBER:
      return ms_kind_of_number(MS_ANY_PRECISION);
    case MS_BIND_BOOLEAN:
      return ms_kind_of_scalar(MS_CAN_BOOLEAN);
    case MS_BIND_ARRAY:
      return array_of(typed, at);
    case MS_BIND_BUILTIN:
      return (ms_kind_of){.can = MS_CAN_OBJECT, .object = MS_OBJECT_BUILTIN, .name = binding->name};
    case MS_BIND_FUNCTION:
      function = ms_typed_text(typed, node, at);
      if (function == NULL && at < loop->capture_count && binding->depth == 0)
        function = function_of(&loop->captures[at]);
      if (function == NULL) return ms_kind_of_other();
      return (ms_kind_of){.can = MS_CAN_OBJECT, .object = MS_OBJECT_FUNCTION, .node = function};
    case MS_BIND_TABLE:
      return ms_typed_outer(typed, node, at);
    default:
      return ms_kind_of_other();
  }
}

/* What stands under a key of a table of the body: nil, if nothing else. */
static ms_kind_of held(const ms_typed *typed, const ms_node *table, const ms_node *key) {
  const ms_holding *holding = ms_typed_holding(typed, table);
  if (holding == NULL || key->kind == MS_STRING || key->kind == MS_TABLE) return ms_kind_of_other();
  return ms_kind_of_both(holding->kind, ms_kind_of_scalar(MS_CAN_NIL));
}

/* The kind of a table constructor whose fields have no keys. */
static ms_kind_of table(const ms_node *node) {
  for (uint32_t f = 0; f < node->kids; f++) {
    if (node->kid[f]->kid[0] != NULL || ms_node_is_multiple(node->kid[f]->kid[1]))
      return ms_kind_of_other();
  }
  return (ms_kind_of){.can = MS_CAN_OBJECT, .object = MS_OBJECT_TABLE, .node = node};
}

/* What stands in a list of numbers, or of lists. */
static ms_kind_of listed(ms_kind_of list) {
  if (list.object == MS_OBJECT_LIST || list.levels == 1) return ms_kind_of_number(MS_ANY_PRECISION);
  list.levels--;
  return list;
}

ms_kind_of ms_typed_walked(const ms_typed *typed, const ms_node *list) {
  return listed(ms_typed_expression(typed, list));
}

/* An element or part of an array, by one key. */
static ms_kind_of part(const ms_typed *typed, const ms_node *node) {
  ms_kind_of base = ms_typed_expression(typed, node->kid[0]);
  if (base.can == 0) return base;
  if (base.object == MS_OBJECT_TABLE) return held(typed, base.node, node->kid[1]);
  bool number = node->kid[1]->kind != MS_STRING && node->kid[1]->kind != MS_TABLE;
  if ((base.object == MS_OBJECT_LIST || base.object == MS_OBJECT_LISTS) && number) {
    base = listed(base);
    return base.can == MS_CAN_NUMBER ? ms_kind_of_scalar(MS_CAN_NUMBER | MS_CAN_NIL) : base;
  }
  bool array = base.object == MS_OBJECT_VIEW || base.object == MS_OBJECT_PART ||
               base.object == MS_OBJECT_SPARSE;
  if (!array) return ms_kind_of_other();
  uint32_t dims = typed->emitter->job->bindings[base.array].dim_count;
  const ms_node *key = node->kid[1];
  uint32_t more = key->kind == MS_TABLE ? key->kids : 1;
  if (base.given + more > dims || key->kind == MS_STRING) return ms_kind_of_other();
  if (base.given + more == dims)
    return ms_kind_of_number(ms_type_precision(typed->emitter->job->elements[base.array].type));
  base.given += more;
  return base;
}

static ms_kind_of path(const ms_typed *typed, const ms_node *node) {
  const ms_node *value;
  uint32_t at = ms_typed_binding(typed, node, &value);
  if (at != MS_NO_CAPTURE && value != node) return ms_kind_of_other();
  if (at != MS_NO_CAPTURE && ms_variable_is(typed->emitter, at))
    return typed->variable[ms_variable_meant(typed->emitter, at, node)];
  if (at != MS_NO_CAPTURE) return captured(typed, node, at);
  if (node->kind == MS_INDEX) return part(typed, node);
  if (node->symbol == NULL) return ms_kind_of_other();
  return *ms_typed_symbol(typed, node->symbol);
}

static ms_kind_of first_of(ms_kind_of a, uint32_t can) {
  a.can &= can;
  return a;
}

/* The second value of `condition and a or b`, if it is an object, which is true; else none. */
static ms_kind_of chosen_object(const ms_typed *typed, const ms_node *node) {
  const ms_node *condition, *yes;
  if (!ms_node_is_choice(node, &condition, &yes)) return (ms_kind_of){0};
  ms_kind_of chosen = ms_typed_expression(typed, yes);
  return chosen.can == MS_CAN_OBJECT ? chosen : (ms_kind_of){0};
}

/* `and`, `or`: the left value where it decides, else the right one. */
static ms_kind_of choice(const ms_typed *typed, const ms_node *node) {
  const uint32_t falsy = MS_CAN_NIL | MS_CAN_FALSE, truthy = ~falsy;
  ms_kind_of a = ms_typed_expression(typed, node->kid[0]);
  ms_kind_of b = ms_typed_expression(typed, node->kid[1]);
  uint32_t decides = node->op == MS_OP_AND ? falsy : truthy;
  ms_kind_of object = chosen_object(typed, node);
  if (object.can != 0) return ms_kind_of_both(object, b);
  if (a.can == 0) return a;
  if ((a.can & ~decides) == 0) return a;
  ms_kind_of left = first_of(a, decides);
  if (left.can == 0) return b;
  return ms_kind_of_both(left, b);
}

static ms_kind_of binary(const ms_typed *typed, const ms_node *node) {
  if (node->op == MS_OP_AND || node->op == MS_OP_OR) return choice(typed, node);
  if (node->op == MS_OP_CONCAT) return ms_kind_of_other();
  if (node->op >= MS_OP_EQ) return ms_kind_of_scalar(MS_CAN_BOOLEAN);
  ms_precision a = ms_typed_expression(typed, node->kid[0]).precision;
  ms_precision b = ms_typed_expression(typed, node->kid[1]).precision;
  return ms_kind_of_number(a > b ? a : b);
}

static ms_kind_of unary(const ms_typed *typed, const ms_node *node) {
  if (node->op == MS_OP_NOT) return ms_kind_of_scalar(MS_CAN_BOOLEAN);
  if (node->op == MS_OP_NEG)
    return ms_kind_of_number(ms_typed_expression(typed, node->kid[0]).precision);
  return ms_kind_of_number(MS_ANY_PRECISION);
}

ms_kind_of ms_typed_expression(const ms_typed *typed, const ms_node *node) {
  switch (node->kind) {
    case MS_NIL:
      return ms_kind_of_scalar(MS_CAN_NIL);
    case MS_TRUE:
      return ms_kind_of_scalar(MS_CAN_TRUE);
    case MS_FALSE:
      return ms_kind_of_scalar(MS_CAN_FALSE);
    case MS_NUMBER:
      return node->boxed ? ms_kind_of_other() : ms_kind_of_number(MS_ANY_PRECISION);
    case MS_NAME:
    case MS_INDEX:
      return path(typed, node);
    case MS_FUNCTION:
      return (ms_kind_of){.can = MS_CAN_OBJECT, .object = MS_OBJECT_FUNCTION, .node = node};
    case MS_TABLE:
      return table(node);
    case MS_PAREN:
      return ms_typed_expression(typed, node->kid[0]);
    case MS_BINARY:
      return binary(typed, node);
    case MS_UNARY:
      return unary(typed, node);
    case MS_CALL:
    case MS_METHOD:
      return ms_typed_call(typed, node, 0);
    default:
      return ms_kind_of_other();
  }
}
