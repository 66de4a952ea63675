/* SPDX-License-Identifier: MIT
 *
 * Syntax tree: see tree.h. Parsing is in parse.c. */
#include "syntax/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* LuaJIT's LUA_IDSIZE: how long a chunk's short name made of its text may be. */
#define TEXT_NAME_SIZE 60

void ms_tree_destroy(ms_tree **tree) {
  if (*tree == NULL) return;
  ms_arena_destroy(&(*tree)->arena);
  free(*tree);
  *tree = NULL;
}

/* The first child from kid[index] on, or a function's body; NULL if there is none. */
static ms_node *child_from(const ms_node *node, uint32_t index) {
  if (node->kind == MS_FUNCTION) return index == 0 ? node->function->body : NULL;
  while (index < node->kids && node->kid[index] == NULL) index++;
  return index < node->kids ? node->kid[index] : NULL;
}

/* Goes by the parents instead of recursing: a chain of operators may be as long as the text. */
void ms_node_walk(ms_node *node, bool (*visit)(ms_node *node, void *context), void *context) {
  ms_node *at = node;
  for (;;) {
    ms_node *next = visit(at, context) ? child_from(at, 0) : NULL;
    while (next == NULL) {
      if (at == node) return;
      next = child_from(at->parent, at->ordinal + 1);
      at = at->parent;
    }
    at = next;
  }
}

ms_node *ms_node_bare(const ms_node *node) {
  while (node->kind == MS_PAREN) node = node->kid[0];
  return (ms_node *)(uintptr_t)node;
}

bool ms_node_is_choice(const ms_node *node, const ms_node **condition, const ms_node **yes) {
  if (node->kind != MS_BINARY || node->op != MS_OP_OR) return false;
  const ms_node *both = ms_node_bare(node->kid[0]);
  if (both->kind != MS_BINARY || both->op != MS_OP_AND) return false;
  *condition = both->kid[0];
  *yes = both->kid[1];
  return true;
}

const char *ms_op_name(ms_op op) {
  static const char *const names[] = {
      [MS_OP_ADD] = "+",   [MS_OP_SUB] = "-",   [MS_OP_MUL] = "*",     [MS_OP_DIV] = "/",
      [MS_OP_MOD] = "%",   [MS_OP_POW] = "^",   [MS_OP_CONCAT] = "..", [MS_OP_EQ] = "==",
      [MS_OP_NE] = "~=",   [MS_OP_LT] = "<",    [MS_OP_LE] = "<=",     [MS_OP_GT] = ">",
      [MS_OP_GE] = ">=",   [MS_OP_AND] = "and", [MS_OP_OR] = "or",     [MS_OP_NEG] = "-",
      [MS_OP_NOT] = "not", [MS_OP_LEN] = "#",
  };
  return names[op];
}

void ms_tree_place(const ms_tree *tree, char *out, size_t size) {
  const char *name = tree->name;
  if (name[0] == '@' || name[0] == '=') {
    size_t length = strlen(name + 1);
    if (length < size)
      memcpy(out, name + 1, length + 1);
    else
      snprintf(out, size, "...%s", name + 1 + length - (size - 4));
    return;
  }
  size_t length = 0;
  while (length < TEXT_NAME_SIZE - 12 && (unsigned char)name[length] >= ' ') length++;
  const char *more = name[length] == '\0' ? "" : "...";
  if (name[length] != '\0' && length > TEXT_NAME_SIZE - 15) length = TEXT_NAME_SIZE - 15;
  snprintf(out, size, "[string \"%.*s%s\"]", (int)length, name, more);
}

bool ms_node_is_multiple(const ms_node *node) {
  return node->kind == MS_CALL || node->kind == MS_METHOD || node->kind == MS_VARARG;
}

bool ms_node_same_text(const ms_node *a, const ms_node *b) {
  if (a->text == NULL || b->text == NULL) return a->text == b->text;
  return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

bool ms_node_is_same(const ms_node *a, const ms_node *b) {
  if (a == NULL || b == NULL) return a == b;
  if (a->kind != b->kind || a->op != b->op || a->symbol != b->symbol || a->kids != b->kids ||
      a->boxed != b->boxed || !ms_node_same_text(a, b))
    return false;
  if (a->kind == MS_NUMBER && memcmp(&a->number, &b->number, sizeof a->number) != 0) return false;
  for (uint32_t k = 0; k < a->kids; k++) {
    if (!ms_node_is_same(a->kid[k], b->kid[k])) return false;
  }
  return true;
}

bool ms_node_is_inside(const ms_node *node, const ms_node *around) {
  while (node != NULL && node != around) node = node->parent;
  return node != NULL;
}

bool ms_node_is_loop(const ms_node *node) {
  return node->kind == MS_WHILE || node->kind == MS_REPEAT || node->kind == MS_FOR_NUMERIC ||
         node->kind == MS_FOR_GENERIC;
}
