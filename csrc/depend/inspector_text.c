/* SPDX-License-Identifier: MIT
 *
 * Inspectors, the slice: the body's text with reads turned into marks. See inspector.h.
 *
 * The text is written again as long as that makes further variables needed. Invariant: whatever is
 * copied from the body depends on nothing that is served, written or unknown. */
#include <string.h>

#include "depend/effect.h"
#include "depend/inspector_state.h"

static void write_block(ms_inspector *serve, ms_node *block);

/* The served array's number, in the order of the plan's arrays. */
static uint32_t mark_of(const ms_inspector *serve, int32_t candidate) {
  uint32_t number = 1;
  for (int32_t k = 0; k < candidate; k++) number += serve->served >> k & 1;
  return number;
}

/* ---- expressions that are copied ---- */

typedef struct copying {
  ms_inspector *serve;
  size_t cursor; /* of the source: what is before it has been copied */
} copying;

static void copy_until(copying *copy, size_t end) {
  ms_text_append(copy->serve->text, copy->serve->walk->loop->tree->text + copy->cursor,
                 end - copy->cursor);
  copy->cursor = end;
}

static void need(ms_inspector *serve, const ms_symbol *symbol) {
  if (symbol == NULL || serve->needed[symbol->index]) return;
  serve->needed[symbol->index] = true;
  serve->changed = true;
}

/* A captured path, with the keys that the source has in variables. */
static void copy_path(copying *copy, const ms_node *node) {
  if (node->kind == MS_INDEX) {
    copy_path(copy, node->kid[0]);
    node = node->kid[1];
  }
  if (!node->settled) return;
  copy_until(copy, node->begin);
  if (node->kind == MS_STRING)
    ms_text_quote(copy->serve->text, node->text, node->length);
  else
    ms_text_append(copy->serve->text, node->text, node->length);
  copy->cursor = node->end;
}

/* Served arrays go by the names of their marks. */
static bool copy_node(ms_node *node, void *context) {
  copying *copy = context;
  ms_array_path path;
  if (node->kind == MS_NAME) need(copy->serve, node->symbol);
  if (node->kind != MS_NAME && node->kind != MS_INDEX) return true;
  if (ms_loop_capture_of(copy->serve->walk->loop, node) < 0) return true;
  if (!ms_inspector_path(copy->serve, node, &path) || path.candidate < 0) {
    copy_path(copy, node);
    return false;
  }
  copy_until(copy, node->begin);
  ms_text_format(copy->serve->text, MS_INSPECTOR_MARKS "%u", mark_of(copy->serve, path.candidate));
  copy->cursor = node->end;
  return false;
}

static void copy_value(ms_inspector *serve, ms_node *node) {
  copying copy = {serve, node->begin};
  ms_node_walk(node, copy_node, &copy);
  copy_until(&copy, node->end);
}

/* ---- marks for what an expression reads ---- */

static void mark_values(ms_inspector *serve, ms_node *node);

static void mark_kids(ms_inspector *serve, ms_node *node, uint32_t first) {
  for (uint32_t k = first; k < node->kids; k++) {
    if (node->kid[k] != NULL) mark_values(serve, node->kid[k]);
  }
}

/* Subscripts of an array that is not served may read some that are. */
static void mark_subscripts(ms_inspector *serve, ms_node *node) {
  for (ms_node *at = node; at->kind == MS_INDEX || at->kind == MS_PAREN; at = at->kid[0]) {
    if (at->kind == MS_INDEX && ms_loop_capture_of(serve->walk->loop, at) < 0)
      mark_values(serve, at->kid[1]);
  }
}

/* An element, or all below a view: whoever gets that may read any of it. */
static void mark_path(ms_inspector *serve, ms_node *node, const ms_array_path *path) {
  if (path->candidate < 0) {
    mark_subscripts(serve, node);
    return;
  }
  bool element = path->subscripts >= serve->walk->bindings[path->binding].dim_count;
  copy_value(serve, node);
  ms_text_add(serve->text, element ? " = 1;\n" : ":fill(1);\n");
  serve->useful++;
}

static void mark_logic(ms_inspector *serve, ms_node *node) {
  mark_values(serve, node->kid[0]);
  ms_taint taint = ms_inspector_taint(serve, node->kid[0]), outer = serve->control;
  size_t before = serve->text->length;
  if (taint == 0) {
    ms_text_add(serve->text, node->op == MS_OP_AND ? "if (" : "if not (");
    copy_value(serve, node->kid[0]);
    ms_text_add(serve->text, ") then\n");
  }
  size_t inside = serve->text->length;
  serve->control |= taint;
  mark_values(serve, node->kid[1]);
  serve->control = outer;
  if (serve->text->length == inside) {
    serve->text->length = before;
  } else if (taint == 0) {
    ms_text_add(serve->text, "end;\n");
  }
}

static void mark_method(ms_inspector *serve, ms_node *node) {
  ms_array_path path;
  bool array = ms_inspector_path(serve, node->kid[0], &path);
  bool shape = array && ms_effect_is_shape(node->text);
  mark_kids(serve, node, shape ? 1 : 0);
}

static void mark_values(ms_inspector *serve, ms_node *node) {
  ms_array_path path;
  switch (node->kind) {
    case MS_NAME:
    case MS_INDEX:
      if (ms_inspector_path(serve, node, &path)) {
        mark_path(serve, node, &path);
      } else if (node->kind == MS_INDEX) {
        mark_kids(serve, node, 0);
      }
      return;
    case MS_METHOD:
      mark_method(serve, node);
      return;
    case MS_FUNCTION:
      return;
    case MS_BINARY:
      if (node->op == MS_OP_AND || node->op == MS_OP_OR) {
        mark_logic(serve, node);
      } else {
        mark_kids(serve, node, 0);
      }
      return;
    default:
      mark_kids(serve, node, 0);
  }
}

/* ---- statements ---- */

static bool is_needed(const ms_inspector *serve, const ms_symbol *symbol) {
  return symbol != NULL && serve->needed[symbol->index];
}

static bool is_open(const ms_node *node) {
  return node->kind == MS_CALL || node->kind == MS_METHOD;
}

/* The values of a declaration, `nil` for those of variables that nobody needs. */
static void write_initials(ms_inspector *serve, const ms_node *node) {
  uint32_t last = 0;
  for (uint32_t k = 0; k < node->symbol_count; k++) {
    if (is_needed(serve, node->symbols[k])) last = k + 1;
  }
  for (uint32_t k = 0; k < last && k < node->kids; k++) {
    bool rest = k + 1 == node->kids && is_open(node->kid[k]) && last > node->kids;
    bool wanted = rest || is_needed(serve, node->symbols[k]);
    ms_text_add(serve->text, k == 0 ? " = " : ", ");
    if (wanted) copy_value(serve, node->kid[k]);
    if (!wanted) ms_text_add(serve->text, "nil");
  }
}

static void write_local(ms_inspector *serve, ms_node *node) {
  bool any = false;
  for (uint32_t k = 0; k < node->kids; k++) {
    ms_array_path path;
    bool view = k < node->symbol_count && ms_inspector_is_view(serve, node->symbols[k]) &&
                ms_inspector_path(serve, node->kid[k], &path);
    if (!view) mark_values(serve, node->kid[k]);
  }
  for (uint32_t k = 0; k < node->symbol_count; k++) any = any || is_needed(serve, node->symbols[k]);
  if (!any) return;
  for (uint32_t k = 0; k < node->symbol_count; k++)
    ms_text_format(serve->text, "%s%s", k == 0 ? "local " : ", ", node->symbols[k]->name);
  write_initials(serve, node);
  ms_text_add(serve->text, ";\n");
  serve->useful++;
}

static void write_assign(ms_inspector *serve, ms_node *node) {
  uint32_t values = node->kids - node->targets;
  for (uint32_t k = 0; k < node->targets; k++) {
    if (node->kid[k]->kind == MS_INDEX) mark_kids(serve, node->kid[k], 1);
    if (node->kid[k]->kind == MS_INDEX) mark_subscripts(serve, node->kid[k]->kid[0]);
  }
  for (uint32_t k = node->targets; k < node->kids; k++) mark_values(serve, node->kid[k]);
  uint32_t written = 0;
  for (uint32_t k = 0; k < node->targets && k < values; k++) {
    const ms_node *target = node->kid[k];
    if (target->kind != MS_NAME || !is_needed(serve, target->symbol)) continue;
    ms_text_format(serve->text, "%s%s", written++ == 0 ? "" : ", ", target->text);
  }
  if (written == 0) return;
  written = 0;
  for (uint32_t k = 0; k < node->targets && k < values; k++) {
    const ms_node *target = node->kid[k];
    if (target->kind != MS_NAME || !is_needed(serve, target->symbol)) continue;
    ms_text_add(serve->text, written++ == 0 ? " = " : ", ");
    ms_node *value = node->kid[node->targets + k];
    if (is_open(value)) ms_text_add(serve->text, "(");
    copy_value(serve, value);
    if (is_open(value)) ms_text_add(serve->text, ")");
  }
  ms_text_add(serve->text, ";\n");
  serve->useful++;
}

/* Branches from kid[k] on. Those that depend on what is not known are all taken. */
static void write_if(ms_inspector *serve, ms_node *node, uint32_t k) {
  if (k >= node->kids) return;
  if (node->kid[k]->kind == MS_BLOCK) {
    write_block(serve, node->kid[k]);
    return;
  }
  ms_taint taint = ms_inspector_taint(serve, node->kid[k]), outer = serve->control;
  mark_values(serve, node->kid[k]);
  size_t before = serve->text->length;
  if (taint != 0) {
    serve->control |= taint;
    ms_text_add(serve->text, "do\n");
    size_t inside = serve->text->length;
    write_block(serve, node->kid[k + 1]);
    if (serve->text->length == inside) serve->text->length = before;
    if (serve->text->length != before) ms_text_add(serve->text, "end;\n");
    before = serve->text->length;
    ms_text_add(serve->text, "do\n");
    inside = serve->text->length;
    write_if(serve, node, k + 2);
    if (serve->text->length == inside) serve->text->length = before;
    if (serve->text->length != before) ms_text_add(serve->text, "end;\n");
    serve->control = outer;
    return;
  }
  ms_text_add(serve->text, "if ");
  copy_value(serve, node->kid[k]);
  ms_text_add(serve->text, " then\n");
  size_t first = serve->text->length;
  write_block(serve, node->kid[k + 1]);
  size_t between = serve->text->length;
  ms_text_add(serve->text, "else\n");
  size_t second = serve->text->length;
  write_if(serve, node, k + 2);
  if (serve->text->length == second) serve->text->length = between;
  if (serve->text->length == first) {
    serve->text->length = before;
  } else {
    ms_text_add(serve->text, "end;\n");
  }
}

/* "for i = a, b do", "for k, v in e do", "while c do", "repeat" */
static void write_head(ms_inspector *serve, const ms_node *node) {
  if (node->kind == MS_REPEAT) {
    ms_text_add(serve->text, "repeat\n");
    return;
  }
  ms_text_add(serve->text, node->kind == MS_WHILE ? "while " : "for ");
  for (uint32_t k = 0; k < node->symbol_count; k++)
    ms_text_format(serve->text, "%s%s", k == 0 ? "" : ", ", node->symbols[k]->name);
  if (node->kind == MS_FOR_NUMERIC) ms_text_add(serve->text, " = ");
  if (node->kind == MS_FOR_GENERIC) ms_text_add(serve->text, " in ");
  for (uint32_t k = 0; k + 1 < node->kids; k++) {
    if (node->kid[k] == NULL) continue;
    if (k > 0) ms_text_add(serve->text, ", ");
    copy_value(serve, node->kid[k]);
  }
  ms_text_add(serve->text, " do\n");
}

static void write_loop(ms_inspector *serve, ms_node *node) {
  bool repeat = node->kind == MS_REPEAT;
  for (uint32_t k = 0; k < node->kids; k++) {
    if (node->kid[k] != NULL && node->kid[k]->kind != MS_BLOCK) mark_values(serve, node->kid[k]);
  }
  if (ms_inspector_bounds(serve, node) != 0) return; /* nothing that is read or needed is inside */
  size_t before = serve->text->length;
  uint32_t useful = serve->useful;
  write_head(serve, node);
  write_block(serve, node->kid[repeat ? 0 : node->kids - 1]);
  if (repeat) {
    ms_text_add(serve->text, "until ");
    copy_value(serve, node->kid[1]);
    ms_text_add(serve->text, ";\n");
  } else {
    ms_text_add(serve->text, "end;\n");
  }
  if (serve->useful == useful) serve->text->length = before;
}

static void write_do(ms_inspector *serve, ms_node *node) {
  size_t before = serve->text->length;
  ms_text_add(serve->text, "do\n");
  size_t inside = serve->text->length;
  write_block(serve, node->kid[0]);
  if (serve->text->length == inside) {
    serve->text->length = before;
  } else {
    ms_text_add(serve->text, "end;\n");
  }
}

/* Jumps that may not happen are left out: what they skip is marked in any case. */
static void write_jump(ms_inspector *serve, const ms_node *node) {
  if (serve->control != 0) return;
  if (node->kind == MS_BREAK) {
    ms_text_add(serve->text, "break;\n");
  } else {
    ms_text_format(serve->text, "goto %s;\n", node->text);
    serve->useful++;
  }
}

static void write_statement(ms_inspector *serve, ms_node *node) {
  switch (node->kind) {
    case MS_LOCAL:
      write_local(serve, node);
      return;
    case MS_ASSIGN:
      write_assign(serve, node);
      return;
    case MS_EXPRESSION:
      mark_values(serve, node->kid[0]);
      return;
    case MS_DO:
      write_do(serve, node);
      return;
    case MS_IF:
      write_if(serve, node, 0);
      return;
    case MS_WHILE:
    case MS_REPEAT:
    case MS_FOR_NUMERIC:
    case MS_FOR_GENERIC:
      write_loop(serve, node);
      return;
    case MS_BREAK:
    case MS_GOTO:
      write_jump(serve, node);
      return;
    case MS_LABEL:
      ms_text_format(serve->text, "::%s::\n", node->text);
      return;
    default:
      return;
  }
}

static void write_block(ms_inspector *serve, ms_node *block) {
  for (uint32_t k = 0; k < block->kids; k++) write_statement(serve, block->kid[k]);
}

const char *ms_inspector_write(ms_inspector *serve) {
  const ms_loop *loop = serve->walk->loop;
  ms_text *text = serve->text;
  for (serve->changed = true; serve->changed && !text->failed;) {
    serve->changed = false;
    serve->control = serve->exits = 0;
    text->length = 0;
    for (uint32_t k = 0; k < loop->index_count; k++)
      ms_text_format(text, "%s%s", k == 0 ? "for " : ", ", loop->indices[k]->name);
    ms_text_add(text, " in parallel() do\n");
    write_block(serve, loop->body);
    ms_text_add(text, "end");
  }
  return text->failed ? NULL : text->bytes;
}
