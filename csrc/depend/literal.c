/* SPDX-License-Identifier: MIT
 *
 * Walk, functions that the text makes and only calls: `local function f(w) ... end ... f(W[i])`.
 * See walk.h.
 *
 * Such a function is no value that goes anywhere: its text is walked where it is called, with what
 * it is given there, as that of captured functions is (inline.c). Others, and calls that are nested
 * too deeply, are walked as what may be called at any time with anything. */
#include <string.h>

#include "depend/call.h"
#include "depend/flow.h"
#include "depend/inline.h"
#include "depend/literal.h"
#include "depend/piece.h"
#include "depend/variable_value.h"
#include "depend/walk.h"

/* Calls inside calls, and calls in all, that are walked. */
#define MAX_CALLS    12U
#define MAX_LITERALS 300U

struct ms_literal {
  ms_literal *caller;
  ms_function *function;
  const ms_node *tail; /* the return at the end, if the function has no other; else NULL */
  ms_abstract_value result;
};

/* The variable that a function is the value of from the start. */
static const ms_symbol *name_of(const ms_node *node) {
  const ms_node *made = node->parent;
  if (made->kind != MS_LOCAL && made->kind != MS_LOCAL_FUNCTION) return NULL;
  return node->ordinal < made->symbol_count ? made->symbols[node->ordinal] : NULL;
}

typedef struct use {
  const ms_symbol *symbol;
  const ms_node *inside; /* the function */
  bool other;            /* than a call from outside of it */
} use;

static bool look_for_use(ms_node *node, void *context) {
  use *found = context;
  if (node->kind != MS_NAME || node->symbol != found->symbol) return !found->other;
  const ms_node *call = node->parent;
  bool called = call->kind == MS_CALL && node->ordinal == 0;
  bool inside = node->begin >= found->inside->begin && node->end <= found->inside->end;
  found->other = found->other || !called || inside;
  return false;
}

ms_function *ms_literal_only_called(const ms_node *node) {
  const ms_symbol *symbol = name_of(node);
  if (symbol == NULL || symbol->assigned || node->function->vararg) return NULL;
  use found = {symbol, node, false};
  ms_node *block = node->parent->parent; /* the condition of a repeat sees its block's variables */
  if (block->parent != NULL && block->parent->kind == MS_REPEAT) block = block->parent;
  ms_node_walk(block, look_for_use, &found);
  return found.other ? NULL : node->function;
}

void ms_walk_give_literal(ms_walk *walk, const ms_node *node, const ms_abstract_value *value) {
  ms_literal *literal = walk->literal;
  literal->result =
      node == literal->tail ? *value : ms_variable_value_either(walk, &literal->result, value);
}

static uint32_t depth_of(const ms_literal *literal) {
  uint32_t depth = 0;
  for (; literal != NULL; literal = literal->caller) depth++;
  return depth;
}

/* Its statements; quotients and ranges that an exact result mentions stay in scope. */
static void walk_body(ms_walk *walk, ms_literal *literal) {
  ms_node *body = literal->function->body;
  uint32_t scope = walk->scope_count;
  ms_returns returns;
  ms_abstract_value pieces;
  ms_returns_begin(walk, &returns);
  ms_flow_enter(walk);
  for (uint32_t k = 0; k < body->kids; k++) ms_walk_statement(walk, body->kid[k]);
  ms_flow_close_jumps(walk, body);
  bool known = ms_returns_end(walk, &pieces) && literal->tail == NULL;
  if (known) literal->result = pieces;
  if (literal->tail == NULL && !known) walk->scope_count = scope;
}

static void walk_literal(ms_walk *walk, ms_literal *literal, const ms_passed *passed) {
  uint32_t possible = walk->possible, functions = walk->functions, loops = walk->loops;
  uint32_t exits = walk->exits, breaks = walk->breaks;
  const ms_guard *guard = walk->guard;
  ms_entrance block = walk->block;
  walk->literals++;
  walk->possible += functions;
  walk->functions = walk->loops = 0;
  walk->literal = literal;
  ms_inline_parameters(walk, literal->function, passed);
  walk_body(walk, literal);
  walk->literal = literal->caller;
  walk->possible = possible;
  walk->functions = functions;
  walk->loops = loops;
  walk->exits = exits;
  walk->breaks = breaks;
  walk->guard = guard;
  walk->block = block;
}

void ms_walk_literal(ms_walk *walk, ms_function *function, const ms_passed *passed,
                     ms_abstract_value *value) {
  ms_literal literal = {.caller = walk->literal, .function = function};
  if (depth_of(walk->literal) >= MAX_CALLS || walk->literals >= MAX_LITERALS) {
    ms_walk_function(walk, function);
    *value = ms_abstract_value_other(UINT64_MAX, true);
    return;
  }
  literal.tail = ms_inline_tail(function->body);
  literal.result = ms_abstract_value_scalar();
  walk_literal(walk, &literal, passed);
  *value = literal.result;
}
