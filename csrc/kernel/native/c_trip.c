/* SPDX-License-Identifier: MIT
 *
 * Writing C: how often numeric loops run. See c_trip.h. */
#include "kernel/native/c_trip.h"

#include "kernel/emit/variable.h"

typedef struct extent_search {
  ms_writer *w;
  const ms_symbol *symbol;
  int64_t extent; /* 0: none found */
  bool loops;
} extent_search;

static bool visit_row(ms_node *node, void *context) {
  extent_search *search = context;
  search->loops = search->loops || node->kind == MS_FOR_NUMERIC || node->kind == MS_WHILE ||
                  node->kind == MS_REPEAT;
  if (node->kind != MS_INDEX || search->extent != 0) return true;
  const ms_node *key = node->kid[1];
  ms_kind_of base = ms_typed_expression(search->w->typed, node->kid[0]);
  if (key->kind == MS_NAME && key->symbol == search->symbol && base.object == MS_OBJECT_VIEW)
    search->extent = search->w->emitter->job->bindings[base.array].dims[base.given];
  return true;
}

int64_t ms_c_trip(ms_writer *w, const ms_node *loop, const ms_integer_value *limit) {
  extent_search search = {.w = w, .symbol = loop->symbols[0]};
  ms_node_walk(loop->kid[3], visit_row, &search);
  const ms_node *value, *first = loop->kid[0], *last = loop->kid[1];
  if (first->kind != MS_NUMBER || first->number != 1) return 0;
  if (limit->least == limit->most) return search.loops ? 0 : limit->most;
  if (limit->likely > 0) return search.loops ? 0 : limit->likely;
  uint32_t at = ms_typed_binding(w->typed, last, &value);
  if (search.extent == 0 || at == MS_NO_CAPTURE || value != last || ms_variable_is(w->emitter, at))
    return 0;
  for (uint32_t c = 0; c < w->constants; c++) {
    if (w->constant[c].capture == at) return search.loops ? 0 : w->constant[c].value;
  }
  if (w->constants >= MS_CONSTANTS) return 0;
  w->constant[w->constants++] = (ms_constant){at, search.extent};
  return search.loops ? 0 : search.extent;
}

uint32_t ms_c_trip_uses(const ms_node *node, const ms_symbol *symbol) {
  uint32_t count = node->kind == MS_NAME && node->symbol == symbol ? 1 : 0;
  for (uint32_t k = 0; k < node->kids; k++) {
    if (node->kid[k] != NULL) count += ms_c_trip_uses(node->kid[k], symbol);
  }
  return count;
}

typedef struct scan_search {
  const ms_node *loop;
  bool found;
} scan_search;

static bool visit_scan(ms_node *node, void *context) {
  scan_search *search = context;
  if (node->kind != MS_ASSIGN || node->targets != 1 || node->kid[0]->kind != MS_NAME) return true;
  const ms_symbol *symbol = node->kid[0]->symbol;
  if (symbol == NULL || symbol->declaration == NULL) return true;
  bool carried = symbol->declaration->begin < search->loop->begin;
  if (carried && ms_c_trip_uses(search->loop->kid[3], symbol) > ms_c_trip_uses(node, symbol))
    search->found = true;
  return !search->found;
}

bool ms_c_trip_is_elementwise(const ms_node *loop) {
  const ms_node *body = loop->kid[3];
  for (uint32_t s = 0; s < body->kids; s++) {
    const ms_node *statement = body->kid[s];
    if (statement->kind == MS_LOCAL) continue;
    if (statement->kind != MS_ASSIGN) return false;
    for (uint32_t t = 0; t < statement->targets; t++) {
      const ms_node *target = statement->kid[t];
      const ms_node *key = target->kind == MS_INDEX ? target->kid[1] : NULL;
      if (key == NULL || key->kind != MS_NAME || key->symbol != loop->symbols[0]) return false;
    }
  }
  return true;
}

bool ms_c_trip_is_scan(const ms_node *loop) {
  scan_search search = {.loop = loop};
  ms_node_walk(loop->kid[3], visit_scan, &search);
  return search.found;
}

/* Nodes of a subscript, and of what its locals are given, that are looked at. */
#define MOST_LOOKED_AT 64

typedef struct scatter_search {
  const ms_node *loop;
  uint32_t left; /* nodes that are still looked at for one subscript */
  bool found;
} scatter_search;

/* Whether there is an element in a node, or in what the loop's body gives a local there. */
static bool has_element(scatter_search *search, const ms_node *node) {
  if (node == NULL || search->left == 0) return false;
  search->left--;
  bool found = node->kind == MS_INDEX;
  const ms_node *local =
      node->kind == MS_NAME && node->symbol != NULL ? node->symbol->declaration : NULL;
  if (local == NULL || local->kind != MS_LOCAL || local->begin < search->loop->begin) local = node;
  for (uint32_t k = 0; k < local->kids && !found; k++) found = has_element(search, local->kid[k]);
  return found;
}

static bool visit_scatter(ms_node *node, void *context) {
  scatter_search *search = context;
  for (uint32_t t = 0; node->kind == MS_ASSIGN && t < node->targets; t++) {
    for (const ms_node *at = node->kid[t]; at->kind == MS_INDEX; at = at->kid[0]) {
      search->left = MOST_LOOKED_AT;
      search->found = search->found || has_element(search, at->kid[1]);
    }
  }
  return !search->found;
}

bool ms_c_trip_is_scatter(const ms_node *loop) {
  scatter_search search = {.loop = loop};
  ms_node_walk(loop->kid[3], visit_scatter, &search);
  return search.found;
}
