/* SPDX-License-Identifier: MIT
 *
 * Receivers: see receiver.h. */
#include "depend/receiver.h"

#include <string.h>

#include "depend/scalar.h"

/* How deep methods that call methods are looked into. */
#define DEEPEST 8

typedef struct look {
  const ms_walk *walk;
  const ms_binding *table;
  const char *field;
  const ms_symbol *self; /* of the method that is looked into */
  uint32_t capture;      /* in the body */
  uint32_t depth;
  bool keeps;
} look;

static bool visit(ms_node *node, void *context);

/* The method does not look at the field. */
static bool method_keeps(const look *at, const char *name) {
  const ms_binding *method = NULL;
  for (uint32_t f = 0; f < at->table->field_count; f++) {
    if (strcmp(at->table->fields[f].name, name) == 0)
      method = &at->walk->bindings[at->table->fields[f].binding];
  }
  if (method == NULL || method->kind != MS_BIND_FUNCTION || method->code == NULL) return false;
  const ms_function *function = method->code->closure;
  if (function == NULL || function->vararg || at->depth == DEEPEST) return false;
  if (function->parameter_count == 0) return true;
  look inner = *at;
  inner.self = function->parameters[0];
  inner.depth++;
  if (inner.self->assigned) return false;
  ms_node_walk(method->code->body, visit, &inner);
  return inner.keeps;
}

/* What is done with the table where a node means it. */
static bool use_keeps(const look *at, const ms_node *node) {
  const ms_node *around = node->parent;
  if (around == NULL || node->ordinal != 0) return false;
  if (around->kind == MS_METHOD) return method_keeps(at, around->text);
  return at->self != NULL && around->kind == MS_INDEX && around->kid[1]->kind == MS_STRING &&
         strcmp(around->kid[1]->text, at->field) != 0;
}

static bool visit(ms_node *node, void *context) {
  look *at = context;
  if (!at->keeps) return false;
  if (at->self != NULL) {
    if (node->kind == MS_NAME && node->symbol == at->self) at->keeps = use_keeps(at, node);
    return at->keeps;
  }
  int64_t capture = ms_loop_capture_of(at->walk->loop, node);
  if (capture < 0) return true;
  if ((uint32_t)capture == at->capture) at->keeps = use_keeps(at, node);
  return false; /* a longer path is another capture */
}

bool ms_receiver_keeps(const ms_walk *walk, uint32_t capture, const char *field) {
  const ms_binding *table = &walk->bindings[capture];
  look at = {walk, table, field, NULL, capture, 0, true};
  if (table->kind != MS_BIND_TABLE || table->depth != walk->loop->captures[capture].field_count)
    return false;
  if ((table->acts & (MS_EVENT_INDEX | MS_EVENT_ASSIGN)) != 0) return false;
  ms_node_walk(walk->loop->body, visit, &at);
  return at.keeps;
}
