/* SPDX-License-Identifier: MIT
 *
 * Receivers: see receiver.h. */
#include "depend/receiver.h"

#include <string.h>

#include "depend/capture_path.h"
#include "depend/pure.h"

/* How deep methods that call methods are looked into. */
#define DEEPEST 8

typedef struct look {
  const ms_walk *walk;
  const ms_binding *table;
  const char *field;
  const ms_symbol *self; /* of the function that is looked into: the table */
  const ms_loop *code;   /* the function, or the body */
  const ms_meaning *means;
  uint32_t capture; /* in the body */
  uint32_t depth;
  bool keeps;
} look;

static bool visit(ms_node *node, void *context);

/* A function that gets the table as its argument number `place`, from 0, does not look at the
 * field. */
static bool function_keeps(const look *at, const ms_binding *callee, uint32_t place) {
  if (callee->kind != MS_BIND_FUNCTION || callee->code == NULL) return false;
  const ms_function *function = callee->code->closure;
  if (function == NULL || function->vararg || at->depth == DEEPEST) return false;
  if (place >= function->parameter_count) return true;
  look inner = *at;
  inner.self = function->parameters[place];
  inner.code = callee->code;
  inner.means = callee->means;
  inner.depth++;
  if (inner.self->assigned) return false;
  ms_node_walk(callee->code->body, visit, &inner);
  return inner.keeps;
}

static bool method_keeps(const look *at, const char *name) {
  const ms_binding *method = NULL;
  for (uint32_t f = 0; f < at->table->field_count; f++) {
    if (strcmp(at->table->fields[f].name, name) == 0)
      method = &at->walk->bindings[at->table->fields[f].binding];
  }
  return method != NULL && function_keeps(at, method, 0);
}

/* B.err(m, i): what is called by a path. */
static bool call_keeps(const look *at, const ms_node *call, uint32_t place) {
  int64_t callee = ms_pure_meaning(at->walk, at->code, at->means, call->kid[0]);
  return callee >= 0 && function_keeps(at, &at->walk->bindings[callee], place);
}

/* What is done with the table where a node means it. */
static bool use_keeps(const look *at, const ms_node *node) {
  const ms_node *around = node->parent;
  if (around == NULL) return false;
  if (around->kind == MS_CALL && node->ordinal > 0)
    return call_keeps(at, around, node->ordinal - 1);
  if (node->ordinal != 0) return false;
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
  int64_t capture = ms_capture_path_of(at->walk->loop, node);
  if (capture < 0) return true;
  if ((uint32_t)capture == at->capture) at->keeps = use_keeps(at, node);
  return false; /* a longer path is another capture */
}

bool ms_receiver_keeps(const ms_walk *walk, uint32_t capture, const char *field) {
  const ms_binding *table = &walk->bindings[capture];
  look at = {.walk = walk, .table = table, .field = field, .code = walk->loop};
  at.capture = capture;
  at.keeps = true;
  if (table->kind != MS_BIND_TABLE || table->depth != walk->loop->captures[capture].field_count)
    return false;
  if ((table->metamethods & (MS_EVENT_INDEX | MS_EVENT_ASSIGN)) != 0) return false;
  ms_node_walk(walk->loop->body, visit, &at);
  return at.keeps;
}
