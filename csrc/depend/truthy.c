/* SPDX-License-Identifier: MIT
 *
 * Truth: see truthy.h. What is not known to be true is not. */
#include "depend/truthy.h"
#include "depend/capture_path.h"

#include <string.h>

/* A[i], A[i][j] of an array: an element, which is a number, or a row. */
static bool is_of_array(const ms_tally *all, const ms_node *node) {
  int64_t capture = -1;
  while (node->kind == MS_INDEX && capture < 0) {
    if (node->kid[1]->kind == MS_STRING) return false;
    node = node->kid[0];
    capture = ms_capture_path_of(all->loop, node);
  }
  if (capture < 0 || all->loop->captures[capture].assigned) return false;
  const ms_binding *binding = &all->walk->bindings[capture];
  return binding->kind == MS_BIND_ARRAY &&
         binding->depth == all->loop->captures[capture].field_count;
}

/* A number, string, array, table or function from outside. */
static bool is_captured(const ms_tally *all, const ms_node *node) {
  int64_t capture = ms_capture_path_of(all->loop, node);
  if (capture < 0 || all->loop->captures[capture].assigned) return false;
  const ms_binding *binding = &all->walk->bindings[capture];
  return binding->depth == all->loop->captures[capture].field_count &&
         binding->kind != MS_BIND_NIL && binding->kind != MS_BIND_BOOLEAN &&
         binding->kind != MS_BIND_UNKNOWN;
}

/* A loop variable that is a number, or a local of the body that is given such a value once. */
static bool is_local(const ms_tally *all, const ms_symbol *symbol) {
  const ms_node *from = symbol->declaration;
  if (symbol->assigned) return false;
  if (from != NULL && from->kind == MS_FOR_NUMERIC) return true;
  for (uint32_t i = 0; i < all->loop->index_count; i++) {
    if (all->loop->indices[i] == symbol) return true;
  }
  for (uint32_t k = 0; from != NULL && from->kind == MS_LOCAL && k < from->symbol_count; k++) {
    if (from->symbols[k] == symbol)
      return k < from->kids && from->begin >= all->loop->body->begin &&
             from->end <= all->loop->body->end && ms_node_is_truthy(all, from->kid[k]);
  }
  return false;
}

static bool is_of_builtin(const ms_tally *all, const ms_node *call) {
  static const char *const others[] = {"tostring", "string.format", "string.rep", "string.lower",
                                       "string.upper"};
  const char *name = ms_tally_builtin(all, call->kid[0]);
  if (name == NULL || strcmp(name, "math.randomseed") == 0) return false;
  for (size_t n = 0; n < sizeof others / sizeof others[0]; n++) {
    if (strcmp(name, others[n]) == 0) return true;
  }
  return strncmp(name, "math.", 5) == 0 || strncmp(name, "bit.", 4) == 0;
}

bool ms_node_is_truthy(const ms_tally *all, const ms_node *node) {
  node = ms_node_bare(node);
  switch (node->kind) {
    case MS_BINARY:
      if (node->op == MS_OP_AND)
        return ms_node_is_truthy(all, node->kid[0]) && ms_node_is_truthy(all, node->kid[1]);
      if (node->op == MS_OP_OR)
        return ms_node_is_truthy(all, node->kid[0]) || ms_node_is_truthy(all, node->kid[1]);
      return node->op <= MS_OP_CONCAT;
    case MS_UNARY:
      return node->op != MS_OP_NOT;
    case MS_NAME:
      if (node->symbol != NULL && is_local(all, node->symbol)) return true;
      return is_captured(all, node);
    case MS_INDEX:
      return is_captured(all, node) || is_of_array(all, node);
    case MS_CALL:
      return is_of_builtin(all, node);
    default:
      return node->kind == MS_NUMBER || node->kind == MS_STRING || node->kind == MS_TABLE ||
             node->kind == MS_TRUE;
  }
}
