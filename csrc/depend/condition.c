/* SPDX-License-Identifier: MIT
 *
 * Walk, conditions: when values are true. See condition.h and guard.h.
 *
 * Comparisons of affine numbers are exact, and so is what and, or and not make of exact ones. Of
 * `a and b` with an unknown b it is known that b is met only where a is true. */
#include "depend/condition.h"
#include "depend/evaluate.h"
#include "depend/flow.h"
#include "depend/piece.h"
#include "depend/variable_value.h"

const ms_truth *ms_condition_keep(ms_walk *walk, const ms_truth *truth) {
  ms_truth *kept = ms_arena_take(walk->arena, 1, sizeof *kept);
  walk->failed = walk->failed || kept == NULL;
  if (kept == NULL) return &ms_truth_unknown;
  *kept = *truth;
  return kept;
}

const ms_truth *ms_condition_not(ms_walk *walk, const ms_truth *truth) {
  if (truth == &ms_truth_unknown) return NULL;
  const ms_truth other = {truth->no, truth->yes, truth->exact};
  return ms_condition_keep(walk, &other);
}

/* Where scale * form + plus >= 0. */
static const ms_guard *at_least(ms_walk *walk, const ms_form *form, int64_t scale, int64_t plus) {
  const ms_form zero = {0};
  ms_form scaled;
  if (!ms_form_add(&scaled, &zero, form, scale)) return NULL;
  scaled.constant += plus;
  return ms_guard_of(&walk->guards, &scaled);
}

/* left < right (or <=), of their difference left - right. */
static ms_truth compare_order(ms_walk *walk, const ms_form *difference, bool equal) {
  return (ms_truth){at_least(walk, difference, -1, equal ? 0 : -1),
                    at_least(walk, difference, 1, equal ? -1 : 0), true};
}

static ms_truth compare_equal(ms_walk *walk, const ms_form *difference) {
  ms_truth truth = {NULL, NULL, true};
  const ms_guard *below = at_least(walk, difference, -1, -1);
  const ms_guard *above = at_least(walk, difference, 1, -1);
  const ms_guard *to = at_least(walk, difference, -1, 0), *from = at_least(walk, difference, 1, 0);
  if (below == NULL || above == NULL || to == NULL || from == NULL) return truth;
  truth.yes = ms_guard_and(&walk->guards, to, from, &truth.exact);
  truth.no = ms_guard_or(&walk->guards, below, above, &truth.exact);
  return truth;
}

bool ms_condition_compare(ms_walk *walk, ms_op op, const ms_abstract_value *left,
                          const ms_abstract_value *right, ms_abstract_value *value) {
  if (op < MS_OP_EQ || op > MS_OP_GE) return false;
  bool swapped = op == MS_OP_GT || op == MS_OP_GE;
  const ms_abstract_value *less = swapped ? right : left, *more = swapped ? left : right;
  ms_form difference;
  *value = ms_abstract_value_scalar();
  if (!ms_form_add(&difference, &less->form, &more->form, -1)) return true;
  bool equality = op == MS_OP_EQ || op == MS_OP_NE;
  ms_truth truth = equality ? compare_equal(walk, &difference)
                            : compare_order(walk, &difference, op == MS_OP_LE || op == MS_OP_GE);
  if (truth.yes == NULL || truth.no == NULL) return true;
  value->truth = ms_condition_keep(walk, &truth);
  if (op == MS_OP_NE) value->truth = ms_condition_not(walk, value->truth);
  return true;
}

/* When `a and b` is true, or `a or b`. */
static const ms_truth *logic_truth(ms_walk *walk, bool both, const ms_truth *a, const ms_truth *b) {
  if (a == &ms_truth_unknown && b == &ms_truth_unknown) return NULL;
  ms_guards *make = &walk->guards;
  ms_truth truth = {.exact = a->exact && b->exact};
  if (both) {
    truth.yes = ms_guard_and(make, a->yes, b->yes, &truth.exact);
    truth.no = ms_guard_or(make, a->no, b->no, &truth.exact);
  } else {
    truth.yes = ms_guard_or(make, a->yes, b->yes, &truth.exact);
    truth.no = ms_guard_and(make, a->no, b->no, &truth.exact);
  }
  return ms_condition_keep(walk, &truth);
}

/* Whether a value tells more by its pieces than that it is a number, or one of some arrays. */
static bool is_piece(const ms_abstract_value *value) {
  return value->kind == MS_ABSTRACT_VALUE_NUMBER || value->kind == MS_ABSTRACT_VALUE_VIEW ||
         value->pieces != NULL;
}

/* Adds the pieces of an operand where it is true, or those where it is not. */
static void add_where(ms_collection *made, const ms_abstract_value *value, bool yes) {
  const ms_pieces all = ms_pieces_of(value);
  for (uint32_t p = 0; p < all.count; p++) {
    bool exact = all.exact;
    ms_abstract_value each = all.piece[p].value;
    const ms_truth *truth = ms_abstract_value_truth(&each);
    const ms_guard *when =
        ms_guard_and(&made->walk->guards, all.piece[p].when, yes ? truth->yes : truth->no, &exact);
    if (each.kind == MS_ABSTRACT_VALUE_SCALAR) each.truth = yes ? &ms_truth_true : &ms_truth_false;
    ms_pieces_add(made, when, &each, exact && truth->exact);
  }
}

/* `left and right`, or `left or right`, with what is known of their values. */
static bool logic_pieces(ms_walk *walk, bool both, const ms_abstract_value *left,
                         const ms_abstract_value *right, ms_abstract_value *value) {
  const ms_truth *truth = ms_abstract_value_truth(left);
  if (!is_piece(left) && !is_piece(right)) return false;
  ms_collection made = ms_pieces_begin(walk);
  ms_pieces_add(&made, both ? truth->yes : truth->no, right, truth->exact);
  add_where(&made, left, !both);
  return ms_pieces_end(&made, value);
}

void ms_condition_logic(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  ms_abstract_value left, right;
  bool both = node->op == MS_OP_AND, exact = true;
  ms_evaluate(walk, node->kid[0], &left);
  const ms_truth *truth = ms_abstract_value_truth(&left);
  const ms_guard *guard = walk->guard, *on = both ? truth->yes : truth->no;
  walk->guard = ms_guard_and(&walk->guards, guard, on, &exact);
  exact = exact && truth->exact;
  walk->possible += !exact;
  ms_flow_note_dead(walk, node->kid[1], false);
  ms_evaluate(walk, node->kid[1], &right);
  walk->possible -= !exact;
  walk->guard = guard;
  if (logic_pieces(walk, both, &left, &right, value)) return;
  *value = ms_variable_value_either(walk, &left, &right);
  value->truth = logic_truth(walk, both, truth, ms_abstract_value_truth(&right));
}
