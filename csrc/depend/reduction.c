/* SPDX-License-Identifier: MIT
 *
 * Scalars, reductions: see scalar.h.
 *
 * A variable s is a reduction when every mention of it in the body belongs to a statement of one of
 * these forms, all with one operator (e: an expression without s):
 *
 *   s = s + e           s anywhere in a sum, with a plus; s = s * e likewise
 *   s = math.max(s, e)  any number of arguments, s one of them; math.min
 *   if e > s then s = e end, s = e > s and e or s   and their mirror images; >= < <=
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

#include "depend/effect.h"
#include "depend/scalar.h"

bool ms_capture_is(const ms_capture *capture, const ms_node *node) {
  for (uint32_t f = capture->field_count; f > 0; f--, node = node->kid[0]) {
    if (node->kind != MS_INDEX || node->kid[1]->kind != MS_STRING) return false;
    if (strcmp(node->kid[1]->text, capture->fields[f - 1]) != 0) return false;
  }
  if (node->kind != MS_NAME) return false;
  if (capture->symbol != NULL || node->symbol != NULL) return capture->symbol == node->symbol;
  return strcmp(capture->root, node->text) == 0;
}

/* How a statement combines. */
typedef struct form {
  ms_reduce_op op;
  ms_reduce_wins wins;
  bool set; /* s = true, s = false: no value but this one */
  uint32_t mentions;
} form;

typedef struct tally {
  const ms_walk *walk;
  const ms_loop *loop;
  const ms_capture *capture;
  ms_binding_kind kind; /* of the value before the loop */
  uint32_t mentions;    /* in what is being counted */
  uint32_t combined;    /* mentions that belong to reductions */
  bool any, mixed;
  form found;
} tally;

static bool count_mention(ms_node *node, void *context) {
  tally *all = context;
  if (ms_capture_is(all->capture, node)) all->mentions++;
  return true;
}

static uint32_t mentions_in(const tally *all, ms_node *node) {
  tally inner = *all;
  inner.mentions = 0;
  ms_node_walk(node, count_mention, &inner);
  return inner.mentions;
}

static ms_node *bare(ms_node *node) {
  while (node->kind == MS_PAREN) node = node->kid[0];
  return node;
}

/* The variable stands once in a tree of + and -, never behind a minus. */
static bool in_sum(const tally *all, ms_node *node) {
  node = bare(node);
  if (ms_capture_is(all->capture, node)) return true;
  if (node->kind != MS_BINARY || (node->op != MS_OP_ADD && node->op != MS_OP_SUB)) return false;
  if (in_sum(all, node->kid[0])) return true;
  return node->op == MS_OP_ADD && in_sum(all, node->kid[1]);
}

static bool in_product(const tally *all, ms_node *node) {
  node = bare(node);
  if (ms_capture_is(all->capture, node)) return true;
  if (node->kind != MS_BINARY || node->op != MS_OP_MUL) return false;
  return in_product(all, node->kid[0]) || in_product(all, node->kid[1]);
}

/* The first (or the last) operand of a chain of one logic operator. */
static bool ends_logic(const tally *all, ms_node *node, ms_op op, bool first) {
  node = bare(node);
  if (ms_capture_is(all->capture, node)) return true;
  if (node->kind != MS_BINARY || node->op != op) return false;
  return ends_logic(all, node->kid[first ? 0 : 1], op, first);
}

/* The builtin that a name or path means, or NULL. */
static const char *builtin_of(const tally *all, const ms_node *node) {
  int64_t capture = ms_loop_capture_of(all->loop, node);
  if (capture < 0 || all->walk->bindings[capture].kind != MS_BIND_BUILTIN) return NULL;
  return all->walk->bindings[capture].name;
}

/* ---- equal expressions ---- */

/* A node that gives the same value when it is evaluated again at once. */
static bool is_steady(const tally *all, const ms_node *node) {
  if (node->kind == MS_FUNCTION || node->kind == MS_TABLE) return false;
  if (node->kind == MS_METHOD) return ms_effect_of_method(node->text) == MS_EFFECT_PURE;
  if (node->kind != MS_CALL) return true;
  const char *name = builtin_of(all, node->kid[0]);
  return name != NULL && ms_effect_is_function(name);
}

static bool same_text(const ms_node *a, const ms_node *b) {
  if (a->text == NULL || b->text == NULL) return a->text == b->text;
  return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* One expression written twice that gives the same value twice. */
static bool same_value(const tally *all, ms_node *a, ms_node *b) {
  a = bare(a);
  b = bare(b);
  if (a->kind != b->kind || a->kids != b->kids || a->symbol != b->symbol) return false;
  if ((a->kind == MS_BINARY || a->kind == MS_UNARY) && a->op != b->op) return false;
  if (a->kind == MS_NUMBER && memcmp(&a->number, &b->number, sizeof a->number) != 0) return false;
  if (!same_text(a, b) || a->boxed || b->boxed || !is_steady(all, a)) return false;
  for (uint32_t k = 0; k < a->kids; k++) {
    if (!same_value(all, a->kid[k], b->kid[k])) return false;
  }
  return true;
}

/* ---- extremes ---- */

/* A call of what really is math.max or math.min, by whatever name, with the variable as one
 * argument. An argument wins over those before it unless one of them is greater. */
static bool extreme_call(const tally *all, ms_node *node, form *is) {
  if (node->kind != MS_CALL || node->kids < 3) return false;
  const char *name = builtin_of(all, node->kid[0]);
  if (name == NULL) return false;
  is->op = strcmp(name, "math.max") == 0 ? MS_REDUCE_MAX : MS_REDUCE_MIN;
  bool last = ms_capture_is(all->capture, bare(node->kid[node->kids - 1]));
  is->wins = last ? MS_WINS_BEYOND : MS_WINS_UNLESS;
  if (is->op == MS_REDUCE_MIN && strcmp(name, "math.min") != 0) return false;
  for (uint32_t k = 1; k < node->kids; k++) {
    if (ms_capture_is(all->capture, bare(node->kid[k]))) return true;
  }
  return false;
}

/* A comparison of the variable with something else, as if it asked whether that wins. */
static bool comparison(const tally *all, ms_node *test, ms_node **other, form *is) {
  test = bare(test);
  if (test->kind != MS_BINARY || test->op < MS_OP_LT || test->op > MS_OP_GE) return false;
  bool right = ms_capture_is(all->capture, bare(test->kid[1]));
  if (!right && !ms_capture_is(all->capture, bare(test->kid[0]))) return false;
  *other = test->kid[right ? 0 : 1];
  bool greater = test->op == MS_OP_GT || test->op == MS_OP_GE;
  is->op = greater == right ? MS_REDUCE_MAX : MS_REDUCE_MIN;
  is->wins = test->op == MS_OP_GE || test->op == MS_OP_LE ? MS_WINS_EQUAL : MS_WINS_BEYOND;
  return mentions_in(all, *other) == 0;
}

/* The statement is `s = e` for the variable, and e has no s in it. */
static ms_node *only_value(const tally *all, const ms_node *assign) {
  if (assign->kind != MS_ASSIGN || assign->targets != 1 || assign->kids != 2) return NULL;
  if (!ms_capture_is(all->capture, assign->kid[0])) return NULL;
  return mentions_in(all, assign->kid[1]) == 0 ? assign->kid[1] : NULL;
}

/* if e > s then s = e end */
static bool extreme_test(const tally *all, const ms_node *node, form *is) {
  if (node->kind != MS_IF || node->kids != 2 || node->kid[1]->kids != 1) return false;
  ms_node *value = only_value(all, node->kid[1]->kid[0]), *other;
  *is = (form){.mentions = 2};
  return value != NULL && comparison(all, node->kid[0], &other, is) &&
         same_value(all, other, value);
}

/* e > s and e or s; s > e and s or e, by which e wins unless s is greater */
static bool extreme_choice(const tally *all, ms_node *value, form *is) {
  *is = (form){.mentions = 3};
  if (value->kind != MS_BINARY || value->op != MS_OP_OR) return false;
  ms_node *both = bare(value->kid[0]), *last = bare(value->kid[1]), *other;
  if (both->kind != MS_BINARY || both->op != MS_OP_AND) return false;
  if (!comparison(all, both->kid[0], &other, is)) return false;
  if (ms_capture_is(all->capture, last)) return same_value(all, other, both->kid[1]);
  is->op = is->op == MS_REDUCE_MAX ? MS_REDUCE_MIN : MS_REDUCE_MAX;
  is->wins = is->wins == MS_WINS_BEYOND ? MS_WINS_UNLESS : MS_WINS_BEYOND;
  return ms_capture_is(all->capture, bare(both->kid[1])) && same_value(all, other, last);
}

/* ---- assignments ---- */

/* A condition under which the variable is set may ask whether it is set already. */
static bool asks_not_set(const tally *all, const ms_node *node) {
  node = bare((ms_node *)node);
  if (node->kind == MS_UNARY && node->op == MS_OP_NOT)
    return ms_capture_is(all->capture, bare(node->kid[0]));
  if (node->kind != MS_BINARY || node->op != MS_OP_AND) return false;
  return asks_not_set(all, node->kid[0]) || asks_not_set(all, node->kid[1]);
}

/* The assignment is all of `if e and not s then s = ... end`. */
static bool alone_if_not_set(const tally *all, const ms_node *assign) {
  const ms_node *block = assign->parent, *test = block->parent;
  if (block->kids != 1 || test == NULL || test->kind != MS_IF || test->kids != 2) return false;
  return mentions_in(all, test->kid[0]) == 1 && asks_not_set(all, test->kid[0]);
}

/* s = true, s = false */
static bool setting(const tally *all, const ms_node *assign, ms_node *value, form *is) {
  if (value->kind != MS_TRUE && value->kind != MS_FALSE) return false;
  bool sets = value->kind == MS_TRUE;
  if (all->kind != MS_BIND_BOOLEAN && !(sets && all->kind == MS_BIND_NIL)) return false;
  *is = (form){.op = sets ? MS_REDUCE_OR : MS_REDUCE_AND, .set = true, .mentions = 1};
  if (sets && alone_if_not_set(all, assign)) is->mentions = 2;
  return true;
}

/* The operator of `s = value`; false if it is no reduction of s. */
static bool form_of(const tally *all, ms_node *value, form *is) {
  if (extreme_choice(all, value, is)) return true;
  *is = (form){.mentions = 2};
  if (mentions_in(all, value) != 1) return false;
  if (extreme_call(all, value, is)) return true;
  if (value->kind != MS_BINARY) return false;
  switch (value->op) {
    case MS_OP_ADD:
    case MS_OP_SUB:
      is->op = MS_REDUCE_SUM;
      return in_sum(all, value);
    case MS_OP_MUL:
      is->op = MS_REDUCE_PRODUCT;
      return in_product(all, value);
    case MS_OP_AND:
      is->op = MS_REDUCE_AND;
      return ends_logic(all, value, MS_OP_AND, true);
    case MS_OP_OR:
      is->op = MS_REDUCE_OR;
      if (ends_logic(all, value, MS_OP_OR, true)) return true;
      is->wins = MS_WINS_EQUAL;
      return ends_logic(all, value, MS_OP_OR, false);
    default:
      return false;
  }
}

static void add_form(tally *all, const form *is) {
  if (all->any && (all->found.op != is->op || all->found.set != is->set)) all->mixed = true;
  bool agree = !all->any || all->found.wins == is->wins;
  all->any = true;
  all->found = *is;
  if (!agree) all->found.wins = MS_WINS_BEYOND;
  all->combined += is->mentions;
}

/* The value that an assignment gives to the variable; NULL if there is none, or are several. */
static ms_node *value_for(const tally *all, const ms_node *assign) {
  ms_node *value = NULL;
  for (uint32_t k = 0; k < assign->targets; k++) {
    if (!ms_capture_is(all->capture, assign->kid[k])) continue;
    if (value != NULL || assign->targets + k >= assign->kids) return NULL;
    value = bare(assign->kid[assign->targets + k]);
  }
  return value;
}

static bool visit(ms_node *node, void *context) {
  tally *all = context;
  form is;
  if (node->kind == MS_FUNCTION) return false; /* its mentions are counted, never combined */
  if (extreme_test(all, node, &is)) {
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
  tally all;
  const ms_node *found;
} search;

/* The first mention outside of the statements that combine the variable. */
static bool look_for_stray(ms_node *node, void *context) {
  search *look = context;
  form is;
  if (look->found != NULL || extreme_test(&look->all, node, &is)) return false;
  if (ms_capture_is(look->all.capture, node)) look->found = node;
  if (node->kind != MS_ASSIGN) return look->found == NULL;
  ms_node *value = value_for(&look->all, node);
  if (value == NULL) return true;
  if (!setting(&look->all, node, value, &is) && !form_of(&look->all, value, &is)) return true;
  for (uint32_t k = 0; k < node->kids; k++) { /* the others of several at once */
    if (node->kid[k] != value && !ms_capture_is(look->all.capture, node->kid[k]))
      ms_node_walk(node->kid[k], look_for_stray, look);
  }
  return false;
}

const ms_node *ms_scalar_spoiler(const ms_walk *walk, uint32_t capture, ms_node *body,
                                 const char **words) {
  search look = {.all = {.walk = walk, .loop = walk->loop}};
  look.all.capture = &walk->loop->captures[capture];
  look.all.kind = walk->bindings[capture].kind;
  ms_node_walk(body, visit, &look.all);
  if (!look.all.any) return NULL;
  ms_node_walk(body, look_for_stray, &look);
  const char *op = ms_reduce_name(look.all.found.op);
  *words = "is combined in several ways, whose order matters";
  if (look.found != NULL)
    *words = ms_arena_format(walk->arena,
                             "is combined by `%s`, but also used here, where no iteration knows "
                             "what the others have made of it",
                             op);
  return look.found != NULL ? look.found : look.all.capture->first;
}

bool ms_scalar_in_field(const ms_walk *walk, uint32_t index) {
  const ms_capture *capture = &walk->loop->captures[index];
  const ms_binding *binding = &walk->bindings[index];
  ms_scalar_plan unused = {.capture = index};
  if (capture->field_count == 0 || binding->depth != capture->field_count) return false;
  if (binding->kind > MS_BIND_STRING || binding->aliased) return false;
  return ms_scalar_reduction(walk, walk->loop->body, &unused);
}

bool ms_scalar_reduction(const ms_walk *walk, ms_node *body, ms_scalar_plan *plan) {
  tally all = {.walk = walk, .loop = walk->loop};
  all.capture = &walk->loop->captures[plan->capture];
  all.kind = walk->bindings[plan->capture].kind;
  ms_node_walk(body, visit, &all);
  plan->op = all.found.op;
  plan->wins = all.found.wins;
  return all.any && !all.mixed && all.combined == mentions_in(&all, body);
}
