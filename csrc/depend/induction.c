/* SPDX-License-Identifier: MIT
 *
 * Induction variables: see induction.h. */
#include "depend/induction.h"

#include "depend/arithmetic.h"
#include "depend/evaluate.h"
#include "depend/piece.h"
#include "depend/subscript.h"

bool ms_induction_follows(const ms_symbol *symbol) {
  return symbol != NULL && symbol->assigned && !symbol->upvalue;
}

const ms_symbol *ms_induction_assigned(const ms_node *target) {
  return target->kind == MS_NAME && ms_induction_follows(target->symbol) ? target->symbol : NULL;
}

/* How many of a statement's first parts are assigned. */
uint32_t ms_induction_targets(const ms_node *node) {
  return node->kind == MS_ASSIGN ? node->targets : node->kind == MS_SET_FUNCTION;
}

static bool note_jump(ms_node *node, void *context) {
  ms_induction *all = context;
  if (node->kind == MS_FUNCTION) return false;
  if (node->kind != MS_GOTO && node->kind != MS_LABEL) return true;
  if (all->jumps_to == 0) all->jumps_from = node->begin;
  all->jumps_to = node->end;
  return true;
}

void ms_induction_note_jumps(ms_induction *all) {
  ms_node_walk(all->loop->kid[3], note_jump, all);
}

static bool find_assignment(ms_node *node, void *context) {
  ms_induction *of = context;
  if (node->kind == MS_FUNCTION || of->symbol == NULL) return false;
  for (uint32_t t = 0; t < ms_induction_targets(node); t++) {
    if (ms_induction_assigned(node->kid[t]) == of->symbol) of->symbol = NULL;
  }
  return true;
}

static bool assigns(const ms_induction *all, ms_node *node) {
  ms_induction search = *all;
  ms_node_walk(node, find_assignment, &search);
  return search.symbol == NULL;
}

static bool note_exit(ms_node *node, void *context) {
  bool *found = context;
  if (node->kind == MS_FUNCTION) return false;
  *found = *found || node->kind == MS_BREAK || node->kind == MS_RETURN || node->kind == MS_GOTO;
  return !*found;
}

bool ms_induction_has_exit(ms_node *node) {
  bool found = false;
  ms_node_walk(node, note_exit, &found);
  return found;
}

/* Whether an expression can be evaluated before the loop: its names mean the same there. */
static bool is_settled(const ms_induction *all, const ms_node *node) {
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

static bool number_of(const ms_induction *all, ms_node *node, ms_form *form) {
  ms_abstract_value value;
  if (node == NULL) {
    *form = ms_form_constant(1);
    return true;
  }
  if (!is_settled(all, node)) return false;
  ms_evaluate(all->walk, node, &value);
  *form = value.form;
  return value.kind == MS_ABSTRACT_VALUE_NUMBER;
}

bool ms_induction_combine(ms_walk *walk, ms_op op, const ms_abstract_value *a,
                          const ms_abstract_value *b, ms_abstract_value *result) {
  *result = ms_abstract_value_scalar();
  if (ms_abstract_value_is_number(a) && ms_abstract_value_is_number(b)) {
    ms_arithmetic_operate(walk, op, a, b, result);
  } else if (!ms_pieces_operate(walk, op, a, b, result)) {
    return false;
  }
  return ms_abstract_value_is_number(result) || result->pieces != NULL;
}

bool ms_induction_trips(ms_walk *walk, const ms_form *start, const ms_form *limit,
                        const ms_form *step, ms_abstract_value *trips) {
  ms_form length, last = ms_form_constant(1);
  if (!ms_form_is_constant(step) || step->constant == 0) return false;
  if (!ms_form_add(&length, limit, start, -1)) return false;
  if (ms_form_is_constant(&length)) {
    bool empty = step->constant > 0 ? length.constant < 0 : length.constant > 0;
    const ms_form count = ms_form_constant(empty ? 0 : length.constant / step->constant + 1);
    *trips = ms_abstract_value_number(&count);
    return true;
  }
  int64_t sign = step->constant > 0 ? 1 : -1, size = sign * step->constant;
  const ms_form zero = {0};
  if (size > MS_FORM_COEFFICIENT || !ms_form_add(&length, &zero, &length, sign)) return false;
  if (size > 1 && !ms_subscript_floor(walk, &length, size, &length)) return false;
  if (!ms_form_add(&last, &last, &length, 1)) return false;
  const ms_abstract_value counts[2] = {ms_abstract_value_number(&zero),
                                       ms_abstract_value_number(&last)};
  return ms_pieces_extreme(walk, true, counts, 2, trips);
}

/* The constant that `p = p + c`, `p = c + p` or `p = p - c` adds. */
static bool added_by(const ms_induction *all, ms_node *value, int64_t *sum) {
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

/* By an assignment, which may have other targets. */
static bool added_by_assignment(const ms_induction *all, ms_node *node, int64_t *sum) {
  uint32_t found = 0, at = 0;
  for (uint32_t t = 0; t < node->targets; t++) {
    if (ms_induction_assigned(node->kid[t]) != all->symbol) continue;
    found++;
    at = node->targets + t;
  }
  bool jumped = all->jumps_from < node->begin && node->begin < all->jumps_to;
  if (found != 1 || at >= node->kids || jumped) return false;
  return added_by(all, node->kid[at], sum);
}

static bool added_by_loop(const ms_induction *all, ms_node *node, int64_t *sum) {
  ms_form start, limit, step, length;
  ms_abstract_value trips;
  int64_t each = 0, total;
  if (!number_of(all, node->kid[0], &start) || !number_of(all, node->kid[1], &limit)) return false;
  if (!number_of(all, node->kid[2], &step)) return false;
  if (!ms_form_add(&length, &limit, &start, -1) || !ms_form_is_constant(&length)) return false;
  if (!ms_induction_trips(all->walk, &start, &limit, &step, &trips)) return false;
  if (ms_induction_has_exit(node->kid[3]) || !ms_induction_adds(all, node->kid[3], &each))
    return false;
  if (__builtin_mul_overflow(trips.form.constant, each, &total)) return false;
  if (__builtin_add_overflow(*sum, total, sum)) return false;
  return *sum <= MS_FORM_COEFFICIENT && *sum >= -MS_FORM_COEFFICIENT;
}

bool ms_induction_adds(const ms_induction *all, ms_node *block, int64_t *sum) {
  for (uint32_t k = 0; k < block->kids; k++) {
    ms_node *node = block->kid[k];
    bool known = true;
    if (!assigns(all, node)) continue;
    if (node->kind == MS_ASSIGN) {
      known = added_by_assignment(all, node, sum);
    } else if (node->kind == MS_DO) {
      known = ms_induction_adds(all, node->kid[0], sum);
    } else {
      known = node->kind == MS_FOR_NUMERIC && added_by_loop(all, node, sum);
    }
    if (!known) return false;
  }
  return true;
}
