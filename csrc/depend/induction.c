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

#include "depend/piece.h"

/* What a local holds. It is good as long as no label was passed, and the inner variables
 * that it mentions are what they were. */
struct ms_held {
  ms_value value;
  uint32_t labels, scope_count;
  ms_inner scope[];
};

/* What was held before, for paths that part: see ms_walk_part_ways. */
struct ms_change {
  const ms_held **slot, *before;
  ms_change *previous;
};

static bool is_followed(const ms_symbol *symbol) {
  return symbol != NULL && symbol->assigned && !symbol->upvalue;
}

static void set(ms_walk *walk, const ms_held **slot, const ms_held *held) {
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

/* How many inner variables there must be for a value to have a meaning. */
static uint32_t scope_of(const ms_walk *walk, const ms_value *value) {
  bool constant = value->truth == &ms_truth_true || value->truth == &ms_truth_false;
  if (value->kind == MS_VALUE_SCALAR && value->pieces == NULL && constant) return 0;
  if (value->kind != MS_VALUE_NUMBER) return walk->scope_count;
  uint32_t count = MS_MAX_INNER;
  while (count > 0 && value->form.at[MS_MAX_DIMS + count - 1] == 0) count--;
  return count;
}

static const ms_held *hold(ms_walk *walk, const ms_value *value) {
  uint32_t count = scope_of(walk, value);
  ms_held *held = ms_arena_take(walk->arena, 1, sizeof *held + count * sizeof *held->scope);
  walk->failed = walk->failed || held == NULL;
  if (held == NULL) return NULL;
  held->value = *value;
  held->labels = walk->labels;
  held->scope_count = count;
  if (count > 0) memcpy(held->scope, walk->scope, count * sizeof *held->scope);
  return held;
}

static bool is_good(const ms_walk *walk, const ms_held *held) {
  if (held == NULL || held->labels != walk->labels) return false;
  if (held->scope_count > walk->scope_count) return false;
  for (uint32_t k = 0; k < held->scope_count; k++) {
    const ms_inner *then = &held->scope[k], *now = &walk->scope[k];
    if (memcmp(&then->low, &now->low, sizeof now->low) != 0) return false;
    if (memcmp(&then->high, &now->high, sizeof now->high) != 0) return false;
  }
  return true;
}

void ms_walk_hold(ms_walk *walk, const ms_symbol *symbol, const ms_value *value) {
  if (!is_followed(symbol)) return;
  bool known = value->kind == MS_VALUE_NUMBER || value->kind == MS_VALUE_VIEW ||
               value->pieces != NULL || (value->kind == MS_VALUE_SCALAR && value->truth != NULL);
  set(walk, &walk->held[symbol->index], known ? hold(walk, value) : NULL);
}

bool ms_walk_held(const ms_walk *walk, const ms_symbol *symbol, ms_value *value) {
  const ms_held *held = is_followed(symbol) ? walk->held[symbol->index] : NULL;
  if (!is_good(walk, held)) return false;
  *value = held->value;
  return true;
}

void ms_walk_part_ways(ms_walk *walk, const ms_change *since) {
  while (walk->change != since) {
    *walk->change->slot = walk->change->before;
    walk->change = walk->change->previous;
  }
}

/* ---- paths that meet ---- */

/* A path through an if: where it comes out, and what locals hold there that it has changed. */
typedef struct ms_path {
  const ms_guard *guard;
  struct kept {
    const ms_held **slot, *held;
    struct kept *next;
  } * kept;
  ms_path *next;
} ms_path;

static bool find_kept(const ms_path *path, const ms_held **slot, const ms_held **held) {
  for (const struct kept *each = path->kept; each != NULL; each = each->next) {
    if (each->slot != slot) continue;
    *held = each->held;
    return true;
  }
  return false;
}

void ms_walk_end_path(ms_walk *walk, const ms_change *since, ms_path **paths) {
  ms_path *path = ms_arena_take(walk->arena, 1, sizeof *path);
  walk->failed = walk->failed || path == NULL;
  if (path == NULL) return;
  *path = (ms_path){.guard = walk->guard, .next = *paths};
  *paths = path;
  for (const ms_change *each = walk->change; each != since; each = each->previous) {
    const ms_held *known;
    if (find_kept(path, each->slot, &known)) continue;
    struct kept *kept = ms_arena_take(walk->arena, 1, sizeof *kept);
    walk->failed = walk->failed || kept == NULL;
    if (kept == NULL) break;
    *kept = (struct kept){each->slot, *each->slot, path->kept};
    path->kept = kept;
  }
  ms_walk_part_ways(walk, since);
}

/* What a local holds where the paths have met; false if that is not known. */
static bool meet(ms_walk *walk, const ms_path *paths, const ms_held **slot, bool exact,
                 ms_value *value) {
  ms_collection made = ms_pieces_begin(walk);
  for (const ms_path *path = paths; path != NULL; path = path->next) {
    const ms_held *held = *slot;
    if (ms_guard_is_never(path->guard)) continue;
    find_kept(path, slot, &held);
    if (!is_good(walk, held)) return false;
    ms_pieces_add(&made, path->guard, &held->value, exact);
  }
  return ms_pieces_end(&made, value);
}

typedef struct ms_met {
  const ms_held **slot, *held;
  struct ms_met *next;
} ms_met;

bool ms_walk_meet(ms_walk *walk, ms_node *node, const ms_path *paths, bool exact) {
  ms_met *all = NULL;
  for (const ms_path *path = paths; path != NULL; path = path->next) {
    for (const struct kept *each = path->kept; each != NULL; each = each->next) {
      ms_value value;
      if (!meet(walk, paths, each->slot, exact, &value)) continue;
      ms_met *met = ms_arena_take(walk->arena, 1, sizeof *met);
      walk->failed = walk->failed || met == NULL;
      if (met == NULL) return false;
      *met = (ms_met){each->slot, hold(walk, &value), all};
      all = met;
    }
  }
  ms_walk_forget(walk, node);
  for (const ms_met *met = all; met != NULL; met = met->next) set(walk, met->slot, met->held);
  return all != NULL;
}

/* ---- what a loop or a branch assigns ---- */

static const ms_symbol *assigned_name(const ms_node *target) {
  return target->kind == MS_NAME && is_followed(target->symbol) ? target->symbol : NULL;
}

/* How many of a statement's first parts are assigned. */
static uint32_t targets_of(const ms_node *node) {
  return node->kind == MS_ASSIGN ? node->targets : node->kind == MS_SET_FUNCTION;
}

static bool forget_assigned(ms_node *node, void *context) {
  ms_walk *walk = context;
  if (node->kind == MS_FUNCTION) return false;
  for (uint32_t t = 0; t < targets_of(node); t++) {
    const ms_symbol *symbol = assigned_name(node->kid[t]);
    if (symbol != NULL) set(walk, &walk->held[symbol->index], NULL);
  }
  return true;
}

void ms_walk_forget(ms_walk *walk, ms_node *node) {
  ms_node_walk(node, forget_assigned, walk);
}

/* ---- induction ---- */

/* A local that a loop assigns: what is added in an iteration. */
typedef struct induction {
  ms_walk *walk;
  const ms_node *loop;
  const ms_symbol *symbol;
  size_t jumps_from, jumps_to; /* assignments between these may be jumped over, or repeated */
} induction;

static bool note_jump(ms_node *node, void *context) {
  induction *all = context;
  if (node->kind == MS_FUNCTION) return false;
  if (node->kind != MS_GOTO && node->kind != MS_LABEL) return true;
  if (all->jumps_to == 0) all->jumps_from = node->begin;
  all->jumps_to = node->end;
  return true;
}

static bool find_assignment(ms_node *node, void *context) {
  induction *of = context;
  if (node->kind == MS_FUNCTION || of->symbol == NULL) return false;
  for (uint32_t t = 0; t < targets_of(node); t++) {
    if (assigned_name(node->kid[t]) == of->symbol) of->symbol = NULL;
  }
  return true;
}

static bool assigns(const induction *all, ms_node *node) {
  induction search = *all;
  ms_node_walk(node, find_assignment, &search);
  return search.symbol == NULL;
}

static bool note_exit(ms_node *node, void *context) {
  bool *found = context;
  if (node->kind == MS_FUNCTION) return false;
  *found = *found || node->kind == MS_BREAK || node->kind == MS_RETURN || node->kind == MS_GOTO;
  return !*found;
}

static bool has_exit(ms_node *node) {
  bool found = false;
  ms_node_walk(node, note_exit, &found);
  return found;
}

/* Whether an expression can be evaluated before the loop: its names mean the same there. */
static bool is_settled(const induction *all, const ms_node *node) {
  switch (node->kind) {
    case MS_NUMBER:
      return true;
    case MS_NAME: {
      const ms_symbol *symbol = node->symbol;
      if (symbol == NULL) return true;
      const ms_node *made = symbol->declaration;
      return !symbol->assigned && (made == NULL || made->begin <= all->loop->begin);
    }
    case MS_PAREN:
    case MS_UNARY:
      return node->op != MS_OP_LEN && is_settled(all, node->kid[0]);
    case MS_BINARY:
      return (node->op == MS_OP_ADD || node->op == MS_OP_SUB || node->op == MS_OP_MUL) &&
             is_settled(all, node->kid[0]) && is_settled(all, node->kid[1]);
    default:
      return false;
  }
}

static bool number_of(const induction *all, ms_node *node, ms_form *form) {
  ms_value value;
  if (node == NULL) {
    *form = ms_form_of(1);
    return true;
  }
  if (!is_settled(all, node)) return false;
  ms_walk_value(all->walk, node, &value);
  *form = value.form;
  return value.kind == MS_VALUE_NUMBER;
}

/* a op b of numbers that may be one thing or another; false if that is not known. */
static bool combine(ms_walk *walk, ms_op op, const ms_value *a, const ms_value *b,
                    ms_value *result) {
  *result = ms_value_scalar();
  if (a->kind == MS_VALUE_NUMBER && b->kind == MS_VALUE_NUMBER) {
    ms_walk_operate(walk, op, a, b, result);
  } else if (!ms_pieces_operate(walk, op, a, b, result)) {
    return false;
  }
  return result->kind == MS_VALUE_NUMBER || result->pieces != NULL;
}

/* How often a loop runs between two ends: a constant, or with step 1 or -1 what is between them,
 * and 0 where that is less. */
static bool trips_of(ms_walk *walk, const ms_form *start, const ms_form *limit, const ms_form *step,
                     ms_value *trips) {
  ms_form length, last = ms_form_of(1);
  const ms_form zero = {0};
  if (!ms_form_is_constant(step) || step->constant == 0) return false;
  if (!ms_form_add(&length, limit, start, -1)) return false;
  if (ms_form_is_constant(&length)) {
    bool empty = step->constant > 0 ? length.constant < 0 : length.constant > 0;
    const ms_form count = ms_form_of(empty ? 0 : length.constant / step->constant + 1);
    *trips = ms_value_number(&count);
    return true;
  }
  if (step->constant != 1 && step->constant != -1) return false;
  if (!ms_form_add(&last, &last, &length, step->constant)) return false;
  const ms_value counts[2] = {ms_value_number(&zero), ms_value_number(&last)};
  return ms_pieces_extreme(walk, true, counts, 2, trips);
}

/* The constant that `p = p + c`, `p = c + p` or `p = p - c` adds. */
static bool added_by(const induction *all, ms_node *value, int64_t *sum) {
  while (value->kind == MS_PAREN) value = value->kid[0];
  if (value->kind != MS_BINARY || (value->op != MS_OP_ADD && value->op != MS_OP_SUB)) return false;
  ms_node *own = value->kid[0], *other = value->kid[1];
  if (value->op == MS_OP_ADD && (own->kind != MS_NAME || own->symbol != all->symbol)) {
    own = value->kid[1];
    other = value->kid[0];
  }
  ms_form form;
  if (own->kind != MS_NAME || own->symbol != all->symbol) return false;
  if (!number_of(all, other, &form) || !ms_form_is_constant(&form)) return false;
  *sum += value->op == MS_OP_ADD ? form.constant : -form.constant;
  return *sum <= MS_FORM_COEFFICIENT && *sum >= -MS_FORM_COEFFICIENT;
}

static bool added_by_block(const induction *all, ms_node *block, int64_t *sum);

/* By an assignment, which may have other targets. */
static bool added_by_assignment(const induction *all, ms_node *node, int64_t *sum) {
  uint32_t found = 0, at = 0;
  for (uint32_t t = 0; t < node->targets; t++) {
    if (assigned_name(node->kid[t]) != all->symbol) continue;
    found++;
    at = node->targets + t;
  }
  bool jumped = all->jumps_from < node->begin && node->begin < all->jumps_to;
  if (found != 1 || at >= node->kids || jumped) return false;
  return added_by(all, node->kid[at], sum);
}

static bool added_by_loop(const induction *all, ms_node *node, int64_t *sum) {
  ms_form start, limit, step;
  ms_value trips;
  int64_t each = 0, total;
  if (!number_of(all, node->kid[0], &start) || !number_of(all, node->kid[1], &limit)) return false;
  if (!number_of(all, node->kid[2], &step)) return false;
  if (!trips_of(all->walk, &start, &limit, &step, &trips)) return false;
  if (trips.kind != MS_VALUE_NUMBER || !ms_form_is_constant(&trips.form)) return false;
  if (has_exit(node->kid[3]) || !added_by_block(all, node->kid[3], &each)) return false;
  if (__builtin_mul_overflow(trips.form.constant, each, &total)) return false;
  if (__builtin_add_overflow(*sum, total, sum)) return false;
  return *sum <= MS_FORM_COEFFICIENT && *sum >= -MS_FORM_COEFFICIENT;
}

static bool added_by_block(const induction *all, ms_node *block, int64_t *sum) {
  for (uint32_t k = 0; k < block->kids; k++) {
    ms_node *node = block->kid[k];
    bool known = true;
    if (!assigns(all, node)) continue;
    if (node->kind == MS_ASSIGN) {
      known = added_by_assignment(all, node, sum);
    } else if (node->kind == MS_DO) {
      known = added_by_block(all, node->kid[0], sum);
    } else {
      known = node->kind == MS_FOR_NUMERIC && added_by_loop(all, node, sum);
    }
    if (!known) return false;
  }
  return true;
}

/* ---- numeric loops ---- */

/* A local that a loop assigns: what it holds after the loop. */
struct ms_after {
  const ms_symbol *symbol;
  bool known;
  ms_value value;
  ms_after *next;
};

static bool is_listed(const ms_after *list, const ms_symbol *symbol) {
  while (list != NULL && list->symbol != symbol) list = list->next;
  return list != NULL;
}

/* What the local holds in each iteration, if its first value is known, and after the last. */
static void begin_known(induction *all, ms_trips *trips, const ms_held *before, ms_after *after) {
  ms_walk *walk = all->walk;
  int64_t each = 0;
  all->symbol = after->symbol;
  if (!added_by_block(all, trips->loop->kid[3], &each)) return;
  const ms_form added = ms_form_of(each);
  const ms_value sum = ms_value_number(&added), number = ms_value_number(&trips->counter);
  ms_value counted, value;
  if (combine(walk, MS_OP_MUL, &number, &sum, &counted) &&
      combine(walk, MS_OP_ADD, &before->value, &counted, &value))
    set(walk, &walk->held[after->symbol->index], hold(walk, &value));
  after->known = trips->closed && combine(walk, MS_OP_MUL, &trips->count, &sum, &counted) &&
                 combine(walk, MS_OP_ADD, &before->value, &counted, &after->value);
}

static void begin_local(induction *all, ms_trips *trips, const ms_symbol *symbol) {
  ms_walk *walk = all->walk;
  if (is_listed(trips->after, symbol)) return;
  ms_after *after = ms_arena_take(walk->arena, 1, sizeof *after);
  walk->failed = walk->failed || after == NULL;
  if (after == NULL) return;
  *after = (ms_after){.symbol = symbol, .next = trips->after};
  trips->after = after;
  const ms_held *before = walk->held[symbol->index];
  set(walk, &walk->held[symbol->index], NULL);
  bool inside = symbol->declaration != NULL && symbol->declaration->begin > trips->loop->begin;
  bool number = is_good(walk, before) &&
                (before->value.kind == MS_VALUE_NUMBER || before->value.pieces != NULL);
  if (trips->counted && !inside && number) begin_known(all, trips, before, after);
}

typedef struct beginning {
  induction induction;
  ms_trips *trips;
} beginning;

static bool begin_assigned(ms_node *node, void *context) {
  beginning *begin = context;
  if (node->kind == MS_FUNCTION) return false;
  for (uint32_t t = 0; t < targets_of(node); t++) {
    const ms_symbol *symbol = assigned_name(node->kid[t]);
    if (symbol != NULL) begin_local(&begin->induction, begin->trips, symbol);
  }
  return true;
}

void ms_walk_begin_trips(ms_walk *walk, ms_trips *trips, const ms_value *ends) {
  beginning begin = {{.walk = walk, .loop = trips->loop}, trips};
  bool numbers = ends[0].kind == MS_VALUE_NUMBER && ends[1].kind == MS_VALUE_NUMBER &&
                 ends[2].kind == MS_VALUE_NUMBER;
  trips->closed = numbers && !has_exit(trips->loop->kid[3]) &&
                  trips_of(walk, &ends[0].form, &ends[1].form, &ends[2].form, &trips->count);
  ms_node_walk(trips->loop->kid[3], note_jump, &begin.induction);
  ms_node_walk(trips->loop->kid[3], begin_assigned, &begin);
}

bool ms_walk_end_trips(ms_walk *walk, const ms_trips *trips) {
  bool any = false;
  for (const ms_after *each = trips->after; each != NULL; each = each->next) {
    set(walk, &walk->held[each->symbol->index], each->known ? hold(walk, &each->value) : NULL);
    any = any || each->known;
  }
  return any;
}
