/* SPDX-License-Identifier: MIT
 *
 * Writing C: expressions that take less time than a branch. See c_plain.h. */
#include "kernel/native/c_plain.h"

#include <string.h>

/* Nodes that are worth evaluating for nothing, so that compilers have no branch there. */
#define MOST_PLAIN 24

/* Calls that take no longer than an addition. */
static bool is_extreme(const ms_writer *w, const ms_node *call) {
  ms_kind_of called = ms_typed_expression(w->typed, call->kid[0]);
  return called.object == MS_OBJECT_BUILTIN &&
         (strcmp(called.name, "math.max") == 0 || strcmp(called.name, "math.min") == 0);
}

/* Of at most *left nodes. */
static bool is_plain(const ms_writer *w, const ms_node *node, uint32_t *left) {
  if (*left == 0) return false;
  --*left;
  switch (node->kind) {
    case MS_NUMBER:
    case MS_NAME:
      return true;
    case MS_PAREN:
      return is_plain(w, node->kid[0], left);
    case MS_UNARY:
      return node->op != MS_OP_LEN && is_plain(w, node->kid[0], left);
    case MS_BINARY:
      if (node->op > MS_OP_MUL && node->op < MS_OP_EQ) return false;
      return is_plain(w, node->kid[0], left) && is_plain(w, node->kid[1], left);
    case MS_INDEX:
      return is_plain(w, node->kid[0], left) && is_plain(w, node->kid[1], left);
    case MS_CALL:
      for (uint32_t k = 1; k < node->kids; k++) {
        if (!is_plain(w, node->kid[k], left)) return false;
      }
      return is_extreme(w, node);
    default:
      return false;
  }
}

bool ms_c_is_plain(const ms_writer *w, const ms_node *node) {
  uint32_t most = MOST_PLAIN;
  return is_plain(w, node, &most);
}
