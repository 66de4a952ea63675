/* SPDX-License-Identifier: MIT
 *
 * Parameters: see parameter.h. Names are marked from where values matter backwards through
 * assignments, until nothing changes. */
#include "depend/parameter.h"

#include <stdlib.h>

#include "depend/walk.h"

typedef struct marker {
  const ms_loop *loop;
  bool *used;     /* by capture */
  bool *relevant; /* by declaration, ms_symbol.index */
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
  int64_t capture = ms_loop_capture_of(state->loop, node);
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
  int64_t capture = ms_loop_capture_of(state->loop, target);
  return capture >= 0 && state->used[capture];
}

static bool declares_relevant(const marker *state, const ms_node *node) {
  for (uint32_t s = 0; s < node->symbol_count; s++) {
    if (state->relevant[node->symbols[s]->index]) return true;
  }
  return false;
}

static bool visit(ms_node *node, void *context) {
  marker *state = context;
  bool any = false;
  switch (node->kind) {
    case MS_INDEX:
      mark_kids(state, node, 1, 2);
      break;
    case MS_CALL: /* functions of the body are looked into */
      if (state->through || ms_loop_capture_of(state->loop, node->kid[0]) < 0)
        mark_kids(state, node, 1, node->kids);
      break;
    case MS_METHOD:
      mark_kids(state, node, 1, node->kids);
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

int ms_parameters_find(const ms_loop *loop, bool through, bool *used) {
  marker state = {.loop = loop, .used = used, .through = through};
  state.relevant = calloc((size_t)loop->tree->symbols + 1, sizeof *state.relevant);
  if (state.relevant == NULL) return -1;
  for (uint32_t c = 0; c < loop->capture_count; c++) used[c] = false;
  do {
    state.changed = false;
    ms_node_walk(loop->body, visit, &state);
  } while (state.changed);
  free(state.relevant);
  return 0;
}
