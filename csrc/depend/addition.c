/* SPDX-License-Identifier: MIT
 *
 * Additions: see addition.h.
 *
 * An addition is told by its syntax. Accesses to equal elements are kept once only, so the body's
 * text is gone through twice: what is part of an addition is marked first; then nothing else may
 * mention the arrays, nor the locals that hold old values. */
#include "depend/addition.h"

#include "depend/capture_path.h"
#include "depend/effect.h"

/* More than these of one array are taken for something else. */
#define MOST_MARKS 64

typedef struct additions {
  const ms_walk *walk;
  uint32_t group;
  const ms_node *mark[MOST_MARKS]; /* targets, old values, receivers */
  uint32_t marks;
  const ms_symbol *held[MOST_MARKS]; /* the locals that old values went through */
  uint32_t helds;
  bool only;
} additions;

static void mark(additions *all, const ms_node *node) {
  if (all->marks < MOST_MARKS) all->mark[all->marks++] = node;
}

static bool is_marked(const additions *all, const ms_node *node) {
  for (uint32_t m = 0; m < all->marks; m++) {
    if (all->mark[m] == node) return true;
  }
  return false;
}

static bool is_held(const additions *all, const ms_symbol *symbol) {
  for (uint32_t h = 0; h < all->helds; h++) {
    if (all->held[h] == symbol) return true;
  }
  return false;
}

static bool is_view_of(const ms_walk *walk, const ms_symbol *symbol, uint32_t group) {
  const ms_abstract_value *value = symbol == NULL ? NULL : walk->symbol_value[symbol->index];
  return value != NULL && value->kind == MS_ABSTRACT_VALUE_VIEW &&
         walk->groups.of[value->view->binding] == group;
}

/* Whether an expression is one of the group's arrays, or a place in one. */
static bool is_in_group(const ms_walk *walk, const ms_node *node, uint32_t group) {
  int64_t capture = ms_capture_path_of(walk->loop, node);
  while (node->kind == MS_INDEX && capture < 0) {
    node = node->kid[0];
    capture = ms_capture_path_of(walk->loop, node);
  }
  if (capture >= 0) return walk->groups.of[capture] == group;
  return node->kind == MS_NAME && is_view_of(walk, node->symbol, group);
}

/* What an unassigned local was given where it was declared; NULL: something else. */
static const ms_node *given_to(const ms_symbol *symbol) {
  const ms_node *local = symbol == NULL || symbol->assigned ? NULL : symbol->declaration;
  if (local == NULL || local->kind != MS_LOCAL) return NULL;
  for (uint32_t s = 0; s < local->symbol_count && s < local->kids; s++) {
    if (local->symbols[s] == symbol) return ms_node_bare(local->kid[s]);
  }
  return NULL;
}

typedef struct change {
  const ms_walk *walk;
  uint32_t group;
  bool found;
} change;

/* A store into the group's arrays, or into a name; and where control may come from elsewhere. */
static bool look_for_change(ms_node *node, void *context) {
  change *look = context;
  bool method = node->kind == MS_METHOD && is_in_group(look->walk, node->kid[0], look->group);
  if (node->kind == MS_LABEL || (method && ms_effect_changes(node->text))) look->found = true;
  for (uint32_t t = 0; node->kind == MS_ASSIGN && t < node->targets; t++) {
    const ms_node *target = node->kid[t];
    if (target->kind == MS_NAME || is_in_group(look->walk, target, look->group)) look->found = true;
  }
  return !look->found;
}

/* Whether what a local was given still stands there where the assignment is. */
static bool still_holds(const additions *all, const ms_symbol *symbol, const ms_node *assign) {
  const ms_node *local = symbol->declaration, *block = assign->parent;
  change look = {all->walk, all->group, false};
  if (local->parent != block) return false;
  for (uint32_t k = local->ordinal + 1; k < assign->ordinal; k++)
    ms_node_walk(block->kid[k], look_for_change, &look);
  return !look.found;
}

/* Whether an expression is the target's old value and more that is added to it; marks that value
 * and the locals that it goes through. */
static bool adds_to(additions *all, const ms_node *value, const ms_node *target) {
  value = ms_node_bare(value);
  if (ms_node_is_same(value, target)) {
    mark(all, value);
    return true;
  }
  if (value->kind == MS_BINARY && (value->op == MS_OP_ADD || value->op == MS_OP_SUB)) {
    if (adds_to(all, value->kid[0], target)) return true;
    return value->op == MS_OP_ADD && adds_to(all, value->kid[1], target);
  }
  const ms_node *given = value->kind == MS_NAME ? given_to(value->symbol) : NULL;
  if (given == NULL || !still_holds(all, value->symbol, target->parent)) return false;
  if (all->helds == MOST_MARKS || !adds_to(all, given, target)) return false;
  all->held[all->helds++] = value->symbol;
  mark(all, value);
  return true;
}

/* Marks an addition to the group's arrays: false if the node is none. */
static bool is_addition(additions *all, ms_node *node) {
  if (node->kind == MS_METHOD) {
    const ms_node *receiver = ms_node_bare(node->kid[0]);
    bool adds =
        ms_effect_adds(node->text, node->kids - 1) && is_in_group(all->walk, receiver, all->group);
    if (adds) mark(all, receiver);
    return adds;
  }
  if (node->kind != MS_ASSIGN || node->targets != 1 || node->kids != 2) return false;
  const ms_node *target = node->kid[0];
  if (target->kind != MS_INDEX || !is_in_group(all->walk, target, all->group)) return false;
  if (!adds_to(all, node->kid[1], target)) return false;
  mark(all, target);
  return true;
}

static bool mark_additions(ms_node *node, void *context) {
  is_addition(context, node);
  return true;
}

static bool look_for_others(ms_node *node, void *context);

/* The subscripts of a place. */
static void look_at_subscripts(ms_node *node, additions *all) {
  for (node = ms_node_bare(node); node->kind == MS_INDEX; node = ms_node_bare(node->kid[0]))
    ms_node_walk(node->kid[1], look_for_others, all);
}

/* Other names of the arrays, and what asks for no element. */
static void mark_names(ms_node *node, additions *all) {
  if (node->kind == MS_METHOD && ms_effect_is_shape(node->text)) {
    mark(all, ms_node_bare(node->kid[0]));
  } else if (node->kind == MS_LOCAL) {
    for (uint32_t s = 0; s < node->symbol_count && s < node->kids; s++) {
      if (is_view_of(all->walk, node->symbols[s], all->group))
        mark(all, ms_node_bare(node->kid[s]));
    }
  }
}

static bool look_for_others(ms_node *node, void *context) {
  additions *all = context;
  if (!all->only) return false;
  mark_names(node, all);
  if (is_marked(all, node)) {
    look_at_subscripts(node, all);
    return false;
  }
  if (is_in_group(all->walk, node, all->group)) all->only = false;
  if (node->kind == MS_NAME && is_held(all, node->symbol)) all->only = false;
  return all->only;
}

bool ms_addition_is(const ms_walk *walk, const ms_node *place) {
  if (place == NULL || (place->kind != MS_METHOD && place->kind != MS_INDEX)) return false;
  const ms_node *named = place->kind == MS_METHOD ? ms_node_bare(place->kid[0]) : place;
  for (uint32_t g = 0; g < walk->groups.count; g++) {
    additions all = {.walk = walk, .group = g};
    if (!is_in_group(walk, named, g)) continue;
    if (place->kind == MS_METHOD) return is_addition(&all, (ms_node *)place);
    return place->ordinal == 0 && is_addition(&all, place->parent);
  }
  return false;
}

/* Whether an access is made by the body's text itself, not by what it calls. */
static bool is_in_text(const ms_walk *walk, const ms_access *access) {
  const ms_node *node = access->node;
  if (node == NULL) return false;
  return node->kind == MS_INDEX || node->kind == MS_NAME ||
         (node->kind == MS_METHOD && is_in_group(walk, ms_node_bare(node->kid[0]), access->group));
}

bool ms_addition_only(const ms_walk *walk, uint32_t group) {
  additions all = {.walk = walk, .group = group, .only = true};
  for (uint32_t a = 0; a < walk->accesses.count; a++) {
    const ms_access *access = walk->accesses.item[a];
    if (access->group == group && !is_in_text(walk, access)) return false;
  }
  ms_node_walk(walk->loop->body, mark_additions, &all);
  if (all.marks == MOST_MARKS) return false;
  ms_node_walk(walk->loop->body, look_for_others, &all);
  return all.only && all.marks < MOST_MARKS;
}
