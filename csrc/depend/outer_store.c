/* SPDX-License-Identifier: MIT
 *
 * Walk, what called functions store outside of themselves: what to write instead. See walk.h. */
#include <string.h>

#include "depend/store.h"

static bool look_for_length(ms_node *node, void *context) {
  bool *found = context;
  *found = *found || (node->kind == MS_UNARY && node->op == MS_OP_LEN);
  return !*found;
}

/* Mentions of a path in a function, written as it is where it is assigned. */
typedef struct mentions {
  const ms_tree *tree;
  const ms_node *path;
  uint32_t count;
} mentions;

static bool count_mention(ms_node *node, void *context) {
  mentions *look = context;
  size_t length = look->path->end - look->path->begin;
  const char *text = look->tree->text;
  if (node->kind == look->path->kind && node->end - node->begin == length &&
      memcmp(text + node->begin, text + look->path->begin, length) == 0)
    look->count++;
  return true;
}

/* The last name of a path: `total` of `self.total`; NULL: it has none. */
static const char *last_name(const ms_node *path) {
  if (path->kind == MS_INDEX) path = path->kid[1];
  return path->kind == MS_NAME || path->kind == MS_STRING ? path->text : NULL;
}

/* x = x + e, where the function does nothing else with x: in words for what it may return. */
static const char *returned_sum(ms_walk *walk, const ms_node *node) {
  const ms_node *assign = node->parent;
  const char *name = last_name(node), *text = walk->loop->tree->text;
  if (assign->kind != MS_ASSIGN || assign->targets != 1 || assign->kids != 2) return NULL;
  const ms_node *sum = ms_node_bare(assign->kid[1]);
  if (name == NULL || sum->kind != MS_BINARY || sum->op != MS_OP_ADD) return NULL;
  mentions all = {.tree = walk->loop->tree, .path = node}, old = all;
  ms_node_walk(walk->loop->body, count_mention, &all);
  ms_node_walk(sum->kid[0], count_mention, &old);
  if (all.count != 2 || old.count != 1 || sum->kid[0]->kind != node->kind) return NULL;
  return ms_arena_format(
      walk->arena, "let it return %.*s, and sum that in the body: %s = %s + what it gives",
      (int)(sum->kid[1]->end - sum->kid[1]->begin), text + sum->kid[1]->begin, name, name);
}

/* t[#t + 1] = v; m[k] = v where the function also reads m[k]: in words; else NULL. */
static const char *fix_of_outer_element(ms_walk *walk, const ms_node *node) {
  bool appends = false;
  if (node->kind != MS_INDEX || node->kid[1]->kind == MS_STRING) return NULL;
  ms_node_walk(node->kid[1], look_for_length, &appends);
  if (appends) return "let it return the value, and append in the body: t[#t + 1] = what it gives";
  mentions all = {.tree = walk->loop->tree, .path = node};
  ms_node_walk(walk->loop->body, count_mention, &all);
  return all.count > 1 ? "a table of what was computed before: fill it before the loop, or compute "
                         "without it"
                       : NULL;
}

/* What a called function assigns outside of itself. */
void ms_walk_find_outer_store(ms_walk *walk, bool proven, const ms_node *node) {
  const char *fix = NULL;
  bool target = (node->kind == MS_INDEX || node->kind == MS_NAME) &&
                node->parent->kind == MS_ASSIGN && node->ordinal < node->parent->targets;
  if (target) fix = returned_sum(walk, node);
  if (target && fix == NULL) fix = fix_of_outer_element(walk, node);
  ms_walk_find(
      walk, MS_REASON_CHANGES, proven, node,
      fix != NULL ? fix : "let it return the new value instead of assigning an outer variable",
      "the call changes variables or tables outside of the loop, and each worker has "
      "its own copy of them");
}
