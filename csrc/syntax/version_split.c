/* SPDX-License-Identifier: MIT
 *
 * Splitting of versions: see version_split.h. A split name keeps its text, so reports and errors
 * show what the user has written; only its symbol is another one, declared where the loop's
 * function begins. */
#include "syntax/version_split.h"

#include <string.h>

typedef struct splitting {
  const ms_loop *loop;
  const bool *split;
  bool (*changes)(const char *name);
  ms_symbol **next; /* by capture, made when first needed */
  bool failed;
} splitting;

/* Whether an expression is what an assignment or a method changes: A in A[i][j] = x, A[i]:fill(0).
 */
static bool is_changed(const splitting *state, const ms_node *node) {
  const ms_node *parent = node->parent;
  while (parent->kind == MS_INDEX && node->ordinal == 0) {
    node = parent;
    parent = node->parent;
  }
  if (parent->kind == MS_ASSIGN) return node->ordinal < parent->targets;
  return parent->kind == MS_METHOD && node->ordinal == 0 && state->changes(parent->text);
}

/* The longest path of the capture that begins with a name: its outermost node, or NULL. */
static const ms_node *path_of(const ms_capture *capture, const ms_node *name) {
  if (name->symbol != capture->symbol || strcmp(name->text, capture->root) != 0) return NULL;
  const ms_node *node = name;
  for (uint32_t f = 0; f < capture->field_count; f++) {
    const ms_node *index = node->parent;
    if (index->kind != MS_INDEX || node->ordinal != 0 || index->kid[1]->kind != MS_STRING ||
        strcmp(index->kid[1]->text, capture->fields[f]) != 0) {
      return NULL;
    }
    node = index;
  }
  return node;
}

static ms_symbol *next_of(splitting *state, uint32_t capture) {
  if (state->next[capture] != NULL) return state->next[capture];
  const ms_capture *of = &state->loop->captures[capture];
  ms_symbol *symbol = ms_arena_take(state->loop->tree->arena, 1, sizeof *symbol);
  if (symbol == NULL) return NULL;
  *symbol = (ms_symbol){.name = of->root,
                        .function = state->loop->function,
                        .index = state->loop->tree->symbols++,
                        .next = true};
  state->next[capture] = symbol;
  return symbol;
}

static bool split_name(ms_node *node, void *context) {
  splitting *state = context;
  if (node->kind != MS_NAME || state->failed) return !state->failed;
  for (uint32_t c = 0; c < state->loop->capture_count; c++) {
    if (!state->split[c]) continue;
    const ms_node *path = path_of(&state->loop->captures[c], node);
    if (path == NULL || !is_changed(state, path)) continue;
    node->symbol = next_of(state, c);
    state->failed = node->symbol == NULL;
    return false;
  }
  return true;
}

int ms_version_split(ms_loop *loop, const bool *split, bool (*changes)(const char *name),
                     ms_error *err) {
  splitting state = {.loop = loop, .split = split, .changes = changes};
  state.next =
      ms_arena_take(loop->tree->arena, (size_t)loop->capture_count + 1, sizeof *state.next);
  state.failed = state.next == NULL;
  if (!state.failed) ms_node_walk(loop->body, split_name, &state);
  if (state.failed)
    return ms_error_set(err, MS_SRC, "not enough memory for what the loop captures");
  return ms_loop_capture(loop, err);
}
