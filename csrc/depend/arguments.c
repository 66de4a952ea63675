/* SPDX-License-Identifier: MIT
 *
 * Arguments of calls. See arguments.h. */
#include "depend/arguments.h"
#include "depend/evaluate.h"
#include "depend/footprint.h"
#include "depend/impure.h"

void ms_arguments_find_changes(ms_walk *walk, const ms_abstract_value *called,
                               const ms_node *node) {
  if (called->kind == MS_ABSTRACT_VALUE_OTHER) ms_impure_find(walk, called->impure, node);
  if (called->kind != MS_ABSTRACT_VALUE_OTHER || !called->changes) return;
  const char *does = "";
  if (called->changer != NULL) does = ms_arena_format(walk->arena, ", as %s does", called->changer);
  const char *message =
      does == NULL ? NULL
                   : ms_arena_format(walk->arena,
                                     "the call may change variables or tables outside of the "
                                     "loop%s, and each worker has its own copy of them",
                                     does);
  walk->failed = walk->failed || message == NULL;
  if (message == NULL) return;
  ms_walk_find(walk, MS_REASON_CHANGES, called->callable, node,
               "let it return the new value instead of assigning an outer variable", message);
}

/* Adds what is known of one argument to what is known of all. */
static void add_argument(const ms_walk *walk, const ms_abstract_value *value, ms_arguments *all) {
  all->groups |= ms_footprint_groups(walk, value);
  all->captured = all->captured || (value->kind == MS_ABSTRACT_VALUE_OTHER && value->captured);
  all->simple = all->simple && value->kind <= MS_ABSTRACT_VALUE_SCALAR;
  all->known = all->known && (value->kind != MS_ABSTRACT_VALUE_OTHER || value->plain_data);
  all->metamethods |= value->metamethods;
  all->changes = all->changes || value->changes;
  if (all->impure == NULL && value->kind == MS_ABSTRACT_VALUE_OTHER) all->impure = value->impure;
}

void ms_arguments_add_up(const ms_walk *walk, ms_arguments *all) {
  ms_arguments sum = {.simple = true, .known = true, .count = all->count, .values = all->values};
  for (uint32_t k = 0; k < all->count; k++) add_argument(walk, &all->values[k], &sum);
  *all = sum;
}

/* Whether a value is a snapshot or part of one: it may go where it could be written. */
static bool is_frozen(const ms_walk *walk, const ms_abstract_value *value) {
  return value->kind == MS_ABSTRACT_VALUE_VIEW && walk->bindings[value->view->binding].frozen;
}

static void touch_argument(ms_walk *walk, const ms_abstract_value *value, ms_use how,
                           const ms_node *node) {
  bool calls = value->kind == MS_ABSTRACT_VALUE_OTHER && value->callable;
  if (calls) ms_arguments_find_changes(walk, value, node);
  if (how == MS_USE_WRITE && value->kind == MS_ABSTRACT_VALUE_OTHER)
    ms_impure_find(walk, value->impure, node);
  if (how != MS_USE_NOTHING || calls) ms_footprint_add(walk, value, false, node);
  if ((how == MS_USE_WRITE || calls) && !is_frozen(walk, value)) {
    ms_footprint_add(walk, value, true, node);
  }
}

ms_arguments ms_arguments_evaluate(ms_walk *walk, ms_node *node, const ms_abstract_value *object) {
  uint32_t first = object != NULL ? 1 : 0;
  ms_arguments all = {.count = node->kids - 1 + first};
  all.values = ms_arena_take(walk->arena, all.count + 1, sizeof *all.values);
  if (all.values == NULL) {
    walk->failed = true;
    return (ms_arguments){.simple = true, .known = true};
  }
  if (object != NULL) all.values[0] = *object;
  for (uint32_t k = 1; k < node->kids; k++)
    ms_evaluate(walk, node->kid[k], &all.values[k - 1 + first]);
  ms_arguments_add_up(walk, &all);
  return all;
}

void ms_arguments_touch(ms_walk *walk, const ms_arguments *all, ms_use how, const ms_node *node) {
  if (how == MS_USE_BY_KIND) how = all->known ? MS_USE_READ : MS_USE_WRITE;
  if (how == MS_USE_WRITE) walk->possible++; /* what is not known need not be done */
  for (uint32_t k = 0; k < all->count; k++) touch_argument(walk, &all->values[k], how, node);
  if (how == MS_USE_WRITE) walk->possible--;
}

ms_arguments ms_arguments_walk(ms_walk *walk, ms_node *node, ms_use how) {
  ms_arguments all = ms_arguments_evaluate(walk, node, NULL);
  ms_arguments_touch(walk, &all, how, node);
  return all;
}

bool ms_arguments_give_outer(const ms_walk *walk, const ms_arguments *all) {
  return walk->owns_objects && (all->captured || walk->stored_captured);
}

void ms_arguments_call_back(ms_walk *walk, const ms_arguments *all, const ms_node *node) {
  for (uint32_t k = 0; k < all->count; k++) {
    ms_abstract_value each = all->values[k];
    if (each.kind != MS_ABSTRACT_VALUE_OTHER || each.exact) continue;
    if (each.callable && walk->bindings[each.binding].stores && all->captured) each.changes = true;
    if (!each.callable && ms_arguments_give_outer(walk, all)) each.changes = true;
    ms_arguments_find_changes(walk, &each, node);
  }
}
