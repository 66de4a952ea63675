/* SPDX-License-Identifier: MIT
 *
 * Keys in strings: names of variables and fields that the body has in captured strings. See loop.h.
 */
#include <ctype.h>
#include <string.h>

#include "base/digit.h"
#include "syntax/loop.h"

/* Whether the symbol is declared by the loop or inside its body. */
bool ms_loop_declares(const ms_loop *loop, const ms_symbol *symbol) {
  if (symbol->next) return false; /* as the name that it stands for */
  if (loop->closure == NULL) return symbol->index >= loop->indices[0]->index;
  const ms_function *function = symbol->function;
  while (function != NULL && function != loop->closure) function = function->parent;
  return function != NULL;
}

typedef struct assigning {
  const ms_loop *loop;
  const ms_symbol *symbol;
  bool found;
} assigning;

/* The function whose code a node is; NULL: the main chunk. */
static const ms_node *function_around(const ms_node *node) {
  do node = node->parent;
  while (node != NULL && node->kind != MS_FUNCTION);
  return node;
}

static bool look_for_assignment(ms_node *node, void *context) {
  assigning *look = context;
  if (node->kind != MS_NAME || node->symbol != look->symbol) return !look->found;
  const ms_node *parent = node->parent;
  bool target = (parent->kind == MS_ASSIGN && node->ordinal < parent->targets) ||
                (parent->kind == MS_SET_FUNCTION && node->ordinal == 0);
  const ms_node *body = look->loop->body;
  bool inside = node->begin >= body->begin && node->end <= body->end;
  if (target && (inside || function_around(node) != look->symbol->function->node))
    look->found = true;
  return !look->found;
}

/* Whether a node is a local variable from outside that nothing assigns while the loop runs: the
 * body does not, nor does any other function than the one that declares it. */
static bool is_constant(const ms_loop *loop, const ms_node *node) {
  if (node->kind != MS_NAME || node->symbol == NULL) return false;
  if (ms_loop_declares(loop, node->symbol)) return false;
  assigning look = {loop, node->symbol, false};
  if (node->symbol->assigned) ms_node_walk(loop->tree->main->body, look_for_assignment, &look);
  return !look.found;
}

bool ms_loop_is_getfenv(const ms_node *node, double *level) {
  if (node->kind != MS_CALL || node->kids > 2) return false;
  const ms_node *callee = node->kid[0], *argument = node->kids == 2 ? node->kid[1] : NULL;
  if (callee->kind != MS_NAME || callee->symbol != NULL) return false;
  if (strcmp(callee->text, "getfenv") != 0) return false;
  if (argument != NULL && (argument->kind != MS_NUMBER || argument->boxed)) return false;
  *level = argument != NULL ? argument->number : 1;
  return *level == 0 || *level == 1;
}

/* Whether `node[key]` is the end of a path from a name of outside, or from getfenv(). */
static bool is_path(const ms_loop *loop, const ms_node *node) {
  double level;
  while (node->kind == MS_INDEX) {
    const ms_node *key = node->kid[1];
    if (key->kind != MS_STRING && !is_constant(loop, key)) return false;
    node = node->kid[0];
  }
  if (node->kind == MS_NAME) return node->symbol == NULL || !ms_loop_declares(loop, node->symbol);
  return ms_loop_is_getfenv(node, &level);
}

typedef struct visiting {
  const ms_loop *loop;
  void (*visit)(ms_node *node, void *context);
  void *context;
} visiting;

static bool look_for_key(ms_node *node, void *context) {
  const visiting *all = context;
  double level;
  if (node->kind != MS_INDEX || !is_path(all->loop, node)) return true;
  ms_node *key = node->kid[1];
  bool direct = ms_loop_is_getfenv(node->kid[0], &level);
  if (key->kind == MS_NAME) all->visit(key, all->context);
  if (direct) all->visit(node, all->context);
  return true;
}

void ms_loop_each_key(const ms_loop *loop, void (*visit)(ms_node *node, void *context),
                      void *context) {
  visiting all = {loop, visit, context};
  ms_node_walk(loop->body, look_for_key, &all);
}

static bool is_identifier(const ms_node *key) {
  if (key->length == 0 || ms_is_digit(key->text[0])) return false;
  for (size_t b = 0; b < key->length; b++) {
    unsigned char letter = (unsigned char)key->text[b];
    if (letter > 127 || (!isalnum(letter) && letter != '_')) return false;
  }
  return true;
}

void ms_loop_settle_key(ms_node *node, const char *text, size_t length) {
  node->kind = MS_STRING;
  node->settled = true;
  node->symbol = NULL;
  node->text = text;
  node->length = length;
}

void ms_loop_settle_global(ms_node *node) {
  const ms_node *key = node->kid[1];
  if (key->kind != MS_STRING || !is_identifier(key)) return;
  node->kind = MS_NAME;
  node->settled = true;
  node->symbol = NULL;
  node->text = key->text;
  node->length = key->length;
  node->kids = 0;
}
