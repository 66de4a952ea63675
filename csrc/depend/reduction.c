/* SPDX-License-Identifier: MIT
 *
 * Scalars, reductions: see scalar.h.
 *
 * A variable s is a reduction when every mention of it in the body belongs to a statement of one of
 * these forms, all with one operator (e: an expression without s):
 *
 *   s = s + e           s anywhere in a sum, with a plus; s = s * e likewise
 *   s = s / e, s = -s   products, too
 *   s = (s or 0) + e    likewise, of an s that is nil or a number before
 *   s = math.max(s, e)  any number of arguments, s one of them; math.min
 *   s = bit.bor(s, e)   likewise; bit.band, bit.bxor
 *   if e > s then s = e end, s = e > s and e or s   and their mirror images; >= < <=
 *   if e > s then s, p = e, q end, and the other extremes of extreme.c
 *   s = s and e, s = s or e, s = e or s
 *   s = true, s = false under any condition that s has no part in but as `and not s`
 *
 * A statement may assign several variables at once, each by its own form.
 *
 * Forms differ in which of two values that the operator takes for equal stays (0 and -0 are), and
 * in nan, which e > s passes over and math.max(s, e) takes: ms_reduce_wins. Blocks are combined by
 * the same rule, so that the result is that of the loop as written; but of values before a nan that
 * math.max took and forgot again, only those in the nan's block are forgotten. */
#include <string.h>

#include "depend/capture_path.h"
#include "depend/extreme.h"
#include "depend/flow.h"
#include "depend/literal.h"
#include "depend/pure.h"
#include "depend/receiver.h"
#include "depend/scalar.h"

static bool count_mention(ms_node *node, void *context) {
  ms_tally *all = context;
  if (ms_flow_is_dead(all->walk, node, false)) return false;
  if (ms_capture_path_is(all->capture, node)) all->mentions++;
  return true;
}

uint32_t ms_tally_mentions(const ms_tally *all, ms_node *node) {
  ms_tally inner = *all;
  inner.mentions = 0;
  ms_node_walk(node, count_mention, &inner);
  return inner.mentions;
}

/* s or 0 */
static bool is_or_zero(const ms_tally *all, const ms_node *node) {
  if (node->kind != MS_BINARY || node->op != MS_OP_OR) return false;
  const ms_node *zero = ms_node_bare(node->kid[1]);
  return ms_capture_path_is(all->capture, ms_node_bare(node->kid[0])) && zero->kind == MS_NUMBER &&
         !zero->boxed && zero->number == 0 &&
         (all->kind == MS_BIND_NIL || all->kind == MS_BIND_NUMBER);
}

/* The variable stands once in a tree of + and -, never behind a minus. */
static bool in_sum(const ms_tally *all, ms_node *node, ms_reduce_form *is) {
  node = ms_node_bare(node);
  if (ms_capture_path_is(all->capture, node)) return true;
  if (is_or_zero(all, node)) {
    is->unset = all->kind == MS_BIND_NIL;
    return true;
  }
  if (node->kind != MS_BINARY || (node->op != MS_OP_ADD && node->op != MS_OP_SUB)) return false;
  if (in_sum(all, node->kid[0], is)) return true;
  return node->op == MS_OP_ADD && in_sum(all, node->kid[1], is);
}

/* It stands once in a tree of * and /, never in a divisor, or behind a minus. */
static bool in_product(const ms_tally *all, ms_node *node) {
  node = ms_node_bare(node);
  if (ms_capture_path_is(all->capture, node)) return true;
  if (node->kind == MS_UNARY && node->op == MS_OP_NEG) return in_product(all, node->kid[0]);
  if (node->kind != MS_BINARY || (node->op != MS_OP_MUL && node->op != MS_OP_DIV)) return false;
  if (in_product(all, node->kid[0])) return true;
  return node->op == MS_OP_MUL && in_product(all, node->kid[1]);
}

/* The first (or the last) operand of a chain of one logic operator. */
static bool ends_logic(const ms_tally *all, ms_node *node, ms_op op, bool first) {
  node = ms_node_bare(node);
  if (ms_capture_path_is(all->capture, node)) return true;
  if (node->kind != MS_BINARY || node->op != op) return false;
  return ends_logic(all, node->kid[first ? 0 : 1], op, first);
}

/* ---- assignments ---- */

/* A condition under which the variable is set may ask whether it is set already. */
static bool asks_not_set(const ms_tally *all, const ms_node *node) {
  node = ms_node_bare((ms_node *)node);
  if (node->kind == MS_UNARY && node->op == MS_OP_NOT)
    return ms_capture_path_is(all->capture, ms_node_bare(node->kid[0]));
  if (node->kind != MS_BINARY || node->op != MS_OP_AND) return false;
  return asks_not_set(all, node->kid[0]) || asks_not_set(all, node->kid[1]);
}

/* The assignment is all of `if e and not s then s = ... end`. */
static bool alone_if_not_set(const ms_tally *all, const ms_node *assign) {
  const ms_node *block = assign->parent, *test = block->parent;
  if (block->kids != 1 || assign->targets != 1 || test == NULL || test->kind != MS_IF ||
      test->kids != 2)
    return false;
  return ms_tally_mentions(all, test->kid[0]) == 1 && asks_not_set(all, test->kid[0]) &&
         ms_node_is_pure(all->walk, test->kid[0]);
}

/* s = true, s = false */
static bool setting(const ms_tally *all, const ms_node *assign, ms_node *value,
                    ms_reduce_form *is) {
  if (value->kind != MS_TRUE && value->kind != MS_FALSE) return false;
  bool sets = value->kind == MS_TRUE;
  if (all->kind != MS_BIND_BOOLEAN && !(sets && all->kind == MS_BIND_NIL)) return false;
  *is = (ms_reduce_form){.op = sets ? MS_REDUCE_OR : MS_REDUCE_AND, .set = true, .mentions = 1};
  if (sets && alone_if_not_set(all, assign)) is->mentions = 2;
  return true;
}

/* Whether an expression gives true or false, or the variable itself. */
static bool is_boolean(const ms_tally *all, const ms_node *node) {
  node = ms_node_bare(node);
  if (node->kind == MS_TRUE || node->kind == MS_FALSE) return true;
  if (node->kind == MS_UNARY) return node->op == MS_OP_NOT;
  if (node->kind != MS_BINARY) return ms_capture_path_is(all->capture, node);
  if (node->op == MS_OP_AND || node->op == MS_OP_OR)
    return is_boolean(all, node->kid[0]) && is_boolean(all, node->kid[1]);
  return node->op >= MS_OP_EQ && node->op <= MS_OP_GE;
}

/* `s or e`, `s and e`, `e or s`. What comes after s is not evaluated once s decides, but blocks do
 * not know what s has become in others. Which of several values it is that lasts is told by the
 * order of blocks. */
static bool is_logic(const ms_tally *all, ms_node *value, ms_reduce_form *is) {
  is->op = value->op == MS_OP_AND ? MS_REDUCE_AND : MS_REDUCE_OR;
  if (all->walk->scattered && !is_boolean(all, value)) return false;
  if (ends_logic(all, value, value->op, true)) return ms_node_is_pure(all->walk, value);
  is->wins = MS_WINS_EQUAL;
  return value->op == MS_OP_OR && ends_logic(all, value, MS_OP_OR, false);
}

/* The operator of `s = value`; false if it is no reduction of s. */
static bool form_of(const ms_tally *all, ms_node *value, ms_reduce_form *is) {
  if (ms_extreme_choice(all, value, is)) return ms_tally_mentions(all, value) == 2;
  *is = (ms_reduce_form){.mentions = 2};
  if (ms_tally_mentions(all, value) != 1) return false;
  if (ms_extreme_call(all, value, is)) return true;
  is->op = MS_REDUCE_PRODUCT;
  if (value->kind == MS_UNARY) return in_product(all, value);
  if (value->kind != MS_BINARY) return false;
  switch (value->op) {
    case MS_OP_ADD:
    case MS_OP_SUB:
      is->op = MS_REDUCE_SUM;
      return in_sum(all, value, is);
    case MS_OP_MUL:
    case MS_OP_DIV:
      return in_product(all, value);
    case MS_OP_AND:
    case MS_OP_OR:
      return is_logic(all, value, is);
    default:
      return false;
  }
}

/* An `if` that combines the variable. In places that are never reached nothing is: of a form with
 * one, fewer mentions count. */
static bool statement_of(const ms_tally *all, ms_node *node, ms_reduce_form *is) {
  return ms_extreme_statement(all, node, is) && ms_tally_mentions(all, node) == is->mentions;
}

static void add_form(ms_tally *all, const ms_reduce_form *is) {
  bool agree = !all->any || all->found.wins == is->wins;
  if (all->any && (all->found.op != is->op || all->found.set != is->set)) all->mixed = true;
  if (all->any && !ms_extreme_same_tuple(all, &all->found, is)) all->mixed = true;
  if (!agree && is->op == MS_REDUCE_OR && !is->set) all->mixed = true;
  all->any = true;
  all->elsewhere = all->elsewhere || is->block == NULL;
  all->follows = all->follows || is->op == MS_REDUCE_WITH;
  all->found = *is;
  if (!agree) all->found.wins = MS_WINS_BEYOND;
  all->combined += is->mentions;
  all->forms++;
}

/* The value that an assignment gives to the variable; NULL if there is none, or are several. */
static ms_node *value_for(const ms_tally *all, const ms_node *assign) {
  ms_node *value = NULL;
  for (uint32_t k = 0; k < assign->targets; k++) {
    if (!ms_capture_path_is(all->capture, assign->kid[k])) continue;
    if (value != NULL || assign->targets + k >= assign->kids) return NULL;
    value = ms_node_bare(assign->kid[assign->targets + k]);
  }
  return value;
}

/* A call within a value that may be of a function of the body. */
static bool is_call_of_local(const ms_tally *all, const ms_node *node) {
  return (node->kind == MS_CALL || node->kind == MS_METHOD) &&
         node->parent->kind != MS_EXPRESSION && ms_capture_path_of(all->loop, node->kid[0]) < 0;
}

static bool visit(ms_node *node, void *context) {
  ms_tally *all = context;
  ms_reduce_form is;
  if (ms_flow_is_dead(all->walk, node, false)) return false;
  /* A function that is only called runs as a part of the body does; of others the mentions are
   * counted, never combined. */
  if (node->kind == MS_FUNCTION) {
    all->within = all->within || ms_tally_mentions(all, node->function->body) > 0;
    return ms_literal_only_called(node) != NULL;
  }
  all->calls = all->calls || is_call_of_local(all, node);
  if (statement_of(all, node, &is)) {
    add_form(all, &is);
    return false;
  }
  if (node->kind != MS_ASSIGN) return true;
  ms_node *value = value_for(all, node);
  if (value != NULL && (setting(all, node, value, &is) || form_of(all, value, &is)))
    add_form(all, &is);
  return true;
}

/* ---- what is none ---- */

typedef struct search {
  ms_tally all;
  const ms_node *found;
} search;

/* The first mention outside of the statements that combine the variable. */
static bool look_for_stray(ms_node *node, void *context) {
  search *look = context;
  ms_reduce_form is;
  if (look->found != NULL || ms_flow_is_dead(look->all.walk, node, false)) return false;
  if (statement_of(&look->all, node, &is)) return false;
  if (ms_capture_path_is(look->all.capture, node)) look->found = node;
  if (node->kind != MS_ASSIGN) return look->found == NULL;
  ms_node *value = value_for(&look->all, node);
  if (value == NULL) return true;
  if (!setting(&look->all, node, value, &is) && !form_of(&look->all, value, &is)) return true;
  for (uint32_t k = 0; k < node->kids; k++) { /* the others of several at once */
    if (node->kid[k] != value && !ms_capture_path_is(look->all.capture, node->kid[k]))
      ms_node_walk(node->kid[k], look_for_stray, look);
  }
  return false;
}

/* `s or e` whose e does more than give a value. */
static bool look_for_impure(ms_node *node, void *context) {
  search *look = context;
  if (look->found != NULL || node->kind == MS_FUNCTION) return false;
  if (ms_flow_is_dead(look->all.walk, node, false)) return false;
  ms_node *value = node->kind == MS_ASSIGN ? value_for(&look->all, node) : NULL;
  if (value == NULL || value->kind != MS_BINARY) return true;
  bool logic = value->op == MS_OP_AND || value->op == MS_OP_OR;
  if (logic && ends_logic(&look->all, value, value->op, true) &&
      !ms_node_is_pure(look->all.walk, value))
    look->found = value;
  return true;
}

const ms_node *ms_scalar_spoiler(const ms_walk *walk, uint32_t capture, ms_node *body,
                                 const char **words) {
  search look = {.all = {.walk = walk, .loop = walk->loop}};
  look.all.capture = &walk->loop->captures[capture];
  look.all.kind = walk->bindings[capture].kind;
  ms_node_walk(body, visit, &look.all);
  if (!look.all.any) {
    ms_node_walk(body, look_for_impure, &look);
    *words = look.found == NULL ? *words
                                : "decides whether the rest of this is evaluated, which may store, "
                                  "print or draw random numbers";
    return look.found;
  }
  ms_node_walk(body, look_for_stray, &look);
  const char *op = ms_reduce_op_name(look.all.found.op);
  *words = "is combined in several ways, whose order matters";
  if (look.found != NULL)
    *words = ms_arena_format(walk->arena,
                             "is combined by `%s`, but also used here, where no iteration knows "
                             "what the others have made of it",
                             op);
  return look.found != NULL ? look.found : look.all.capture->first;
}

bool ms_scalar_has_field(const ms_walk *walk, uint32_t index) {
  const ms_capture *capture = &walk->loop->captures[index];
  const ms_binding *binding = &walk->bindings[index];
  if (capture->field_count == 0 || binding->depth != capture->field_count) return false;
  if (binding->kind > MS_BIND_STRING) return false;
  bool receiver =
      binding->receiver > 0 && binding->receiver <= walk->loop->capture_count &&
      ms_receiver_keeps(walk, binding->receiver - 1, capture->fields[capture->field_count - 1]);
  return !binding->aliased || receiver;
}

bool ms_scalar_in_field(const ms_walk *walk, uint32_t index) {
  ms_scalar_plan unused = {.capture = index};
  return ms_scalar_has_field(walk, index) && ms_scalar_reduction(walk, walk->loop->body, &unused);
}

/* The variable's forms in the body. */
static void tally_forms(ms_tally *all, const ms_walk *walk, ms_node *body, uint32_t capture) {
  *all = (ms_tally){.walk = walk, .loop = walk->loop};
  all->capture = &walk->loop->captures[capture];
  all->kind = walk->bindings[capture].kind;
  ms_node_walk(body, visit, all);
}

/* Whether all that combines the gate goes before the variable: only then do blocks that are
 * scattered in the loop's order know what a streak takes (branch_gate.h). */
static bool is_gate_of(const ms_tally *all, const ms_walk *walk, ms_node *body) {
  ms_tally gate;
  tally_forms(&gate, walk, body, all->found.gate);
  return !walk->scattered || gate.forms == all->forms;
}

static bool is_reduction(const ms_walk *walk, ms_node *body, uint32_t capture) {
  ms_scalar_plan plan = {.capture = capture};
  return ms_scalar_reduction(walk, body, &plan);
}

bool ms_scalar_follows(const ms_walk *walk, ms_node *body, uint32_t capture) {
  ms_tally all;
  tally_forms(&all, walk, body, capture);
  return all.follows && is_reduction(walk, body, all.found.leader);
}

bool ms_scalar_reduction(const ms_walk *walk, ms_node *body, ms_scalar_plan *plan) {
  ms_tally all;
  tally_forms(&all, walk, body, plan->capture);
  bool with = all.found.op == MS_REDUCE_WITH;
  plan->op = all.found.op;
  plan->wins = all.found.wins;
  plan->unset = all.found.unset;
  plan->tie = all.found.tie;
  if (plan->tie > 0) plan->tie_op = all.found.ties[plan->tie - 1].op;
  plan->leader = with ? all.found.leader : plan->capture;
  bool extreme = plan->op == MS_REDUCE_MIN || plan->op == MS_REDUCE_MAX;
  plan->ranked = extreme && walk->scattered && !all.elsewhere;
  plan->gated = all.found.gated;
  plan->gate = all.found.gate;
  /* In `s = s + f()` it is not told whether s is read before f changes it. */
  if (all.within && all.calls) return false;
  if (!all.any || all.mixed || all.combined != ms_tally_mentions(&all, body)) return false;
  if (with && !is_reduction(walk, body, plan->leader)) return false;
  return !plan->gated || (is_reduction(walk, body, plan->gate) && is_gate_of(&all, walk, body));
}
