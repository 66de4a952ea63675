/* SPDX-License-Identifier: MIT
 *
 * Walk, control: conditions narrow what is below them, jumps what follows. See walk.h and
 * guard.h.
 *
 * The guard says where control comes; after a jump that is nowhere. Where paths join it is the
 * union of theirs. A condition holds for a whole iteration (of inner loops, too), since its
 * variables are never assigned. */
#include <string.h>

#include "depend/evaluate.h"
#include "depend/flow.h"
#include "depend/local_value.h"
#include "depend/walk.h"

/* From here to the end of the body it is not sure that anything happens. */
static void lose(ms_walk *walk) {
  walk->possible++;
}

ms_entrance ms_flow_enter(ms_walk *walk) {
  ms_entrance outer = walk->block;
  walk->block = (ms_entrance){walk->guard, walk->exits, walk->breaks};
  return outer;
}

/* ---- dead places ---- */

/* Notes a place where control does not come. Functions are walked for each of their calls. */
void ms_flow_note_dead(ms_walk *walk, const ms_node *node, bool beside) {
  bool once = walk->functions == 0 && walk->frame == NULL && walk->literal == NULL;
  if (!once || !ms_guard_is_never(walk->guard)) return;
  if (!beside && walk->dead != NULL && walk->dead->node->end >= node->end) return; /* inside */
  ms_dead *dead = ms_arena_take(walk->arena, 1, sizeof *dead);
  walk->failed = walk->failed || dead == NULL;
  if (dead == NULL) return;
  *dead = (ms_dead){.node = node, .beside = beside, .previous = walk->dead};
  walk->dead = dead;
}

bool ms_flow_is_dead(const ms_walk *walk, const ms_node *node, bool beside) {
  const ms_dead *at = walk->dead_before;
  while (at != NULL && (at->node != node || at->beside != beside)) at = at->previous;
  return at != NULL;
}

/* ---- jumps ---- */

/* Where a goto leads. */
typedef struct target {
  const ms_node *label; /* NULL: out of `within` */
  bool forward;
  bool crosses; /* it leaves a loop */
} target;

static target target_of(const ms_node *jump, const ms_node *within) {
  target found = {NULL, false, false};
  for (const ms_node *at = jump; at != within && at->parent != NULL; at = at->parent) {
    const ms_node *block = at->parent;
    found.crosses = found.crosses || ms_node_is_loop(at);
    for (uint32_t k = 0; block->kind == MS_BLOCK && k < block->kids; k++) {
      const ms_node *each = block->kid[k];
      if (each->kind != MS_LABEL || strcmp(each->text, jump->text) != 0) continue;
      found.label = each;
      found.forward = each->begin > jump->begin;
      return found;
    }
  }
  return found;
}

typedef struct leaving {
  const ms_node *loop;
  bool found;
} leaving;

/* The loop that a break ends. */
static const ms_node *loop_around(const ms_node *node) {
  while (node != NULL && !ms_node_is_loop(node)) node = node->parent;
  return node;
}

static bool look_for_exit(ms_node *node, void *context) {
  leaving *look = context;
  if (node->kind == MS_FUNCTION) return false;
  if (node->kind == MS_RETURN) look->found = true;
  if (node->kind == MS_BREAK && loop_around(node) == look->loop) look->found = true;
  if (node->kind == MS_GOTO && target_of(node, look->loop).label == NULL) look->found = true;
  return !look->found;
}

bool ms_flow_leaves(ms_node *loop) {
  leaving look = {loop, false};
  for (uint32_t k = 0; k < loop->kids; k++) {
    if (loop->kid[k] != NULL && loop->kid[k]->kind == MS_BLOCK)
      ms_node_walk(loop->kid[k], look_for_exit, &look);
  }
  return look.found;
}

static void add_jump(ms_walk *walk, const ms_node *label, const ms_guard *guard) {
  if (walk->jump_count == MS_MAX_JUMPS) {
    walk->jumps_lost = true;
  } else {
    walk->jump[walk->jump_count++] = (ms_guarded_jump){label, guard};
  }
}

void ms_flow_exit(ms_walk *walk, const ms_node *node) {
  if (walk->functions > 0 || ms_guard_is_never(walk->guard)) return;
  bool leaves = false, known = true;
  if (node->kind == MS_BREAK) {
    leaves = walk->loops == 0;
  } else if (node->kind == MS_RETURN) {
    leaves = walk->loop->closure == NULL && walk->literal == NULL;
    known = walk->loops == 0;
  } else {
    target to = target_of(node, walk->loop->body);
    leaves = to.label == NULL;
    known = to.forward && !to.crosses;
    if (to.forward) add_jump(walk, to.label, known ? walk->guard : NULL);
  }
  if (leaves)
    ms_walk_find(walk, MS_REASON_LEAVES, true, node, NULL,
                 "the body can leave the loop before its end, so later iterations depend on "
                 "earlier ones");
  if (leaves || !known) lose(walk);
  walk->guard = &ms_guard_never;
  ++*(node->kind == MS_BREAK ? &walk->breaks : &walk->exits);
}

static bool look_for_goto(ms_node *node, void *context) {
  const ms_node **label = context;
  if (node->kind == MS_FUNCTION || *label == NULL) return false;
  if (node->kind == MS_GOTO && strcmp(node->text, (*label)->text) == 0) *label = NULL;
  return true;
}

/* Whether a goto leads back to a label. */
static bool is_repeated(const ms_node *label) {
  const ms_node *block = label->parent, *look = label;
  for (uint32_t k = label->ordinal + 1; k < block->kids && look != NULL; k++)
    ms_node_walk(block->kid[k], look_for_goto, &look);
  return look == NULL;
}

/* All paths from the beginning of the block come to a label where all jumps lead there. */
void ms_flow_label(ms_walk *walk, const ms_node *node) {
  if (walk->functions > 0) return;
  const ms_guard *guard = walk->guard;
  bool exact = !walk->jumps_lost && !is_repeated(node);
  uint32_t met = 0;
  for (uint32_t k = 0; k < walk->jump_count; k++) {
    const ms_guarded_jump *jump = &walk->jump[k];
    if (jump->label != node) continue;
    met++;
    exact = exact && jump->guard != NULL;
    if (jump->guard != NULL) guard = ms_guard_or(&walk->guards, guard, jump->guard, &exact);
  }
  walk->exits -= met;
  if (walk->exits == walk->block.exits && walk->breaks == walk->block.breaks) {
    walk->guard = walk->block.guard;
    return;
  }
  walk->guard = exact ? guard : walk->block.guard;
  if (!exact) lose(walk);
}

void ms_flow_close_jumps(ms_walk *walk, const ms_node *block) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < walk->jump_count; k++) {
    if (walk->jump[k].label->parent != block) walk->jump[kept++] = walk->jump[k];
  }
  walk->jump_count = kept;
}

/* ---- conditions ---- */

/* An if while its parts are walked. */
typedef struct branching {
  const ms_guard *entry, *rest; /* where it is met; where no condition has held so far */
  const ms_guard *out;          /* where the branches that were walked end */
  bool exact;                   /* that is known exactly */
  bool possible;
  ms_branch_path *paths; /* through the branches, and around all */
} branching;

static void walk_condition(ms_walk *walk, ms_node *node, branching *all) {
  ms_abstract_value value;
  bool exact = true;
  walk->guard = all->rest;
  ms_flow_note_dead(walk, node, false);
  ms_evaluate(walk, node, &value);
  const ms_truth *truth = ms_abstract_value_truth(&value);
  walk->guard = ms_guard_and(&walk->guards, all->rest, truth->yes, &exact);
  all->rest = ms_guard_and(&walk->guards, all->rest, truth->no, &exact);
  if ((exact && truth->exact) || all->possible) return;
  all->possible = true;
  walk->possible++;
}

/* Where paths join again the guard is what it was, unless some have left. */
static void end_if(ms_walk *walk, branching *all, bool left) {
  walk->guard = all->entry;
  if (!left) return;
  const ms_guard *out = ms_guard_or(&walk->guards, all->out, all->rest, &all->exact);
  if (all->exact) walk->guard = out;
  if (!all->exact || all->possible) lose(walk);
}

void ms_flow_if(ms_walk *walk, ms_node *node) {
  branching all = {walk->guard, walk->guard, &ms_guard_never, true, false, NULL};
  uint32_t scope = walk->scope_count, jumps = walk->jump_count;
  uint32_t exits = walk->exits, breaks = walk->breaks;
  for (uint32_t k = 0; k < node->kids; k++) {
    if (node->kid[k]->kind != MS_BLOCK) {
      walk_condition(walk, node->kid[k], &all);
      continue;
    }
    if (k % 2 == 0) { /* else */
      walk->guard = all.rest;
      all.rest = &ms_guard_never;
    }
    const ms_change *since = walk->change;
    ms_walk_block(walk, node->kid[k]);
    ms_local_value_end_path(walk, since, &all.paths);
    all.out = ms_guard_or(&walk->guards, all.out, walk->guard, &all.exact);
  }
  walk->possible -= all.possible;
  walk->guard = all.rest;
  ms_flow_note_dead(walk, node, true);
  ms_local_value_end_path(walk, walk->change, &all.paths);
  bool met = ms_local_value_meet(walk, node, all.paths, !all.possible);
  end_if(walk, &all, walk->exits != exits || walk->breaks != breaks);
  bool through = walk->guard == all.entry || ms_guard_is_never(walk->guard);
  if (through && !met && walk->jump_count == jumps) walk->scope_count = scope;
}
