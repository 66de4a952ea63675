/* SPDX-License-Identifier: MIT
 *
 * Ties: see tie.h. */
#include "depend/tie.h"
#include "depend/capture_path.h"

static bool is_index_name(const ms_tally *all, const ms_node *node);

/* A sum of indices and constants, or a multiple of one: finite, and never nan. */
static bool is_index(const ms_tally *all, const ms_node *node) {
  node = ms_node_bare(node);
  if (node->kind == MS_NUMBER) return !node->boxed && node->number - node->number == 0;
  if (node->kind == MS_NAME) return is_index_name(all, node);
  if (node->kind == MS_UNARY) return node->op == MS_OP_NEG && is_index(all, node->kid[0]);
  if (node->kind != MS_BINARY) return false;
  const ms_node *a = ms_node_bare(node->kid[0]), *b = ms_node_bare(node->kid[1]);
  if (node->op == MS_OP_MUL && a->kind != MS_NUMBER && b->kind != MS_NUMBER) return false;
  if (node->op != MS_OP_ADD && node->op != MS_OP_SUB && node->op != MS_OP_MUL) return false;
  return is_index(all, a) && is_index(all, b);
}

/* An index of the loop, or of one in its body that begins at an index. */
static bool is_index_name(const ms_tally *all, const ms_node *node) {
  const ms_symbol *symbol = node->symbol;
  if (symbol == NULL || symbol->assigned) return false;
  for (uint32_t i = 0; i < all->loop->index_count && i < all->walk->space->dim_count; i++) {
    if (all->loop->indices[i] == symbol) return true;
  }
  const ms_node *loop = symbol->declaration;
  if (loop == NULL || loop->kind != MS_FOR_NUMERIC) return false;
  return is_index(all, loop->kid[0]) && (loop->kid[2] == NULL || is_index(all, loop->kid[2]));
}

/* The value that a variable is asked to be equal to; NULL: the test asks for something else. */
static const ms_node *equal_to(const ms_capture *capture, const ms_node *test) {
  test = ms_node_bare(test);
  if (test->kind != MS_BINARY || test->op != MS_OP_EQ) return NULL;
  bool right = ms_capture_path_is(capture, ms_node_bare(test->kid[1]));
  if (!right && !ms_capture_path_is(capture, ms_node_bare(test->kid[0]))) return NULL;
  return test->kid[right ? 0 : 1];
}

/* Both sides of a binary operator; false: the node is something else. */
static bool sides(const ms_node *node, ms_op op, const ms_node **left, const ms_node **right) {
  node = ms_node_bare(node);
  if (node->kind != MS_BINARY || node->op != op) return false;
  *left = node->kid[0];
  *right = node->kid[1];
  return true;
}

/* `i < p`, p a variable of the block that gets i there. */
static bool is_tie(const ms_tally *all, const ms_node *test, const ms_node *block, ms_tie *tie) {
  test = ms_node_bare(test);
  uint32_t places;
  for (uint32_t k = 0; test->kind == MS_BINARY && k < 2; k++) {
    int64_t at = ms_capture_path_of(all->loop, ms_node_bare(test->kid[k]));
    ms_reduce_form is = {0};
    const ms_node *other;
    if (at < 0) continue;
    const ms_capture *capture = &all->loop->captures[at];
    const ms_node *value = ms_extreme_given(block, capture, &places);
    if (value == NULL || !ms_extreme_compares(capture, test, &other, &is)) continue;
    *tie = (ms_tie){.capture = (uint32_t)at, .op = is.op, .wins = is.wins};
    return is_index(all, value) && ms_tally_same_value(all, other, value);
  }
  return false;
}

/* `v == s and T`, s having got v: T's ties. */
static bool find_ties(const ms_tally *all, const ms_capture *capture, const ms_node *test,
                      const ms_node *block, ms_reduce_form *is) {
  const ms_node *equal, *rest, *more = NULL;
  uint32_t places;
  if (!sides(test, MS_OP_AND, &equal, &rest)) return false;
  const ms_node *value = equal_to(capture, equal);
  if (value == NULL || is->tie_count == MS_MOST_TIES) return false;
  const ms_node *given = ms_extreme_given(block, capture, &places);
  if (given == NULL || !ms_tally_same_value(all, value, given)) return false;
  sides(rest, MS_OP_OR, &rest, &more);
  ms_tie *tie = &is->ties[is->tie_count];
  if (!is_tie(all, rest, block, tie) || ms_tie_of(is, tie->capture) > 0) return false;
  is->tie_count++;
  if (more == NULL) return true;
  const ms_capture *next = &all->loop->captures[tie->capture];
  return tie->wins == MS_WINS_BEYOND && find_ties(all, next, more, block, is);
}

const ms_node *ms_ties_find(const ms_tally *all, const ms_capture *capture, const ms_node *test,
                            const ms_node *block, ms_reduce_form *is) {
  const ms_node *beyond, *equal;
  ms_reduce_form found = *is;
  if (!sides(test, MS_OP_OR, &beyond, &equal)) return test;
  if (!find_ties(all, capture, equal, block, &found)) return test;
  *is = found;
  return ms_node_bare(beyond);
}

uint32_t ms_tie_of(const ms_reduce_form *is, uint32_t capture) {
  for (uint32_t t = 0; t < is->tie_count; t++) {
    if (is->ties[t].capture == capture) return t + 1;
  }
  return 0;
}

bool ms_ties_same(const ms_reduce_form *a, const ms_reduce_form *b) {
  if (a->tie_count != b->tie_count) return false;
  for (uint32_t t = 0; t < a->tie_count; t++) {
    const ms_tie *one = &a->ties[t], *other = &b->ties[t];
    if (one->capture != other->capture || one->op != other->op || one->wins != other->wins)
      return false;
  }
  return true;
}
