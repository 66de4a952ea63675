/* SPDX-License-Identifier: MIT
 *
 * Pieces: see piece.h. */
#include "depend/piece.h"
#include "depend/arithmetic.h"
#include "depend/condition.h"
#include "depend/footprint.h"
#include "depend/variable_value.h"

ms_collection ms_pieces_begin(ms_walk *walk) {
  return (ms_collection){.walk = walk, .fits = true, .all = {.exact = true}};
}

static void add_piece(ms_collection *made, const ms_guard *when, const ms_abstract_value *value) {
  ms_pieces *all = &made->all;
  if (ms_guard_is_never(when)) return;
  if (all->count == MS_MAX_PIECES) {
    made->fits = false;
    return;
  }
  all->piece[all->count++] = (ms_piece){when, *value};
}

void ms_pieces_add(ms_collection *made, const ms_guard *when, const ms_abstract_value *value,
                   bool exact) {
  ms_guards *make = &made->walk->guards;
  const ms_pieces parts = ms_pieces_of(value);
  made->all.exact = made->all.exact && exact && parts.exact;
  for (uint32_t p = 0; p < parts.count; p++) {
    const ms_guard *both = ms_guard_and(make, when, parts.piece[p].when, &made->all.exact);
    add_piece(made, both, &parts.piece[p].value);
  }
}

/* When any of the pieces is true, or is not. */
static const ms_truth *truth_of(ms_walk *walk, const ms_pieces *all) {
  ms_truth truth = {&ms_guard_never, &ms_guard_never, all->exact};
  for (uint32_t p = 0; p < all->count; p++) {
    const ms_truth *own = ms_abstract_value_truth(&all->piece[p].value);
    ms_guards *make = &walk->guards;
    bool *exact = &truth.exact;
    const ms_guard *yes = ms_guard_and(make, all->piece[p].when, own->yes, exact);
    const ms_guard *no = ms_guard_and(make, all->piece[p].when, own->no, exact);
    truth.yes = ms_guard_or(make, truth.yes, yes, exact);
    truth.no = ms_guard_or(make, truth.no, no, exact);
    truth.exact = truth.exact && own->exact;
  }
  return ms_condition_keep(walk, &truth);
}

bool ms_pieces_end(const ms_collection *made, ms_abstract_value *value) {
  ms_walk *walk = made->walk;
  const ms_pieces *all = &made->all;
  if (!made->fits || all->count == 0) return false;
  if (all->count == 1 && all->exact) {
    *value = all->piece[0].value;
    return true;
  }
  ms_abstract_value any = all->piece[0].value;
  for (uint32_t p = 1; p < all->count; p++)
    any = ms_variable_value_either(walk, &any, &all->piece[p].value);
  if (any.kind == MS_ABSTRACT_VALUE_NUMBER) any = ms_abstract_value_scalar();
  if (any.kind == MS_ABSTRACT_VALUE_VIEW)
    any = ms_abstract_value_other(ms_footprint_groups(walk, &any), false);
  ms_pieces *kept = ms_arena_take(walk->arena, 1, sizeof *kept);
  walk->failed = walk->failed || kept == NULL;
  if (kept == NULL) return false;
  *kept = *all;
  *value = any;
  value->pieces = kept;
  value->truth = truth_of(walk, kept);
  return true;
}

ms_pieces ms_pieces_of(const ms_abstract_value *value) {
  if (value->pieces != NULL) return *value->pieces;
  return (ms_pieces){.count = 1, .exact = true, .piece = {{&ms_guard_always, *value}}};
}

ms_outside_piece ms_piece_enter(ms_walk *walk, const ms_pieces *all, uint32_t p) {
  bool exact = all->exact;
  const ms_guard *guard = walk->guard;
  walk->guard = ms_guard_and(&walk->guards, guard, all->piece[p].when, &exact);
  walk->possible += !exact;
  return (ms_outside_piece){guard, !exact};
}

void ms_piece_leave(ms_walk *walk, const ms_outside_piece *outside) {
  walk->guard = outside->guard;
  walk->possible -= outside->possible;
}

/* ---- numbers ---- */

static bool are_affine(const ms_pieces *all) {
  for (uint32_t p = 0; p < all->count; p++) {
    if (all->piece[p].value.kind != MS_ABSTRACT_VALUE_NUMBER) return false;
  }
  return true;
}

static bool are_numbers(const ms_pieces *all) {
  for (uint32_t p = 0; p < all->count; p++) {
    if (!ms_abstract_value_is_number(&all->piece[p].value)) return false;
  }
  return true;
}

bool ms_pieces_operate(ms_walk *walk, ms_op op, const ms_abstract_value *left,
                       const ms_abstract_value *right, ms_abstract_value *value) {
  if (left->pieces == NULL && right->pieces == NULL) return false;
  const ms_pieces a = ms_pieces_of(left), b = ms_pieces_of(right);
  if (!are_numbers(&a) || !are_numbers(&b)) return false;
  ms_collection made = ms_pieces_begin(walk);
  for (uint32_t m = 0; m < a.count; m++) {
    for (uint32_t n = 0; n < b.count; n++) {
      bool exact = a.exact && b.exact;
      ms_abstract_value each = ms_abstract_value_scalar();
      const ms_guard *when = ms_guard_and(&walk->guards, a.piece[m].when, b.piece[n].when, &exact);
      if (ms_guard_is_never(when)) continue;
      ms_arithmetic_operate(walk, op, &a.piece[m].value, &b.piece[n].value, &each);
      ms_pieces_add(&made, when, &each, exact);
    }
  }
  return ms_pieces_end(&made, value);
}

bool ms_pieces_extreme(ms_walk *walk, bool greatest, const ms_abstract_value *values,
                       uint32_t count, ms_abstract_value *value) {
  if (count == 0) return false;
  ms_abstract_value most = values[0];
  ms_extremity which = greatest ? MS_GREATEST : MS_LEAST;
  bool plain = true;
  for (uint32_t k = 0; k < count; k++) {
    const ms_pieces parts = ms_pieces_of(&values[k]);
    ms_abstract_value beyond = ms_abstract_value_scalar();
    if (!are_affine(&parts)) return false;
    plain = plain && (parts.count == 1 || parts.extremity == which);
    if (k == 0) continue;
    ms_collection made = ms_pieces_begin(walk);
    if (!ms_pieces_operate(walk, MS_OP_GT, greatest ? &values[k] : &most,
                           greatest ? &most : &values[k], &beyond))
      ms_arithmetic_operate(walk, MS_OP_GT, greatest ? &values[k] : &most,
                            greatest ? &most : &values[k], &beyond);
    const ms_truth *truth = ms_abstract_value_truth(&beyond);
    ms_pieces_add(&made, truth->yes, &values[k], truth->exact);
    ms_pieces_add(&made, truth->no, &most, truth->exact);
    if (plain) made.all.extremity = which;
    if (!ms_pieces_end(&made, &most)) return false;
  }
  *value = most;
  return true;
}

/* ---- results of functions ---- */

void ms_returns_begin(ms_walk *walk, ms_returns *returns) {
  *returns = (ms_returns){walk->returns, walk->possible, true, ms_pieces_begin(walk)};
  walk->returns = returns;
}

void ms_returns_add(ms_walk *walk, const ms_node *node, const ms_abstract_value *value) {
  ms_returns *returns = walk->returns;
  if (ms_guard_is_never(walk->guard)) return;
  returns->known = returns->known && node->kids == 1 && walk->loops == 0;
  if (returns->known)
    ms_pieces_add(&returns->made, walk->guard, value, walk->possible == returns->possible);
}

bool ms_returns_end(ms_walk *walk, ms_abstract_value *value) {
  const ms_returns *returns = walk->returns;
  walk->returns = returns->outer;
  if (!returns->known || !ms_guard_is_never(walk->guard)) return false;
  return ms_pieces_end(&returns->made, value);
}
