/* SPDX-License-Identifier: MIT
 *
 * Parameters: see parameter.h. Names are marked from where values matter backwards through
 * assignments, until nothing changes. */
#include "depend/parameter.h"
#include "array/method.h"
#include "depend/capture_path.h"

#include <stdlib.h>
#include <string.h>

typedef enum affinity { NOT_LOOKED, MAY_BE, IS_NOT } affinity;

typedef struct marker {
  const ms_loop *loop;
  const bool *arrays; /* by capture: which are known to be arrays; NULL: none */
  bool *used;         /* by capture */
  bool *relevant;     /* by declaration, ms_symbol.index */
  affinity *affine;   /* by declaration: what it was declared as may be an affine number */
  bool through;
  bool changed;
} marker;

static void mark(bool *flag, bool *changed) {
  if (*flag) return;
  *flag = true;
  *changed = true;
}

/* Marks every name in an expression (functions written there included). */
static bool mark_names(ms_node *node, void *context) {
  marker *state = context;
  int64_t capture = ms_capture_path_of(state->loop, node);
  if (capture >= 0) mark(&state->used[capture], &state->changed);
  if (node->kind == MS_NAME && node->symbol != NULL)
    mark(&state->relevant[node->symbol->index], &state->changed);
  return true;
}

static void mark_kids(marker *state, ms_node *node, uint32_t from, uint32_t to) {
  for (uint32_t k = from; k < to; k++) {
    if (node->kid[k] != NULL) ms_node_walk(node->kid[k], mark_names, state);
  }
}

static bool is_relevant(const marker *state, const ms_node *target) {
  if (target->kind != MS_NAME) return false;
  if (target->symbol != NULL && state->relevant[target->symbol->index]) return true;
  int64_t capture = ms_capture_path_of(state->loop, target);
  return capture >= 0 && state->used[capture];
}

static bool declares_relevant(const marker *state, const ms_node *node) {
  for (uint32_t s = 0; s < node->symbol_count; s++) {
    if (state->relevant[node->symbols[s]->index]) return true;
  }
  return false;
}

/* ---- conditions ---- */

static bool may_be_affine(marker *state, const ms_node *node);

/* Of a variable that is not assigned again: what it was declared as. */
static bool may_hold_affine(marker *state, const ms_symbol *symbol) {
  affinity *known = &state->affine[symbol->index];
  const ms_node *declaration = symbol->declaration;
  if (declaration == NULL || declaration->kind != MS_LOCAL || symbol->assigned) return true;
  if (*known != NOT_LOOKED) return *known == MAY_BE;
  bool may = false;
  for (uint32_t k = 0; k < declaration->kids; k++)
    may = may || may_be_affine(state, declaration->kid[k]);
  *known = may ? MAY_BE : IS_NOT;
  return may;
}

/* Errs by saying yes. */
static bool may_be_affine(marker *state, const ms_node *node) {
  switch (node->kind) {
    case MS_NIL:
    case MS_TRUE:
    case MS_FALSE:
    case MS_STRING:
    case MS_TABLE:
    case MS_FUNCTION:
      return false;
    case MS_NAME:
      return node->symbol == NULL || may_hold_affine(state, node->symbol);
    case MS_INDEX: /* elements are not; fields of captured tables are captures */
      return ms_capture_path_of(state->loop, node) >= 0 || node->kid[1]->kind == MS_STRING;
    case MS_BINARY:
      if (node->op == MS_OP_AND || node->op == MS_OP_OR)
        return may_be_affine(state, node->kid[0]) || may_be_affine(state, node->kid[1]);
      return node->op <= MS_OP_MOD && may_be_affine(state, node->kid[0]) &&
             may_be_affine(state, node->kid[1]);
    case MS_UNARY:
      return node->op == MS_OP_NEG && may_be_affine(state, node->kid[0]);
    case MS_PAREN:
      return may_be_affine(state, node->kid[0]);
    case MS_CALL: /* what builtins give is affine where all that they are given is */
      if (state->through || ms_capture_path_of(state->loop, node->kid[0]) < 0) return true;
      for (uint32_t k = 1; k < node->kids; k++) {
        if (!may_be_affine(state, node->kid[k])) return false;
      }
      return true;
    case MS_METHOD:
      return state->through || strcmp(node->text, "size") == 0;
    default:
      return true;
  }
}

/* Marks what an expression's being true may depend on, as far as the walk looks at that. */
static void mark_condition(marker *state, ms_node *node) {
  switch (node->kind) {
    case MS_CALL:
    case MS_METHOD:
      if (state->through || ms_capture_path_of(state->loop, node->kid[0]) < 0)
        ms_node_walk(node, mark_names, state);
      return;
    case MS_NAME:
    case MS_INDEX:
      ms_node_walk(node, mark_names, state);
      return;
    case MS_PAREN:
      mark_condition(state, node->kid[0]);
      return;
    case MS_UNARY:
      if (node->op == MS_OP_NOT) mark_condition(state, node->kid[0]);
      return;
    case MS_BINARY:
      if (node->op == MS_OP_AND || node->op == MS_OP_OR) {
        mark_condition(state, node->kid[0]);
        mark_condition(state, node->kid[1]);
      } else if (node->op >= MS_OP_EQ && node->op <= MS_OP_GE &&
                 may_be_affine(state, node->kid[0]) && may_be_affine(state, node->kid[1])) {
        ms_node_walk(node, mark_names, state);
      }
      return;
    default:
      return;
  }
}

/* Sums and remainders of names: what functions give for subscripts. Products are taken for data. */
static bool is_sum(const ms_node *node) {
  switch (node->kind) {
    case MS_NUMBER:
    case MS_NAME:
      return true;
    case MS_PAREN:
      return is_sum(node->kid[0]);
    case MS_BINARY:
      return (node->op == MS_OP_ADD || node->op == MS_OP_SUB || node->op == MS_OP_MOD) &&
             is_sum(node->kid[0]) && is_sum(node->kid[1]);
    default:
      return false;
  }
}

static void mark_result(marker *state, ms_node *node) {
  mark_condition(state, node);
  if (is_sum(node) && may_be_affine(state, node)) ms_node_walk(node, mark_names, state);
}

/* Whether an expression is a captured array, or a part of one. */
static bool is_array(const marker *state, const ms_node *node) {
  int64_t capture = ms_capture_path_of(state->loop, node);
  if (capture >= 0) return state->arrays != NULL && state->arrays[capture];
  if (node->kind == MS_INDEX || node->kind == MS_PAREN) return is_array(state, node->kid[0]);
  if (node->kind != MS_NAME || node->symbol == NULL || node->symbol->assigned) return false;
  const ms_node *declaration = node->symbol->declaration;
  return declaration != NULL && declaration->kind == MS_LOCAL && declaration->kids == 1 &&
         declaration->symbol_count == 1 && is_array(state, declaration->kid[0]);
}

/* The number that a method of arrays takes (the factor of axpy) is data. */
static bool takes_number(const marker *state, const ms_node *node) {
  const ms_method *method = ms_method_find(node->text);
  return method != NULL && method->number && is_array(state, node->kid[0]);
}

static bool visit(ms_node *node, void *context) {
  marker *state = context;
  bool any = false;
  switch (node->kind) {
    case MS_INDEX:
      mark_kids(state, node, 1, 2);
      break;
    case MS_CALL: /* functions of the body are looked into */
      if (state->through || ms_capture_path_of(state->loop, node->kid[0]) < 0)
        mark_kids(state, node, 1, node->kids);
      break;
    case MS_METHOD:
      mark_kids(state, node, takes_number(state, node) ? 2 : 1, node->kids);
      break;
    case MS_FOR_NUMERIC:
      mark_kids(state, node, 0, 3);
      break;
    case MS_LOCAL:
    case MS_LOCAL_FUNCTION:
      if (declares_relevant(state, node)) mark_kids(state, node, 0, node->kids);
      break;
    case MS_FOR_GENERIC:
      if (declares_relevant(state, node)) mark_kids(state, node, 0, node->kids - 1);
      break;
    case MS_IF:
      for (uint32_t k = 0; k < node->kids; k++) mark_condition(state, node->kid[k]);
      break;
    case MS_RETURN:
      for (uint32_t k = 0; k < node->kids; k++) mark_result(state, node->kid[k]);
      break;
    case MS_BINARY:
      if (node->op == MS_OP_AND || node->op == MS_OP_OR) mark_condition(state, node->kid[0]);
      break;
    case MS_SET_FUNCTION:
      if (is_relevant(state, node->kid[0])) mark_kids(state, node, 1, 2);
      break;
    case MS_ASSIGN:
      for (uint32_t t = 0; t < node->targets; t++) any = any || is_relevant(state, node->kid[t]);
      if (any) mark_kids(state, node, node->targets, node->kids);
      break;
    default:
      break;
  }
  return true;
}

int ms_parameters_find(const ms_loop *loop, bool through, const bool *arrays, bool *used) {
  marker state = {.loop = loop, .arrays = arrays, .used = used, .through = through};
  state.relevant = calloc((size_t)loop->tree->symbols + 1, sizeof *state.relevant);
  state.affine = calloc((size_t)loop->tree->symbols + 1, sizeof *state.affine);
  if (state.relevant == NULL || state.affine == NULL) {
    free(state.relevant);
    free(state.affine);
    return -1;
  }
  for (uint32_t c = 0; c < loop->capture_count; c++) used[c] = false;
  do {
    state.changed = false;
    ms_node_walk(loop->body, visit, &state);
  } while (state.changed);
  free(state.relevant);
  free(state.affine);
  return 0;
}
