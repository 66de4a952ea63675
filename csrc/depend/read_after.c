/* SPDX-License-Identifier: MIT
 *
 * Reads after the loop: see read_after.h. */
#include "depend/read_after.h"

#include "depend/capture_path.h"
#include "depend/scalar.h"

typedef struct reader {
  const ms_loop *loop;
  const ms_capture *capture;
  bool again; /* the loop stands in another, or among gotos: what is before it also runs after */
  bool found;
} reader;

static bool look_for_outer(ms_node *node, void *context) {
  reader *look = context;
  const ms_node *own = look->loop->statement;
  bool repeats = node->kind == MS_WHILE || node->kind == MS_REPEAT || node->kind == MS_GOTO ||
                 node->kind == MS_FOR_NUMERIC || node->kind == MS_FOR_GENERIC;
  bool around = node->begin <= own->begin && node->end >= own->end && node != own;
  if (node->kind == MS_LABEL || (repeats && around)) look->again = true;
  return true;
}

static bool look_for_read(ms_node *node, void *context) {
  reader *look = context;
  const ms_node *own = look->loop->statement;
  if (node == look->loop->body || look->found) return false;
  if (node->kind == MS_ASSIGN) {
    for (uint32_t k = 0; k < node->kids; k++) {
      bool target = k < node->targets && ms_capture_path_is(look->capture, node->kid[k]);
      if (!target) ms_node_walk(node->kid[k], look_for_read, look);
    }
    return false;
  }
  bool later = look->again || node->begin >= own->end;
  if (later && ms_capture_path_is(look->capture, node)) look->found = true;
  return true;
}

static bool look_for_jump(ms_node *node, void *context) {
  bool *found = context;
  *found = *found || node->kind == MS_GOTO || node->kind == MS_LABEL || node->kind == MS_BREAK;
  return !*found;
}

/* Whether a statement reads the variable, or leads elsewhere than to the next one. */
static bool reads_or_jumps(const reader *look, ms_node *node) {
  reader here = {.loop = look->loop, .capture = look->capture, .again = true};
  bool jumps = false;
  ms_node_walk(node, look_for_read, &here);
  ms_node_walk(node, look_for_jump, &jumps);
  return here.found || jumps;
}

/* Whether the statements right behind the loop give the variable another value before they read it.
 * One that functions share they may read, too. */
static bool is_given_anew(const reader *look) {
  const ms_node *own = look->loop->statement, *block = own->parent;
  if (block == NULL || block->kind != MS_BLOCK || look->loop->closure != NULL) return false;
  for (uint32_t k = own->ordinal + 1; k < block->kids; k++) {
    ms_node *node = block->kid[k];
    if (reads_or_jumps(look, node)) return false;
    for (uint32_t t = 0; node->kind == MS_ASSIGN && t < node->targets; t++) {
      if (ms_capture_path_is(look->capture, node->kid[t])) return true;
    }
    if (node->kind == MS_RETURN) return true;
  }
  return false;
}

bool ms_capture_is_read_after(const ms_loop *loop, const ms_capture *capture) {
  reader look = {.loop = loop, .capture = capture};
  look.again =
      capture->reach != MS_REACH_LOCAL || capture->symbol == NULL || capture->symbol->upvalue;
  if (!look.again && is_given_anew(&look)) return false;
  ms_node_walk(loop->function->body, look_for_outer, &look);
  ms_node_walk(loop->tree->main->body, look_for_read, &look);
  return look.found;
}
