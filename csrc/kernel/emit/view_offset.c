/* SPDX-License-Identifier: MIT
 *
 * Offsets of views: finds the locals of a body that can be plain offsets instead of live view
 * objects.
 *
 * `local w = W[i]` becomes an offset when w is never assigned again and every use completes
 * the subscripts (`w[k]`), starts a further offset (`local v = w[j]`), or is an operand of a row
 * builtin (`w:dot(h)`); nested functions may use it so. Starts by believing every candidate and
 * takes back belief until nothing changes, since one view may depend on another. */
#include "kernel/emit/index_path.h"
#include "kernel/emit/row.h"

typedef struct ms_scan {
  ms_emitter *emitter;
  bool failed;
} ms_scan;

/* A local of the right form becomes a candidate. */
static void propose(ms_emitter *emitter, const ms_node *local, uint32_t at, bool *failed) {
  const ms_symbol *symbol = local->symbols[at];
  ms_index_path path;
  if (symbol->assigned || !ms_index_path_of(emitter, local->kid[at], &path)) return;
  if (ms_index_path_element(emitter, &path) || path.doubtful) return;
  ms_local_view *view = ms_arena_take(emitter->arena, 1, sizeof *view);
  if (view == NULL) {
    *failed = true;
    return;
  }
  *view = (ms_local_view){.array = path.array, .given = path.given + path.count, .live = true};
  emitter->views[symbol->index] = view;
}

static bool visit_propose(ms_node *node, void *context) {
  ms_scan *scan = context;
  if (node->kind != MS_LOCAL) return true;
  for (uint32_t s = 0; s < node->symbol_count && s < node->kids; s++) {
    propose(scan->emitter, node, s, &scan->failed);
  }
  return true;
}

static bool visit_count_targets(ms_node *node, void *context) {
  uint32_t *count = context;
  if (node->kind == MS_ASSIGN) *count += node->targets;
  return true;
}

/* Targets whose value cannot be checked on its way keep the object's semantics. */
static bool visit_block(ms_node *node, void *context) {
  ms_emitter *emitter = ((ms_scan *)context)->emitter;
  if (node->kind != MS_ASSIGN) return true;
  for (uint32_t t = 0; t < node->targets; t++) {
    if (!ms_index_path_stores_direct(node, t))
      emitter->blocked[emitter->blocked_count++] = node->kid[t];
  }
  return true;
}

static void allow(ms_emitter *emitter, const ms_index_path *path) {
  if (path->local != NULL) emitter->views[path->local->symbol->index]->allowed++;
}

static void allow_local(ms_emitter *emitter, const ms_node *node) {
  for (uint32_t s = 0; s < node->symbol_count && s < node->kids; s++) {
    const ms_local_view *view = emitter->views[node->symbols[s]->index];
    ms_index_path path;
    if (view != NULL && view->live && ms_index_path_of(emitter, node->kid[s], &path))
      allow(emitter, &path);
  }
}

static void allow_call(ms_emitter *emitter, const ms_node *node) {
  ms_row_call call;
  if (!ms_row_call_of(emitter, node, &call)) return;
  for (uint32_t r = 0; r < call.rows; r++) allow(emitter, &call.row[r]);
}

static bool visit_uses(ms_node *node, void *context) {
  ms_emitter *emitter = ((ms_scan *)context)->emitter;
  ms_index_path path;
  if (node->kind == MS_NAME && node->symbol != NULL) {
    ms_local_view *view = emitter->views[node->symbol->index];
    if (view != NULL) view->uses++;
  } else if (node->kind == MS_LOCAL) {
    allow_local(emitter, node);
  } else if (node->kind == MS_METHOD || node->kind == MS_EXPRESSION) {
    allow_call(emitter, node);
  } else if (ms_index_path_direct(emitter, node, &path)) {
    allow(emitter, &path);
  }
  return true;
}

/* Takes back belief in views with other uses; whether there were any. */
static bool reject(ms_emitter *emitter) {
  bool changed = false;
  for (uint32_t s = 0; s < emitter->job->loop->tree->symbols; s++) {
    ms_local_view *view = emitter->views[s];
    if (view == NULL || !view->live) continue;
    if (view->uses != view->allowed) {
      view->live = false;
      changed = true;
    }
  }
  return changed;
}

bool ms_emitter_blocked(const ms_emitter *emitter, const ms_node *node) {
  for (uint32_t b = 0; b < emitter->blocked_count; b++) {
    if (emitter->blocked[b] == node) return true;
  }
  return false;
}

int ms_emitter_view_offsets(ms_emitter *emitter) {
  ms_scan scan = {.emitter = emitter};
  ms_node *body = emitter->body;
  uint32_t targets = 0;
  ms_node_walk(body, visit_count_targets, &targets);
  emitter->blocked = ms_arena_take(emitter->arena, (size_t)targets + 1, sizeof *emitter->blocked);
  if (emitter->blocked == NULL) return -1;
  ms_node_walk(body, visit_block, &scan);
  ms_node_walk(body, visit_propose, &scan);
  if (scan.failed) return -1;
  do {
    for (uint32_t s = 0; s < emitter->job->loop->tree->symbols; s++) {
      if (emitter->views[s] != NULL) emitter->views[s]->uses = emitter->views[s]->allowed = 0;
    }
    ms_node_walk(body, visit_uses, &scan);
  } while (reject(emitter));
  return 0;
}
