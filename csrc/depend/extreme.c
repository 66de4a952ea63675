/* SPDX-License-Identifier: MIT
 *
 * Extremes: see extreme.h. */
#include "depend/extreme.h"

#include <string.h>

#include "depend/branch_gate.h"
#include "depend/capture_path.h"
#include "depend/effect.h"
#include "depend/pure.h"
#include "depend/tie.h"
#include "depend/truthy.h"

const char *ms_tally_builtin(const ms_tally *all, const ms_node *node) {
  int64_t capture = ms_capture_path_of(all->loop, node);
  if (capture < 0 || all->walk->bindings[capture].kind != MS_BIND_BUILTIN) return NULL;
  return all->walk->bindings[capture].name;
}

/* ---- values ---- */

/* Looks for a function that assigns a local which is declared outside of it. */
typedef struct sharing {
  const ms_symbol *symbol;
  bool found;
} sharing;

static bool look_for_sharing(ms_node *node, void *context) {
  sharing *look = context;
  uint32_t targets = node->kind == MS_ASSIGN ? node->targets : node->kind == MS_SET_FUNCTION;
  for (uint32_t t = 0; t < targets; t++) {
    const ms_node *outer = node;
    if (node->kid[t]->symbol != look->symbol) continue;
    while (outer != NULL && outer->kind != MS_FUNCTION) outer = outer->parent;
    const ms_function *within = outer != NULL ? outer->function : NULL;
    look->found = look->found || (outer != NULL && within != look->symbol->function);
  }
  return !look->found;
}

/* Whether what is evaluated in between may assign a local: a function of the body does. */
static bool may_change(const ms_tally *all, const ms_symbol *symbol) {
  sharing look = {symbol, false};
  if (symbol == NULL || !symbol->assigned || !symbol->upvalue) return false;
  ms_node_walk(all->loop->body, look_for_sharing, &look);
  return look.found;
}

static bool is_steady(const ms_tally *all, const ms_node *node) {
  if (node->kind == MS_FUNCTION || node->boxed) return false;
  if (node->kind == MS_NAME) return !may_change(all, node->symbol);
  if (node->kind == MS_METHOD)
    return ms_effect_of_method(node->text, node->kids - 1) == MS_EFFECT_PURE;
  if (node->kind != MS_CALL) return true;
  const char *name = ms_tally_builtin(all, node->kid[0]);
  return name != NULL && ms_effect_is_function(name);
}

typedef struct steadiness {
  const ms_tally *all;
  bool steady;
} steadiness;

static bool look_for_effects(ms_node *node, void *context) {
  steadiness *look = context;
  look->steady = look->steady && is_steady(look->all, node);
  return look->steady;
}

bool ms_tally_is_steady(const ms_tally *all, ms_node *node) {
  steadiness look = {all, true};
  ms_node_walk(node, look_for_effects, &look);
  return look.steady;
}

/* One expression written twice that gives the same value twice. */
bool ms_tally_same_value(const ms_tally *all, const ms_node *a, const ms_node *b) {
  a = ms_node_bare(a);
  b = ms_node_bare(b);
  if (a->kind != b->kind || a->kids != b->kids || a->symbol != b->symbol) return false;
  if ((a->kind == MS_BINARY || a->kind == MS_UNARY) && a->op != b->op) return false;
  if (a->kind == MS_NUMBER && memcmp(&a->number, &b->number, sizeof a->number) != 0) return false;
  if (!ms_node_same_text(a, b) || b->boxed || a->kind == MS_TABLE || !is_steady(all, a))
    return false;
  for (uint32_t k = 0; k < a->kids; k++) {
    if (!ms_tally_same_value(all, a->kid[k], b->kid[k])) return false;
  }
  return true;
}

/* ---- calls and choices ---- */

static const struct {
  const char *name;
  ms_reduce_op op;
} calls[] = {{"math.max", MS_REDUCE_MAX},
             {"math.min", MS_REDUCE_MIN},
             {"bit.bor", MS_REDUCE_BOR},
             {"bit.band", MS_REDUCE_BAND},
             {"bit.bxor", MS_REDUCE_BXOR}};

/* A call of what really is the builtin, by whatever name. An argument of math.max wins over those
 * before it unless one of them is greater. */
bool ms_extreme_call(const ms_tally *all, ms_node *node, ms_reduce_form *is) {
  if (node->kind != MS_CALL || node->kids < 3) return false;
  const char *name = ms_tally_builtin(all, node->kid[0]);
  bool known = false,
       last = ms_capture_path_is(all->capture, ms_node_bare(node->kid[node->kids - 1]));
  for (size_t c = 0; name != NULL && c < sizeof calls / sizeof calls[0]; c++) {
    if (strcmp(name, calls[c].name) != 0) continue;
    known = true;
    is->op = calls[c].op;
  }
  is->wins = last ? MS_WINS_BEYOND : MS_WINS_UNLESS;
  for (uint32_t k = 1; known && k < node->kids; k++) {
    if (ms_capture_path_is(all->capture, ms_node_bare(node->kid[k]))) return true;
  }
  return false;
}

bool ms_extreme_compares(const ms_capture *capture, const ms_node *test, const ms_node **other,
                         ms_reduce_form *is) {
  test = ms_node_bare(test);
  if (test->kind != MS_BINARY || test->op < MS_OP_LT || test->op > MS_OP_GE) return false;
  bool right = ms_capture_path_is(capture, ms_node_bare(test->kid[1]));
  if (!right && !ms_capture_path_is(capture, ms_node_bare(test->kid[0]))) return false;
  *other = test->kid[right ? 0 : 1];
  bool greater = test->op == MS_OP_GT || test->op == MS_OP_GE;
  is->op = greater == right ? MS_REDUCE_MAX : MS_REDUCE_MIN;
  is->wins = test->op == MS_OP_GE || test->op == MS_OP_LE ? MS_WINS_EQUAL : MS_WINS_BEYOND;
  return true;
}

/* e > s and e or s; s > e and s or e, by which e wins unless s is greater */
bool ms_extreme_choice(const ms_tally *all, ms_node *value, ms_reduce_form *is) {
  *is = (ms_reduce_form){.mentions = 3};
  const ms_node *condition, *yes, *other;
  if (!ms_node_is_choice(value, &condition, &yes)) return false;
  const ms_node *last = ms_node_bare(value->kid[1]);
  if (!ms_extreme_compares(all->capture, condition, &other, is)) return false;
  if (ms_tally_mentions(all, ms_node_bare(other)) > 0) return false;
  if (ms_capture_path_is(all->capture, last)) return ms_tally_same_value(all, other, yes);
  is->op = is->op == MS_REDUCE_MAX ? MS_REDUCE_MIN : MS_REDUCE_MAX;
  is->wins = is->wins == MS_WINS_BEYOND ? MS_WINS_UNLESS : MS_WINS_BEYOND;
  return ms_capture_path_is(all->capture, ms_node_bare(yes)) &&
         ms_tally_same_value(all, other, last);
}

/* ---- statements ---- */

static const ms_capture *captured(const ms_tally *all, const ms_node *node) {
  int64_t at = ms_capture_path_of(all->loop, ms_node_bare(node));
  return at < 0 ? NULL : &all->loop->captures[at];
}

ms_node *ms_extreme_given(const ms_node *block, const ms_capture *capture, uint32_t *places) {
  ms_node *value = NULL;
  *places = 0;
  for (uint32_t s = 0; s < block->kids; s++) {
    const ms_node *assign = block->kid[s];
    if (assign->kind != MS_ASSIGN || assign->kids != 2 * assign->targets) return NULL;
    *places += assign->targets;
    for (uint32_t t = 0; t < assign->targets; t++) {
      if (!ms_capture_path_is(capture, assign->kid[t])) continue;
      if (value != NULL) return NULL;
      value = assign->kid[assign->targets + t];
    }
  }
  return value;
}

/* All that a block assigns are captured variables, each once, and what it gives has no effects. */
static bool assigns_tuple(const ms_tally *all, const ms_node *block) {
  uint32_t places;
  for (uint32_t s = 0; s < block->kids; s++) {
    const ms_node *assign = block->kid[s];
    if (assign->kind != MS_ASSIGN) return false;
    for (uint32_t t = 0; t < assign->targets; t++) {
      const ms_capture *capture = captured(all, assign->kid[t]);
      ms_node *value = capture != NULL ? ms_extreme_given(block, capture, &places) : NULL;
      if (value == NULL) return false;
      if (!ms_tally_is_steady(all, value) && !ms_node_is_pure(all->walk, value)) return false;
    }
  }
  return block->kids > 0;
}

/* not s, s == nil */
static bool asks_unset(const ms_capture *capture, const ms_node *node) {
  node = ms_node_bare(node);
  if (node->kind == MS_UNARY && node->op == MS_OP_NOT)
    return ms_capture_path_is(capture, ms_node_bare(node->kid[0]));
  return node->kind == MS_BINARY && node->op == MS_OP_EQ &&
         ms_capture_path_is(capture, ms_node_bare(node->kid[0])) &&
         ms_node_bare(node->kid[1])->kind == MS_NIL;
}

static bool mentions(const ms_tally *all, const ms_capture *capture, const ms_node *node) {
  ms_tally of = *all;
  of.capture = capture;
  return ms_tally_mentions(&of, ms_node_bare(node)) > 0;
}

/* Of a condition and others that must hold with it: the one that asks for the variable; NULL if
 * several do. The others may be any before it; blocks evaluate those after it more often than the
 * loop does. */
static const ms_node *asking(const ms_tally *all, const ms_capture *capture, const ms_node *test) {
  test = ms_node_bare(test);
  if (test->kind != MS_BINARY || test->op != MS_OP_AND) return test;
  if (!mentions(all, capture, test->kid[0])) return asking(all, capture, test->kid[1]);
  if (mentions(all, capture, test->kid[1]) || !ms_node_is_pure(all->walk, test->kid[1]))
    return NULL;
  return asking(all, capture, test->kid[0]);
}

/* The first value that is taken stays. Which iteration gave it is told by the order of blocks. */
static bool keeps_first(const ms_tally *all, const ms_node *test, const ms_node *value,
                        ms_reduce_form *found) {
  ms_binding_kind kind = all->walk->bindings[found->leader].kind;
  uint32_t places;
  ms_extreme_given(found->block, &all->loop->captures[found->leader], &places);
  found->op = MS_REDUCE_OR;
  found->wins = MS_WINS_BEYOND;
  found->set = places == 1 && value->kind == MS_TRUE;
  if (found->set) return kind == MS_BIND_NIL || kind == MS_BIND_BOOLEAN;
  if (all->walk->scattered) return false;
  return test->kind == MS_UNARY || (kind != MS_BIND_BOOLEAN && ms_node_is_truthy(all, value));
}

/* A condition that asks whether what goes with the leader has a value yet, which it has then. */
static bool follower_unset(const ms_tally *all, const ms_node *test, ms_reduce_form *found) {
  uint32_t places;
  for (uint32_t s = 0; s < found->block->kids; s++) {
    const ms_node *assign = found->block->kid[s];
    for (uint32_t t = 0; t < assign->targets; t++) {
      int64_t at = ms_capture_path_of(all->loop, assign->kid[t]);
      if (at < 0 || !asks_unset(&all->loop->captures[at], test)) continue;
      found->asked = (uint32_t)at;
      return all->walk->bindings[at].kind == MS_BIND_NIL &&
             ms_node_is_truthy(all,
                               ms_extreme_given(found->block, &all->loop->captures[at], &places));
    }
  }
  return false;
}

/* Takes capture `at` for the leader of a branch. */
static bool leads(const ms_tally *all, uint32_t at, const ms_node *condition,
                  ms_reduce_form *found) {
  const ms_capture *capture = &all->loop->captures[at];
  uint32_t places;
  const ms_node *test = asking(all, capture, condition);
  if (test == NULL) return false;
  *found = (ms_reduce_form){.mentions = 2, .block = found->block, .leader = at, .asked = at};
  found->alone = test == ms_node_bare(condition);
  test = ms_ties_find(all, capture, test, found->block, found);
  if (found->tie_count > 0) found->mentions++;
  if (test->kind == MS_BINARY && test->op == MS_OP_OR && asks_unset(capture, test->kid[0])) {
    found->unset = true;
    found->mentions++;
    test = test->kid[1];
  } else if (test->kind == MS_BINARY && test->op == MS_OP_OR &&
             follower_unset(all, test->kid[0], found)) {
    found->unset = true;
    test = test->kid[1];
  }
  const ms_node *value = ms_extreme_given(found->block, capture, &places);
  if (value != NULL && found->tie_count == 0 && asks_unset(capture, test))
    return keeps_first(all, test, value, found);
  if (value == NULL || !ms_extreme_compares(capture, test, &found->value, found)) return false;
  if (found->tie_count > 0 && found->wins != MS_WINS_BEYOND) return false;
  return ms_tally_same_value(all, found->value, value);
}

/* `if p then if q then ... end end`: what stands under all the conditions. */
static const ms_node *innermost(const ms_node *block) {
  while (block->kids == 1 && block->kid[0]->kind == MS_IF && block->kid[0]->kids == 2)
    block = block->kid[0]->kid[1];
  return block;
}

/* Conditions between two blocks, of which none asks for the variable. */
static bool passes(const ms_tally *all, const ms_capture *capture, const ms_node *from,
                   const ms_node *to) {
  for (; from != to; from = from->kid[0]->kid[1]) {
    const ms_node *test = from->kid[0]->kid[0];
    if (mentions(all, capture, test) || !ms_node_is_pure(all->walk, ms_node_bare(test)))
      return false;
  }
  return true;
}

/* A condition and its block as a branch whose leader is one of the variables that it assigns. */
static bool is_branch(const ms_tally *all, const ms_node *test, const ms_node *outer,
                      ms_reduce_form *found) {
  const ms_node *block = innermost(outer);
  if (!assigns_tuple(all, block)) return false;
  found->block = block;
  for (uint32_t s = 0; s < block->kids; s++) {
    for (uint32_t t = 0; t < block->kid[s]->targets; t++) {
      int64_t at = ms_capture_path_of(all->loop, block->kid[s]->kid[t]);
      if (at < 0 || !passes(all, &all->loop->captures[at], outer, block)) continue;
      if (!leads(all, (uint32_t)at, test, found)) continue;
      found->alone = found->alone && block == outer;
      return true;
    }
  }
  return false;
}

/* The variable's part in a branch. */
static bool takes_part(const ms_tally *all, const ms_reduce_form *from, ms_reduce_form *is) {
  uint32_t places;
  if (ms_extreme_given(from->block, all->capture, &places) == NULL) return false;
  const ms_binding *asked = &all->walk->bindings[from->asked];
  *is = *from;
  if (asked->kind == MS_BIND_NUMBER) is->unset = false;
  if (is->unset && asked->kind != MS_BIND_NIL) return false;
  if (all->capture == &all->loop->captures[from->leader]) return true;
  is->op = MS_REDUCE_WITH;
  is->mentions = is->unset && all->capture == &all->loop->captures[is->asked] ? 2 : 1;
  is->tie = ms_tie_of(is, (uint32_t)(all->capture - all->loop->captures));
  if (is->tie == 0) return true;
  is->wins = is->ties[is->tie - 1].wins;
  is->mentions += is->tie < is->tie_count ? 2 : 1;
  return true;
}

bool ms_extreme_statement(const ms_tally *all, const ms_node *node, ms_reduce_form *is) {
  ms_reduce_form first, second;
  if (node->kind != MS_IF || (node->kids != 2 && node->kids != 4)) return false;
  if (!is_branch(all, node->kid[0], node->kid[1], &first)) return false;
  if (node->kids == 2) return takes_part(all, &first, is);
  if (!is_branch(all, node->kid[2], node->kid[3], &second)) return false;
  if (!ms_branch_gate_allows(all, &first, &second)) return false;
  if (takes_part(all, &first, is)) return true;
  if (!takes_part(all, &second, is)) return false;
  is->gated = true;
  is->gate = first.leader;
  return true;
}

static bool assigns_all_of(const ms_tally *all, const ms_node *of, const ms_node *block) {
  uint32_t places;
  for (uint32_t s = 0; s < of->kids; s++) {
    for (uint32_t t = 0; t < of->kid[s]->targets; t++) {
      if (ms_extreme_given(block, captured(all, of->kid[s]->kid[t]), &places) == NULL) return false;
    }
  }
  return true;
}

static bool is_alone(const ms_reduce_form *form) {
  return form->block == NULL || (form->block->kids == 1 && form->block->kid[0]->targets == 1);
}

bool ms_extreme_same_tuple(const ms_tally *all, const ms_reduce_form *a, const ms_reduce_form *b) {
  if (a->unset != b->unset || a->gated != b->gated) return false;
  if (a->gated && a->gate != b->gate) return false;
  if (!ms_ties_same(a, b)) return false;
  if (is_alone(a) || is_alone(b)) return is_alone(a) && is_alone(b);
  return a->leader == b->leader && a->wins == b->wins && assigns_all_of(all, a->block, b->block) &&
         assigns_all_of(all, b->block, a->block);
}
