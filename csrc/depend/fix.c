/* SPDX-License-Identifier: MIT
 *
 * Fixes: see fix.h. */
#include "depend/fix.h"

#include <string.h>

#include "depend/capture_path.h"
#include "depend/option.h"

void ms_fix_add(ms_reason *reason, const char *fix) {
  for (uint32_t f = 0; f < MS_MAX_FIXES && fix != NULL; f++) {
    if (reason->fix[f] != NULL) continue;
    reason->fix[f] = fix;
    return;
  }
}

int ms_fix_call(const ms_explainer *explain, ms_reason *reason, const char *what,
                const char *option) {
  bool other = strcmp(option, "impure = true") != 0;
  if (explain->walk->space->rounds && other) return 0; /* they have no such options */
  const char *code = ms_option_code(explain->walk, explain->arena, option);
  if (code == NULL) return -1;
  ms_fix_add(reason, ms_arena_format(explain->arena, "%s: %s", what, code));
  return 0;
}

int ms_fix_order(const ms_explainer *explain, ms_reason *reason) {
  return ms_fix_call(explain, reason, "if any order of iterations is acceptable",
                     "ordered = false");
}

int ms_fix_exact(const ms_explainer *explain, ms_reason *reason) {
  if (explain->collapses &&
      ms_fix_call(explain, reason, "with two indices, as a wavefront or sweep", "collapse = 2") !=
          0)
    return -1;
  return ms_fix_call(explain, reason, "run it serially", "serial = true");
}

typedef struct update {
  const ms_tree *tree;
  const ms_node *target; /* the write to look for */
  bool found;
} update;

static bool is_same_text(const ms_tree *tree, const ms_node *a, const ms_node *b) {
  size_t length = a->end - a->begin;
  return length == b->end - b->begin &&
         memcmp(tree->text + a->begin, tree->text + b->begin, length) == 0;
}

/* target = target + e, or e + target, or target - e. */
static bool look_for_update(ms_node *node, void *context) {
  update *look = context;
  if (node->kind != MS_ASSIGN || node->targets != 1 || node->kids != 2) return true;
  if (node->kid[0] != look->target) return true;
  const ms_node *value = node->kid[1];
  while (value->kind == MS_PAREN) value = value->kid[0];
  while (value->kind == MS_BINARY && (value->op == MS_OP_ADD || value->op == MS_OP_SUB)) {
    if (is_same_text(look->tree, value->kid[0], look->target)) look->found = true;
    if (value->op == MS_OP_ADD && is_same_text(look->tree, value->kid[1], look->target))
      look->found = true;
    value = value->kid[0];
  }
  return true;
}

static bool is_update(const ms_explainer *explain, const ms_access *write) {
  update look = {explain->walk->loop->tree, write->node, false};
  if (write->node == NULL) return false;
  ms_node_walk(explain->walk->loop->body, look_for_update, &look);
  return look.found;
}

typedef struct stores {
  const ms_explainer *explain;
  uint32_t group;
  bool summed;
} stores;

/* Whether an assignment's target is a place in the group's arrays. */
static bool is_in_group(const ms_walk *walk, const ms_node *target, uint32_t group) {
  const ms_node *root = target;
  int64_t capture = -1;
  while (root->kind == MS_INDEX && capture < 0) {
    root = root->kid[0];
    capture = ms_loop_capture_of(walk->loop, root);
  }
  if (capture >= 0) return walk->groups.of[capture] == group;
  if (root->kind != MS_NAME || root->symbol == NULL) return false;
  const ms_abstract_value *value = walk->symbol_value[root->symbol->index];
  return value != NULL && value->kind == MS_ABSTRACT_VALUE_VIEW &&
         walk->groups.of[value->view->binding] == group;
}

static bool look_for_others(ms_node *node, void *context) {
  stores *look = context;
  const ms_walk *walk = look->explain->walk;
  for (uint32_t t = 0; node->kind == MS_ASSIGN && t < node->targets; t++) {
    const ms_access store = {.node = node->kid[t]};
    if (is_in_group(walk, node->kid[t], look->group) && !is_update(look->explain, &store))
      look->summed = false;
  }
  return look->summed;
}

/* Whether a place is written in just these words: `A[i]` of `A[i] = A[i] + x`, but not `A[i-1]`. */
static bool is_also_written(const ms_explainer *explain, const ms_access *read) {
  const ms_accesses *all = &explain->walk->accesses;
  for (uint32_t a = 0; a < all->count && read->node != NULL; a++) {
    const ms_access *write = all->item[a];
    if (write->write && write->node != NULL &&
        is_same_text(explain->walk->loop->tree, write->node, read->node))
      return true;
  }
  return false;
}

/* All stores into the array are such updates, and nothing else reads it: a sum that is added at the
 * end would be missed there. Accesses to equal elements are kept once only, so assignments are
 * looked at, too. */
static bool is_only_summed(const ms_explainer *explain, uint32_t group) {
  const ms_accesses *all = &explain->walk->accesses;
  stores look = {explain, group, true};
  for (uint32_t a = 0; a < all->count; a++) {
    const ms_access *access = all->item[a];
    if (access->group != group) continue;
    if (access->write ? !is_update(explain, access) : !is_also_written(explain, access))
      return false;
  }
  ms_node_walk(explain->walk->loop->body, look_for_others, &look);
  return look.summed;
}

/* What reads there is not what also writes, or may: a snapshot cannot stand in its place. */
static bool is_only_read(const ms_explainer *explain, const ms_access *read) {
  const ms_accesses *all = &explain->walk->accesses;
  for (uint32_t a = 0; a < all->count; a++) {
    const ms_access *access = all->item[a];
    bool unknown = access->given == 0 && read->given == 0 && access->possible && read->possible;
    if (!access->write || access->group != read->group) continue;
    if (access->node == read->node || unknown) return false;
  }
  return true;
}

/* The source of a read with the array's name replaced: "old[i-1]". */
static const char *read_of_copy(const ms_explainer *explain, const ms_access *read,
                                const char *path) {
  const ms_tree *tree = explain->walk->loop->tree;
  const char *text = tree->text + read->node->begin;
  size_t length = read->node->end - read->node->begin, name = strlen(path);
  if (length > MS_LONGEST_TEXT || length < name || memcmp(text, path, name) != 0) return "old[...]";
  const char *rest = ms_arena_copy(explain->arena, text + name, length - name);
  return rest == NULL ? NULL : ms_arena_format(explain->arena, "old%s", rest);
}

/* What computes something else than the loop as written: each is a condition. */
static int add_other_fixes(const ms_explainer *explain, ms_reason *reason,
                           const ms_meeting *meeting, bool unordered_runs) {
  const ms_access *read = meeting->earlier->write ? meeting->later : meeting->earlier;
  const ms_access *write = meeting->earlier->write ? meeting->earlier : meeting->later;
  const char *path = ms_binding_path(explain->walk, explain->arena, write->binding);
  if (path == NULL) return -1;
  bool named = write->binding < explain->walk->loop->capture_count;
  bool updates = is_update(explain, write) || is_update(explain, meeting->later);
  if (named && updates && explain->hopeless && is_only_summed(explain, write->group)) {
    ms_fix_add(reason, ms_arena_format(explain->arena,
                                       "if sums may be added at the end: local sum = "
                                       "meissa.buffer(%s)  ... sum[e] = sum[e] + x",
                                       path));
  } else if (!updates && !read->write && read->node != NULL && is_only_read(explain, read) &&
             read->binding < explain->walk->loop->capture_count) {
    path = ms_binding_path(explain->walk, explain->arena, read->binding);
    const char *copy = path == NULL ? NULL : read_of_copy(explain, read, path);
    if (copy == NULL) return -1;
    ms_fix_add(reason, ms_arena_format(explain->arena,
                                       "if old values are fine: local old = %s:snapshot()  ... %s",
                                       path, copy));
  }
  return unordered_runs ? ms_fix_order(explain, reason) : 0;
}

int ms_fix_conflict(const ms_explainer *explain, ms_reason *reason, const ms_meeting *meeting,
                    bool unordered_runs) {
  bool flows = meeting->earlier->write && !meeting->later->write;
  if (flows && ms_fix_exact(explain, reason) != 0) return -1;
  if (add_other_fixes(explain, reason, meeting, unordered_runs) != 0) return -1;
  return flows ? 0 : ms_fix_exact(explain, reason);
}
