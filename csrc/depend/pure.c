/* SPDX-License-Identifier: MIT
 *
 * Purity: see pure.h. What is not known to be pure is not. */
#include "depend/pure.h"

#include <string.h>

#include "depend/capture_path.h"
#include "depend/effect.h"

/* How deep functions that call functions are looked into. */
#define DEEPEST 8

typedef struct look {
  const ms_walk *walk;
  const ms_loop *code;     /* the body, or the function that is looked into */
  const ms_meaning *means; /* of its captures; NULL: their own bindings */
  uint32_t depth;
  bool pure;
} look;

static const char *const others[] = {"ipairs", "pairs",    "next",         "unpack",     "assert",
                                     "error",  "tostring", "table.concat", "table.maxn", "rawget"};

static bool is_pure_builtin(const char *name) {
  for (size_t n = 0; n < sizeof others / sizeof others[0]; n++) {
    if (strcmp(others[n], name) == 0) return true;
  }
  return ms_effect_is_function(name);
}

/* The binding that fields lead to from another; -1: not known. */
static int64_t field_of(const ms_walk *walk, int64_t binding, const char *name) {
  const ms_binding *table = &walk->bindings[binding];
  if (table->kind != MS_BIND_TABLE) return -1;
  for (uint32_t f = 0; f < table->field_count; f++) {
    if (strcmp(table->fields[f].name, name) == 0) return table->fields[f].binding;
  }
  return -1;
}

int64_t ms_pure_meaning(const ms_walk *walk, const ms_loop *code, const ms_meaning *means,
                        const ms_node *node) {
  int64_t capture = ms_capture_path_of(code, node);
  if (capture < 0) return -2;
  const ms_capture *path = &code->captures[capture];
  int64_t found = means != NULL ? means[capture].binding : capture;
  uint32_t depth = means != NULL ? means[capture].depth : walk->bindings[capture].depth;
  for (uint32_t f = depth; f < path->field_count && found >= 0; f++)
    found = field_of(walk, found, path->fields[f]);
  return found;
}

static int64_t meaning_of(const look *at, const ms_node *node) {
  return ms_pure_meaning(at->walk, at->code, at->means, node);
}

static bool visit(ms_node *node, void *context);

/* Whether the function of a binding, when it is called, has no effect outside of itself. */
static bool calls_purely(const look *at, int64_t binding) {
  if (binding < 0) return false;
  const ms_binding *callee = &at->walk->bindings[binding];
  if (callee->kind == MS_BIND_BUILTIN) return is_pure_builtin(callee->name);
  if (callee->kind != MS_BIND_FUNCTION || callee->code == NULL || at->depth == DEEPEST)
    return false;
  if (callee->draws || callee->changes || callee->stores || callee->impure != NULL) return false;
  look inner = {at->walk, callee->code, callee->means, at->depth + 1, true};
  ms_node_walk(callee->code->body, visit, &inner);
  return inner.pure;
}

static bool is_array(const look *at, const ms_node *node) {
  while (node->kind == MS_PAREN || node->kind == MS_INDEX) {
    int64_t binding = meaning_of(at, node);
    if (binding >= 0) return at->walk->bindings[binding].kind == MS_BIND_ARRAY;
    node = node->kid[0];
  }
  int64_t binding = meaning_of(at, node);
  if (binding >= 0) return at->walk->bindings[binding].kind == MS_BIND_ARRAY;
  if (node->kind != MS_NAME || node->symbol == NULL) return false;
  if (at->depth > 0) return true; /* a parameter: the walk knows what it may touch */
  const ms_abstract_value *value = at->walk->symbol_value[node->symbol->index];
  return value != NULL && value->kind == MS_ABSTRACT_VALUE_VIEW;
}

static bool is_pure_method(const look *at, const ms_node *node) {
  int64_t object = meaning_of(at, node->kid[0]);
  if (object >= 0 && at->walk->bindings[object].kind == MS_BIND_TABLE)
    return calls_purely(at, field_of(at->walk, object, node->text));
  if (ms_effect_is_string_method(node->text)) return true;
  return ms_effect_of_method(node->text, node->kids - 1) == MS_EFFECT_PURE &&
         !ms_effect_is_output(node->text) && is_array(at, node->kid[0]);
}

/* Only variables of the function itself are assigned. */
static bool assigns_purely(const look *at, const ms_node *node) {
  for (uint32_t t = 0; t < node->targets; t++) {
    const ms_node *target = node->kid[t];
    if (target->kind != MS_NAME || target->symbol == NULL) return false;
    if (ms_capture_path_of(at->code, target) >= 0) return false;
  }
  return true;
}

static bool visit(ms_node *node, void *context) {
  look *at = context;
  switch (node->kind) {
    case MS_CALL:
      at->pure = at->pure && calls_purely(at, meaning_of(at, node->kid[0]));
      break;
    case MS_METHOD:
      at->pure = at->pure && is_pure_method(at, node);
      break;
    case MS_ASSIGN:
      at->pure = at->pure && assigns_purely(at, node);
      break;
    case MS_FUNCTION:
    case MS_SET_FUNCTION:
    case MS_LOCAL_FUNCTION:
      at->pure = false;
      break;
    default:
      break;
  }
  return at->pure;
}

bool ms_node_is_pure(const ms_walk *walk, ms_node *node) {
  look at = {walk, walk->loop, NULL, 0, true};
  ms_node_walk(node, visit, &at);
  return at.pure;
}
