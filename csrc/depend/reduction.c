/* SPDX-License-Identifier: MIT
 *
 * Scalars, reductions: see scalar.h.
 *
 * A variable is a reduction when every mention of it in the body belongs to a statement of one of
 * these forms, all with one operator: s = s + e (s anywhere in a sum, with a plus), s = s * e,
 * s = math.max(s, e), if e > s then s = e end, s = s and e, s = s or e. */
#include <string.h>

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

typedef struct tally {
  const ms_loop *loop;
  const ms_binding *bindings;
  const ms_capture *capture;
  uint32_t mentions; /* in what is being counted */
  uint32_t combined; /* mentions that belong to reductions */
  bool any, mixed;
  ms_reduce_op op;
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

/* The leftmost operand of a chain of one logic operator. */
static bool heads_logic(const tally *all, ms_node *node, ms_op op) {
  node = bare(node);
  if (ms_capture_is(all->capture, node)) return true;
  return node->kind == MS_BINARY && node->op == op && heads_logic(all, node->kid[0], op);
}

/* A call of what really is math.max or math.min, by whatever name. */
static bool is_extreme_call(const tally *all, const ms_node *node, ms_reduce_op *op) {
  if (node->kind != MS_CALL || node->kids != 3) return false;
  int64_t capture = ms_loop_capture_of(all->loop, node->kid[0]);
  if (capture < 0 || all->bindings[capture].kind != MS_BIND_BUILTIN) return false;
  const char *name = all->bindings[capture].name;
  *op = strcmp(name, "math.max") == 0 ? MS_REDUCE_MAX : MS_REDUCE_MIN;
  return *op == MS_REDUCE_MAX || strcmp(name, "math.min") == 0;
}

/* The operator of `s = value`; false if it is no reduction of s. */
static bool operator_of(const tally *all, ms_node *value, ms_reduce_op *op) {
  value = bare(value);
  if (mentions_in(all, value) != 1) return false;
  if (is_extreme_call(all, value, op)) {
    return ms_capture_is(all->capture, bare(value->kid[1])) ||
           ms_capture_is(all->capture, bare(value->kid[2]));
  }
  if (value->kind != MS_BINARY) return false;
  switch (value->op) {
    case MS_OP_ADD:
    case MS_OP_SUB:
      *op = MS_REDUCE_SUM;
      return in_sum(all, value);
    case MS_OP_MUL:
      *op = MS_REDUCE_PRODUCT;
      return in_product(all, value);
    case MS_OP_AND:
      *op = MS_REDUCE_AND;
      return heads_logic(all, value, MS_OP_AND);
    case MS_OP_OR:
      *op = MS_REDUCE_OR;
      return heads_logic(all, value, MS_OP_OR);
    default:
      return false;
  }
}

static bool look_for_call(ms_node *node, void *context) {
  bool *found = context;
  if (node->kind == MS_CALL || node->kind == MS_METHOD || node->kind == MS_FUNCTION) *found = true;
  return !*found;
}

/* Two spellings of one expression that gives the same value twice. */
static bool same_value(const ms_tree *tree, ms_node *a, ms_node *b) {
  bool calls = false;
  ms_node_walk(a, look_for_call, &calls);
  size_t length = a->end - a->begin;
  return !calls && length == b->end - b->begin &&
         memcmp(tree->text + a->begin, tree->text + b->begin, length) == 0;
}

/* if x > s then s = x end, in its four directions. */
static bool is_extreme_test(const tally *all, const ms_node *node, ms_reduce_op *op) {
  if (node->kind != MS_IF || node->kids != 2 || node->kid[1]->kids != 1) return false;
  ms_node *test = bare(node->kid[0]);
  const ms_node *assign = node->kid[1]->kid[0];
  if (test->kind != MS_BINARY || assign->kind != MS_ASSIGN) return false;
  if (assign->targets != 1 || assign->kids != 2) return false;
  if (test->op < MS_OP_LT || test->op > MS_OP_GE) return false;
  if (!ms_capture_is(all->capture, assign->kid[0])) return false;
  bool right = ms_capture_is(all->capture, bare(test->kid[1]));
  ms_node *other = right ? test->kid[0] : test->kid[1];
  if (!right && !ms_capture_is(all->capture, bare(test->kid[0]))) return false;
  if (mentions_in(all, other) != 0) return false;
  if (!same_value(all->loop->tree, other, assign->kid[1])) return false;
  bool greater = test->op == MS_OP_GT || test->op == MS_OP_GE;
  *op = greater == right ? MS_REDUCE_MAX : MS_REDUCE_MIN;
  return true;
}

static void add_reduction(tally *all, ms_reduce_op op, uint32_t mentions) {
  if (all->any && all->op != op) all->mixed = true;
  all->any = true;
  all->op = op;
  all->combined += mentions;
}

static bool visit(ms_node *node, void *context) {
  tally *all = context;
  ms_reduce_op op;
  if (node->kind == MS_FUNCTION) return false; /* its mentions are counted, never combined */
  if (is_extreme_test(all, node, &op)) {
    add_reduction(all, op, 2);
    return false;
  }
  if (node->kind == MS_ASSIGN && node->targets == 1 && node->kids == 2 &&
      ms_capture_is(all->capture, node->kid[0]) && operator_of(all, node->kid[1], &op))
    add_reduction(all, op, 2);
  return true;
}

bool ms_scalar_in_field(const ms_walk *walk, uint32_t index) {
  const ms_capture *capture = &walk->loop->captures[index];
  const ms_binding *binding = &walk->bindings[index];
  ms_reduce_op op;
  if (capture->field_count == 0 || binding->depth != capture->field_count) return false;
  if (binding->kind > MS_BIND_STRING || binding->aliased) return false;
  return ms_scalar_reduction(walk, capture, walk->loop->body, &op);
}

bool ms_scalar_reduction(const ms_walk *walk, const ms_capture *capture, ms_node *body,
                         ms_reduce_op *op) {
  tally all = {.loop = walk->loop, .bindings = walk->bindings, .capture = capture};
  ms_node_walk(body, visit, &all);
  *op = all.op;
  return all.any && !all.mixed && all.combined == mentions_in(&all, body);
}
