/* SPDX-License-Identifier: MIT
 *
 * Inspectors, marks: what the slice does at each read of an expression. See inspector.h. */
#include "depend/capture_path.h"
#include "depend/effect.h"
#include "depend/inspector_state.h"

void ms_inspector_mark_kids(ms_inspector *inspector, ms_node *node, uint32_t first) {
  for (uint32_t k = first; k < node->kids; k++) {
    if (node->kid[k] != NULL) ms_inspector_mark(inspector, node->kid[k]);
  }
}

void ms_inspector_mark_subscripts(ms_inspector *inspector, ms_node *node) {
  for (ms_node *at = node; at->kind == MS_INDEX || at->kind == MS_PAREN; at = at->kid[0]) {
    if (at->kind == MS_INDEX && ms_capture_path_of(inspector->walk->loop, at) < 0)
      ms_inspector_mark(inspector, at->kid[1]);
  }
}

/* An element, or all below a view: whoever gets that may read any of it, and write it. */
static void mark_path(ms_inspector *inspector, ms_node *node, const ms_array_path *path) {
  if (path->candidate < 0) {
    ms_inspector_mark_subscripts(inspector, node);
    return;
  }
  bool element = path->subscripts >= inspector->walk->bindings[path->binding].dim_count;
  ms_inspector_access(inspector, node, path, !element);
}

static void mark_logic(ms_inspector *inspector, ms_node *node) {
  ms_inspector_mark(inspector, node->kid[0]);
  ms_taint taint = ms_inspector_taint(inspector, node->kid[0]), outer = inspector->control;
  size_t before = inspector->text->length;
  if (taint == 0) {
    ms_text_add(inspector->text, node->op == MS_OP_AND ? "if (" : "if not (");
    ms_inspector_copy(inspector, node->kid[0]);
    ms_text_add(inspector->text, ") then\n");
  }
  size_t inside = inspector->text->length;
  inspector->control |= taint;
  ms_inspector_mark(inspector, node->kid[1]);
  inspector->control = outer;
  if (inspector->text->length == inside) {
    inspector->text->length = before;
  } else if (taint == 0) {
    ms_text_add(inspector->text, "end;\n");
  }
}

static void mark_method(ms_inspector *inspector, ms_node *node) {
  ms_array_path path;
  bool array = ms_inspector_path(inspector, node->kid[0], &path);
  bool shape = array && ms_effect_is_shape(node->text);
  bool reads = array && path.candidate >= 0 &&
               ms_effect_of_method(node->text, node->kids - 1) == MS_EFFECT_PURE;
  if (reads && !shape) ms_inspector_access(inspector, node->kid[0], &path, false);
  ms_inspector_mark_kids(inspector, node, shape || reads ? 1 : 0);
}

void ms_inspector_mark(ms_inspector *inspector, ms_node *node) {
  ms_array_path path;
  switch (node->kind) {
    case MS_NAME:
    case MS_INDEX:
      if (ms_inspector_path(inspector, node, &path)) {
        mark_path(inspector, node, &path);
      } else if (node->kind == MS_INDEX) {
        ms_inspector_mark_kids(inspector, node, 0);
      }
      return;
    case MS_METHOD:
      mark_method(inspector, node);
      return;
    case MS_FUNCTION:
      return;
    case MS_BINARY:
      if (node->op == MS_OP_AND || node->op == MS_OP_OR) {
        mark_logic(inspector, node);
      } else {
        ms_inspector_mark_kids(inspector, node, 0);
      }
      return;
    default:
      ms_inspector_mark_kids(inspector, node, 0);
  }
}
