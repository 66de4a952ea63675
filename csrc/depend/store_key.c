/* SPDX-License-Identifier: MIT
 *
 * Keys of stores: see store_key.h. */
#include "depend/store_key.h"

#include "depend/capture_path.h"

typedef struct names {
  const ms_walk *walk;
  bool index, other; /* the loop's own; one that the body computes */
} names;

static bool look_for_names(ms_node *node, void *context) {
  names *look = context;
  const ms_loop *loop = look->walk->loop;
  bool index = false;
  if (ms_capture_path_of(loop, node) >= 0 || node->kind == MS_NUMBER) return false;
  for (uint32_t i = 0; i < loop->index_count && node->kind == MS_NAME; i++)
    index = index || loop->indices[i] == node->symbol;
  look->index = look->index || index;
  bool sum = node->kind == MS_PAREN || (node->kind == MS_BINARY && node->op <= MS_OP_MUL);
  look->other = look->other || !(index || sum);
  return true;
}

bool ms_store_key_is_own(const ms_walk *walk, ms_node *key) {
  names look = {.walk = walk};
  ms_node_walk(key, look_for_names, &look);
  return look.index && !look.other;
}

bool ms_store_key_is_counter(const ms_walk *walk, const ms_node *key) {
  int64_t capture = ms_capture_path_of(walk->loop, key);
  return capture >= 0 && walk->loop->captures[capture].assigned &&
         walk->bindings[capture].kind == MS_BIND_NUMBER;
}
