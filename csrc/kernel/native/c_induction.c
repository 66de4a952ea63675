/* SPDX-License-Identifier: MIT
 *
 * Writing C: induction variables. A variable that is assigned again is an integer nevertheless if
 * all that it is ever given are whole numbers, variables of loops over whole numbers, or itself and
 * a small step: `nearest = c`, `k = k + 1`. See c_induction.h.
 *
 * Such a variable stays below 2^52: a loop that counted further would not end in a lifetime. */
#include "kernel/native/c_induction.h"

#include <math.h>

#include "kernel/native/c_expression.h"
#include "kernel/native/c_integer.h"
#include "kernel/native/c_integer_value.h"

/* Steps up to here cannot leave the exact integers in time. */
#define STEP 1024.0

static const ms_node *inside(const ms_node *node) {
  while (node->kind == MS_PAREN) node = node->kid[0];
  return node;
}

static bool is_whole(const ms_node *node, double most) {
  node = inside(node);
  return node->kind == MS_NUMBER && !node->boxed && floor(node->number) == node->number &&
         fabs(node->number) <= most && !(node->number == 0 && signbit(node->number));
}

static bool is_step(const ms_node *node) {
  node = inside(node);
  if (node->kind == MS_UNARY && node->op == MS_OP_NEG) node = inside(node->kid[0]);
  return is_whole(node, STEP) && node->number != 0;
}

/* The variable of a loop that begins at a whole number and has a whole step. */
static bool is_loop_variable(const ms_node *node) {
  const ms_symbol *symbol = node->symbol;
  if (symbol == NULL || symbol->assigned || symbol->declaration == NULL) return false;
  const ms_node *loop = symbol->declaration;
  if (loop->kind != MS_FOR_NUMERIC || !is_whole(loop->kid[0], INT32_MAX)) return false;
  return loop->kid[2] == NULL || is_step(loop->kid[2]);
}

/* x + 1, x - 1 */
static bool is_increment(const ms_node *node, const ms_symbol *symbol) {
  if (node->kind != MS_BINARY || (node->op != MS_OP_ADD && node->op != MS_OP_SUB)) return false;
  const ms_node *left = inside(node->kid[0]);
  return left->kind == MS_NAME && left->symbol == symbol && is_step(node->kid[1]);
}

static bool is_counted(const ms_node *value, const ms_symbol *symbol) {
  value = inside(value);
  if (is_whole(value, INT32_MAX)) return true;
  if (value->kind == MS_NAME) return is_loop_variable(value);
  return is_increment(value, symbol);
}

typedef struct count_search {
  const ms_symbol *symbol;
  bool other; /* something else is assigned */
} count_search;

static bool visit(ms_node *node, void *context) {
  count_search *search = context;
  if (node->kind == MS_SET_FUNCTION && node->kid[0]->symbol == search->symbol) search->other = true;
  if (node->kind != MS_ASSIGN) return !search->other;
  for (uint32_t t = 0; t < node->targets; t++) {
    if (node->kid[t]->kind != MS_NAME || node->kid[t]->symbol != search->symbol) continue;
    bool given = node->targets + t < node->kids;
    if (!given || !is_counted(node->kid[node->targets + t], search->symbol)) search->other = true;
  }
  return !search->other;
}

bool ms_c_is_induction(const ms_symbol *symbol) {
  const ms_node *from = symbol->declaration;
  if (!symbol->assigned || from == NULL || from->kind != MS_LOCAL) return false;
  bool given = false;
  for (uint32_t s = 0; s < from->symbol_count && s < from->kids; s++)
    given = given || (from->symbols[s] == symbol && is_counted(from->kid[s], symbol));
  if (!given) return false;
  count_search search = {.symbol = symbol};
  ms_node_walk((ms_node *)(uintptr_t)symbol->function->body, visit, &search);
  return !search.other;
}

const char *ms_c_induction_counted(ms_writer *w, const ms_node *value) {
  ms_integer_value whole = ms_c_integer_value_static(w, value);
  if (whole.known) return whole.text;
  return ms_c_text(w, "(int64_t)%s", ms_c_expression_operand(w, value, false));
}
