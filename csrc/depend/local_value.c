/* SPDX-License-Identifier: MIT
 *
 * Walk, locals that are assigned: the affine number that each holds where control is. See walk.h.
 *
 * An assignment in straight code gives the local its new value, what may or may not be executed
 * takes it away. Where an inner loop adds the same constant in each of its iterations (`p = p + 1`,
 * also in loops of constant length inside of it), the local is its value before the loop plus that
 * constant times the number of the iteration: an induction variable. After the loop it is known,
 * too, where the number of iterations is a sum of indices, or 0 where that is less. Locals that
 * functions of the body share are not followed: these may run at any time. */
#include <string.h>

#include "depend/induction.h"
#include "depend/local_value.h"
#include "depend/piece.h"

/* What a local holds. It is good as long as no label was passed, and the inner variables
 * that it mentions are what they were. */
struct ms_local_value {
  ms_abstract_value value;
  uint32_t labels, scope_count;
  ms_inner scope[];
};

/* What was held before, for paths that part: see ms_walk_part_ways. */
struct ms_change {
  const ms_local_value **slot, *before;
  ms_change *previous;
};

static void set(ms_walk *walk, const ms_local_value **slot, const ms_local_value *held) {
  if (*slot == held) return;
  ms_change *change = ms_arena_take(walk->arena, 1, sizeof *change);
  if (change == NULL) {
    walk->failed = true;
    *slot = NULL;
    return;
  }
  *change = (ms_change){slot, *slot, walk->change};
  walk->change = change;
  *slot = held;
}

static uint32_t scope_of_form(const ms_form *form) {
  uint32_t count = MS_MAX_INNER;
  while (count > 0 && form->at[MS_MAX_DIMS + count - 1] == 0) count--;
  return count;
}

/* How many inner variables there must be for a value to have a meaning. */
static uint32_t scope_of(const ms_walk *walk, const ms_abstract_value *value) {
  bool constant = value->truth == &ms_truth_true || value->truth == &ms_truth_false;
  const ms_quadratic *number = value->quadratic;
  if (number != NULL) {
    uint32_t root = scope_of_form(&number->root), rest = scope_of_form(&number->rest);
    return root > rest ? root : rest;
  }
  if (value->kind == MS_ABSTRACT_VALUE_SCALAR && value->pieces == NULL && constant) return 0;
  return value->kind == MS_ABSTRACT_VALUE_NUMBER ? scope_of_form(&value->form) : walk->scope_count;
}

static const ms_local_value *hold(ms_walk *walk, const ms_abstract_value *value) {
  uint32_t count = scope_of(walk, value);
  ms_local_value *held = ms_arena_take(walk->arena, 1, sizeof *held + count * sizeof *held->scope);
  walk->failed = walk->failed || held == NULL;
  if (held == NULL) return NULL;
  held->value = *value;
  held->labels = walk->labels;
  held->scope_count = count;
  if (count > 0) memcpy(held->scope, walk->scope, count * sizeof *held->scope);
  return held;
}

static bool is_good(const ms_walk *walk, const ms_local_value *held) {
  if (held == NULL || held->labels != walk->labels) return false;
  if (held->scope_count > walk->scope_count) return false;
  for (uint32_t k = 0; k < held->scope_count; k++) {
    const ms_inner *then = &held->scope[k], *now = &walk->scope[k];
    if (memcmp(&then->low, &now->low, sizeof now->low) != 0) return false;
    if (memcmp(&then->high, &now->high, sizeof now->high) != 0) return false;
  }
  return true;
}

void ms_local_value_hold(ms_walk *walk, const ms_symbol *symbol, const ms_abstract_value *value) {
  if (!ms_induction_follows(symbol)) return;
  bool known = value->kind == MS_ABSTRACT_VALUE_NUMBER || value->kind == MS_ABSTRACT_VALUE_VIEW ||
               value->pieces != NULL ||
               (value->kind == MS_ABSTRACT_VALUE_SCALAR && value->truth != NULL);
  set(walk, &walk->held[symbol->index], known ? hold(walk, value) : NULL);
}

bool ms_local_value_held(const ms_walk *walk, const ms_symbol *symbol, ms_abstract_value *value) {
  const ms_local_value *held = ms_induction_follows(symbol) ? walk->held[symbol->index] : NULL;
  if (!is_good(walk, held)) return false;
  *value = held->value;
  return true;
}

static void part_ways(ms_walk *walk, const ms_change *since) {
  while (walk->change != since) {
    *walk->change->slot = walk->change->before;
    walk->change = walk->change->previous;
  }
}

/* ---- paths that meet ---- */

/* A path through an if: where it comes out, and what locals hold there that it has changed. */
typedef struct ms_branch_path {
  const ms_guard *guard;
  struct kept {
    const ms_local_value **slot, *held;
    struct kept *next;
  } * kept;
  ms_branch_path *next;
} ms_branch_path;

static bool find_kept(const ms_branch_path *path, const ms_local_value **slot,
                      const ms_local_value **held) {
  for (const struct kept *each = path->kept; each != NULL; each = each->next) {
    if (each->slot != slot) continue;
    *held = each->held;
    return true;
  }
  return false;
}

void ms_local_value_end_path(ms_walk *walk, const ms_change *since, ms_branch_path **paths) {
  ms_branch_path *path = ms_arena_take(walk->arena, 1, sizeof *path);
  walk->failed = walk->failed || path == NULL;
  if (path == NULL) return;
  *path = (ms_branch_path){.guard = walk->guard, .next = *paths};
  *paths = path;
  for (const ms_change *each = walk->change; each != since; each = each->previous) {
    const ms_local_value *known;
    if (find_kept(path, each->slot, &known)) continue;
    struct kept *kept = ms_arena_take(walk->arena, 1, sizeof *kept);
    walk->failed = walk->failed || kept == NULL;
    if (kept == NULL) break;
    *kept = (struct kept){each->slot, *each->slot, path->kept};
    path->kept = kept;
  }
  part_ways(walk, since);
}

/* What a local holds where the paths have met; false if that is not known. */
static bool meet(ms_walk *walk, const ms_branch_path *paths, const ms_local_value **slot,
                 bool exact, ms_abstract_value *value) {
  ms_collection made = ms_pieces_begin(walk);
  for (const ms_branch_path *path = paths; path != NULL; path = path->next) {
    const ms_local_value *held = *slot;
    if (ms_guard_is_never(path->guard)) continue;
    find_kept(path, slot, &held);
    if (!is_good(walk, held)) return false;
    ms_pieces_add(&made, path->guard, &held->value, exact);
  }
  return ms_pieces_end(&made, value);
}

typedef struct met_local {
  const ms_local_value **slot, *held;
  struct met_local *next;
} met_local;

bool ms_local_value_meet(ms_walk *walk, ms_node *node, const ms_branch_path *paths, bool exact) {
  met_local *all = NULL;
  for (const ms_branch_path *path = paths; path != NULL; path = path->next) {
    for (const struct kept *each = path->kept; each != NULL; each = each->next) {
      ms_abstract_value value;
      if (!meet(walk, paths, each->slot, exact, &value)) continue;
      met_local *met = ms_arena_take(walk->arena, 1, sizeof *met);
      walk->failed = walk->failed || met == NULL;
      if (met == NULL) return false;
      *met = (met_local){each->slot, hold(walk, &value), all};
      all = met;
    }
  }
  ms_local_value_forget(walk, node);
  for (const met_local *met = all; met != NULL; met = met->next) set(walk, met->slot, met->held);
  return all != NULL;
}

/* ---- what a loop or a branch assigns ---- */

static bool forget_assigned(ms_node *node, void *context) {
  ms_walk *walk = context;
  if (node->kind == MS_FUNCTION) return false;
  for (uint32_t t = 0; t < ms_induction_targets(node); t++) {
    const ms_symbol *symbol = ms_induction_assigned(node->kid[t]);
    if (symbol != NULL) set(walk, &walk->held[symbol->index], NULL);
  }
  return true;
}

void ms_local_value_forget(ms_walk *walk, ms_node *node) {
  ms_node_walk(node, forget_assigned, walk);
}

/* ---- numeric loops ---- */

/* A local that a loop assigns: what it holds after the loop. */
struct ms_after {
  const ms_symbol *symbol;
  bool known;
  ms_abstract_value value;
  ms_after *next;
};

static bool is_outside(const ms_symbol *symbol, const ms_node *loop) {
  return symbol->declaration == NULL || symbol->declaration->begin <= loop->begin;
}

static bool is_listed(const ms_after *list, const ms_symbol *symbol) {
  while (list != NULL && list->symbol != symbol) list = list->next;
  return list != NULL;
}

/* What the local holds in each iteration, if its first value is known, and after the last. */
static void begin_known(ms_induction *all, ms_trips *trips, const ms_local_value *before,
                        ms_after *after) {
  ms_walk *walk = all->walk;
  int64_t each = 0;
  all->symbol = after->symbol;
  if (!ms_induction_adds(all, trips->loop->kid[3], &each)) return;
  const ms_form added = ms_form_constant(each);
  const ms_abstract_value sum = ms_abstract_value_number(&added),
                          number = ms_abstract_value_number(&trips->counter);
  ms_abstract_value counted, value;
  if (ms_induction_combine(walk, MS_OP_MUL, &number, &sum, &counted) &&
      ms_induction_combine(walk, MS_OP_ADD, &before->value, &counted, &value))
    set(walk, &walk->held[after->symbol->index], hold(walk, &value));
  after->known = trips->closed &&
                 ms_induction_combine(walk, MS_OP_MUL, &trips->count, &sum, &counted) &&
                 ms_induction_combine(walk, MS_OP_ADD, &before->value, &counted, &after->value);
}

static void begin_local(ms_induction *all, ms_trips *trips, const ms_symbol *symbol) {
  ms_walk *walk = all->walk;
  if (is_listed(trips->after, symbol)) return;
  ms_after *after = ms_arena_take(walk->arena, 1, sizeof *after);
  walk->failed = walk->failed || after == NULL;
  if (after == NULL) return;
  *after = (ms_after){.symbol = symbol, .next = trips->after};
  trips->after = after;
  const ms_local_value *before = walk->held[symbol->index];
  set(walk, &walk->held[symbol->index], NULL);
  bool outside = is_outside(symbol, trips->loop);
  bool number = is_good(walk, before) &&
                (ms_abstract_value_is_number(&before->value) || before->value.pieces != NULL);
  if (trips->counted && outside && number) begin_known(all, trips, before, after);
}

typedef struct beginning {
  ms_induction counter;
  ms_trips *trips;
} beginning;

static bool begin_assigned(ms_node *node, void *context) {
  beginning *begin = context;
  if (node->kind == MS_FUNCTION) return false;
  for (uint32_t t = 0; t < ms_induction_targets(node); t++) {
    const ms_symbol *symbol = ms_induction_assigned(node->kid[t]);
    if (symbol != NULL) begin_local(&begin->counter, begin->trips, symbol);
  }
  return true;
}

/* Looks for an assignment to a local from outside of the loop. */
typedef struct outer {
  const ms_node *loop;
  bool found;
} outer;

static bool find_outer(ms_node *node, void *context) {
  outer *look = context;
  if (node->kind == MS_FUNCTION) return false;
  for (uint32_t t = 0; t < ms_induction_targets(node); t++) {
    const ms_symbol *symbol = ms_induction_assigned(node->kid[t]);
    look->found = look->found || (symbol != NULL && is_outside(symbol, look->loop));
  }
  return !look->found;
}

void ms_trips_count(ms_walk *walk, ms_trips *trips, const ms_abstract_value *ends) {
  outer look = {trips->loop, false};
  ms_node_walk(trips->loop->kid[3], find_outer, &look);
  bool numbers = ends[0].kind == MS_ABSTRACT_VALUE_NUMBER &&
                 ends[1].kind == MS_ABSTRACT_VALUE_NUMBER &&
                 ends[2].kind == MS_ABSTRACT_VALUE_NUMBER;
  trips->closed =
      numbers && look.found && !ms_induction_has_exit(trips->loop->kid[3]) &&
      ms_induction_trips(walk, &ends[0].form, &ends[1].form, &ends[2].form, &trips->count);
}

void ms_trips_begin(ms_walk *walk, ms_trips *trips) {
  beginning begin = {{.walk = walk, .loop = trips->loop}, trips};
  ms_induction_note_jumps(&begin.counter);
  ms_node_walk(trips->loop->kid[3], begin_assigned, &begin);
}

bool ms_trips_end(ms_walk *walk, const ms_trips *trips) {
  bool any = false;
  for (const ms_after *each = trips->after; each != NULL; each = each->next) {
    set(walk, &walk->held[each->symbol->index], each->known ? hold(walk, &each->value) : NULL);
    any = any || each->known;
  }
  return any;
}
