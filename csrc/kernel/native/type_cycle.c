/* SPDX-License-Identifier: MIT
 *
 * Typed form: which functions call themselves, directly or through others. See typed.h. */
#include "kernel/native/typed.h"

/* Which functions a function calls. */
typedef struct call_edges {
  const ms_typed *typed;
  bool *row; /* by number of the callee */
} call_edges;

static uint32_t number_of(const ms_typed *typed, const ms_node *function) {
  uint32_t number = 0;
  for (const ms_callee *each = typed->callees; each != NULL && each->node != function;
       each = each->next)
    number++;
  return number;
}

static bool visit_edge(ms_node *node, void *context) {
  call_edges *edges = context;
  if (node->kind == MS_FUNCTION) return false;
  const ms_node *called = ms_typed_called(edges->typed, node);
  if (called != NULL && ms_typed_callee(edges->typed, called) != NULL)
    edges->row[number_of(edges->typed, called)] = true;
  return true;
}

void ms_typed_find_cycles(ms_typed *typed) {
  uint32_t count = number_of(typed, NULL), a = 0;
  bool *reach = ms_arena_take(typed->emitter->arena, (size_t)count * count + 1, sizeof *reach);
  if (reach == NULL) {
    typed->failed = true;
    return;
  }
  for (ms_callee *each = typed->callees; each != NULL; each = each->next) {
    call_edges edges = {typed, reach + (size_t)a++ * count};
    ms_node_walk(each->node->function->body, visit_edge, &edges);
  }
  for (uint32_t by = 0; by < count; by++) {
    for (uint32_t from = 0; from < count; from++) {
      for (uint32_t to = 0; reach[from * count + by] && to < count; to++)
        reach[from * count + to] |= reach[by * count + to];
    }
  }
  a = 0;
  for (ms_callee *each = typed->callees; each != NULL; each = each->next, a++) {
    for (uint32_t b = count; b-- > 0;) {
      if (reach[a * count + b] && reach[b * count + a]) each->cycle = b + 1;
    }
    typed->cycles = typed->cycles || each->cycle != 0;
  }
}

uint32_t ms_typed_cycle(const ms_typed *typed, const ms_node *function) {
  const ms_callee *callee = ms_typed_callee(typed, function);
  return callee != NULL ? callee->cycle : 0;
}
