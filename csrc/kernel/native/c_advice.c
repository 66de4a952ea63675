/* SPDX-License-Identifier: MIT
 *
 * What reports say of fast mode. See c_advice.h. */
#include "kernel/native/c_advice.h"

#include <string.h>

#include "kernel/native/typed.h"

/* Deepest chain of calls that is followed. */
#define DEEPEST 16

typedef struct gain_search {
  const ms_typed *typed;
  uint32_t depth;
  bool computes, slow;
} gain_search;

/* Whether libm takes as long for floats: the others take half as long, or less. */
static bool is_slow(const char *name) {
  static const char *const names[] = {"math.tan",  "math.atan", "math.atan2", "math.sinh",
                                      "math.cosh", "math.tanh", "math.fmod"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    if (strcmp(names[k], name) == 0) return true;
  }
  return false;
}

static bool visit(ms_node *node, void *context);

static void look_at_call(gain_search *gain, const ms_node *node) {
  const ms_node *function = ms_typed_called(gain->typed, node);
  if (function != NULL && gain->depth < DEEPEST) {
    gain->depth++;
    ms_node_walk(function->function->body, visit, gain);
    gain->depth--;
  } else if (node->kind == MS_METHOD) {
    gain->slow = gain->slow || ms_measure_find(node->text) < MS_MEASURE_SIZE;
  } else {
    ms_kind_of kind = ms_typed_expression(gain->typed, node->kid[0]);
    bool builtin = kind.object == MS_OBJECT_BUILTIN;
    gain->computes = gain->computes || builtin;
    gain->slow = gain->slow || (builtin && is_slow(kind.name));
  }
}

static bool visit(ms_node *node, void *context) {
  gain_search *gain = context;
  if (ms_node_is_loop(node)) gain->slow = true;
  if (node->kind == MS_BINARY && node->op <= MS_OP_POW) gain->computes = true;
  if (node->kind == MS_CALL || node->kind == MS_METHOD) look_at_call(gain, node);
  return node->kind != MS_FUNCTION && node->kind != MS_INDEX && !gain->slow;
}

bool ms_c_advice_gains(ms_writer *w, const ms_node *region) {
  gain_search gain = {.typed = w->typed};
  bool counted = region->kind == MS_FOR_NUMERIC || region->kind == MS_FOR_GENERIC;
  for (uint32_t k = counted ? region->kids - 1 : 0; k < region->kids; k++)
    ms_node_walk(region->kid[k], visit, &gain);
  return gain.computes && !gain.slow;
}
