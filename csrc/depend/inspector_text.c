/* SPDX-License-Identifier: MIT
 *
 * Inspectors, the slice: the body's text with reads turned into marks. See inspector.h.
 *
 * The text is written again as long as that makes further variables needed. Invariant: whatever is
 * copied from the body depends on nothing that is served, written or unknown. */
#include <string.h>

#include "depend/capture_path.h"
#include "depend/inspector_state.h"

static void write_block(ms_inspector *inspector, ms_node *block);

static uint32_t count_bits(ms_taint bits) {
  return (uint32_t)__builtin_popcountll(bits);
}

/* The number of a served array's marks, in the order of the plan's arrays; those for writes are
 * behind those for reads. */
static uint32_t mark_of(const ms_inspector *inspector, int32_t candidate) {
  ms_taint before = ((ms_taint)1 << candidate) - 1, stored = inspector->stored & inspector->served;
  if (inspector->form == MS_INSPECT_WRITES && (stored >> candidate & 1) != 0)
    return count_bits(inspector->served) + count_bits(stored & before) + 1;
  return count_bits(inspector->served & before) + 1;
}

/* ---- expressions that are copied ---- */

typedef struct copying {
  ms_inspector *inspector;
  size_t cursor; /* of the source: what is before it has been copied */
} copying;

static void copy_until(copying *copy, size_t end) {
  ms_text_append(copy->inspector->text, copy->inspector->walk->loop->tree->text + copy->cursor,
                 end - copy->cursor);
  copy->cursor = end;
}

static void need(ms_inspector *inspector, const ms_symbol *symbol) {
  if (symbol == NULL || inspector->needed[symbol->index]) return;
  inspector->needed[symbol->index] = true;
  inspector->changed = true;
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
    ms_text_quote(copy->inspector->text, node->text, node->length);
  else
    ms_text_append(copy->inspector->text, node->text, node->length);
  copy->cursor = node->end;
}

/* Served arrays go by the names of their marks. */
static bool copy_node(ms_node *node, void *context) {
  copying *copy = context;
  ms_array_path path;
  if (node->kind == MS_NAME) need(copy->inspector, node->symbol);
  if (node->kind != MS_NAME && node->kind != MS_INDEX) return true;
  if (ms_capture_path_of(copy->inspector->walk->loop, node) < 0) return true;
  if (!ms_inspector_path(copy->inspector, node, &path) || path.candidate < 0) {
    copy_path(copy, node);
    return false;
  }
  copy_until(copy, node->begin);
  ms_text_format(copy->inspector->text, MS_INSPECTOR_MARKS "%u",
                 mark_of(copy->inspector, path.candidate));
  copy->cursor = node->end;
  return false;
}

void ms_inspector_copy(ms_inspector *inspector, ms_node *node) {
  copying copy = {inspector, node->begin};
  ms_node_walk(node, copy_node, &copy);
  copy_until(&copy, node->end);
}

/* ---- statements ---- */

static bool is_needed(const ms_inspector *inspector, const ms_symbol *symbol) {
  return symbol != NULL && inspector->needed[symbol->index];
}

static bool is_open(const ms_node *node) {
  return node->kind == MS_CALL || node->kind == MS_METHOD;
}

/* The values of a declaration, `nil` for those of variables that nobody needs. */
static void write_initials(ms_inspector *inspector, const ms_node *node) {
  uint32_t last = 0;
  for (uint32_t k = 0; k < node->symbol_count; k++) {
    if (is_needed(inspector, node->symbols[k])) last = k + 1;
  }
  for (uint32_t k = 0; k < last && k < node->kids; k++) {
    bool rest = k + 1 == node->kids && is_open(node->kid[k]) && last > node->kids;
    bool wanted = rest || is_needed(inspector, node->symbols[k]);
    ms_text_add(inspector->text, k == 0 ? " = " : ", ");
    if (wanted) ms_inspector_copy(inspector, node->kid[k]);
    if (!wanted) ms_text_add(inspector->text, "nil");
  }
}

static void write_local(ms_inspector *inspector, ms_node *node) {
  bool any = false;
  for (uint32_t k = 0; k < node->kids; k++) {
    ms_array_path path;
    bool view = k < node->symbol_count && ms_inspector_is_view(inspector, node->symbols[k]) &&
                ms_inspector_path(inspector, node->kid[k], &path);
    if (!view) ms_inspector_mark(inspector, node->kid[k]);
  }
  for (uint32_t k = 0; k < node->symbol_count; k++)
    any = any || is_needed(inspector, node->symbols[k]);
  if (!any) return;
  for (uint32_t k = 0; k < node->symbol_count; k++)
    ms_text_format(inspector->text, "%s%s", k == 0 ? "local " : ", ", node->symbols[k]->name);
  write_initials(inspector, node);
  ms_text_add(inspector->text, ";\n");
  inspector->useful++;
}

/* Whether a store counts: where collisions are looked for always; for what a block has to see, if
 * it is of more than an element, or may be left out by the body. */
static bool is_watched(const ms_inspector *inspector, const ms_array_path *path) {
  if (path->candidate < 0 || inspector->form != MS_INSPECT_READS) return path->candidate >= 0;
  bool element = path->subscripts >= inspector->walk->bindings[path->binding].dim_count;
  bool sure = element && inspector->control == 0 && !inspector->uncertain;
  return !sure && (inspector->written >> path->candidate & 1) != 0;
}

static void write_assign(ms_inspector *inspector, ms_node *node) {
  uint32_t values = node->kids - node->targets;
  for (uint32_t k = 0; k < node->targets; k++) {
    ms_node *target = node->kid[k];
    ms_array_path path;
    if (target->kind != MS_INDEX) continue;
    ms_inspector_mark_kids(inspector, target, 1);
    ms_inspector_mark_subscripts(inspector, target->kid[0]);
    bool watched = ms_inspector_path(inspector, target, &path) && is_watched(inspector, &path);
    if (watched) ms_inspector_access(inspector, target, &path, true);
  }
  for (uint32_t k = node->targets; k < node->kids; k++) ms_inspector_mark(inspector, node->kid[k]);
  uint32_t written = 0;
  for (uint32_t k = 0; k < node->targets && k < values; k++) {
    const ms_node *target = node->kid[k];
    if (target->kind != MS_NAME || !is_needed(inspector, target->symbol)) continue;
    ms_text_format(inspector->text, "%s%s", written++ == 0 ? "" : ", ", target->text);
  }
  if (written == 0) return;
  written = 0;
  for (uint32_t k = 0; k < node->targets && k < values; k++) {
    const ms_node *target = node->kid[k];
    if (target->kind != MS_NAME || !is_needed(inspector, target->symbol)) continue;
    ms_text_add(inspector->text, written++ == 0 ? " = " : ", ");
    ms_node *value = node->kid[node->targets + k];
    if (is_open(value)) ms_text_add(inspector->text, "(");
    ms_inspector_copy(inspector, value);
    if (is_open(value)) ms_text_add(inspector->text, ")");
  }
  ms_text_add(inspector->text, ";\n");
  inspector->useful++;
}

/* Branches from kid[k] on. Those that depend on what is not known are all taken. */
static void write_if(ms_inspector *inspector, ms_node *node, uint32_t k) {
  if (k >= node->kids) return;
  if (node->kid[k]->kind == MS_BLOCK) {
    write_block(inspector, node->kid[k]);
    return;
  }
  ms_taint taint = ms_inspector_taint(inspector, node->kid[k]), outer = inspector->control;
  ms_inspector_mark(inspector, node->kid[k]);
  size_t before = inspector->text->length;
  if (taint != 0) {
    inspector->control |= taint;
    ms_text_add(inspector->text, "do\n");
    size_t inside = inspector->text->length;
    write_block(inspector, node->kid[k + 1]);
    if (inspector->text->length == inside) inspector->text->length = before;
    if (inspector->text->length != before) ms_text_add(inspector->text, "end;\n");
    before = inspector->text->length;
    ms_text_add(inspector->text, "do\n");
    inside = inspector->text->length;
    write_if(inspector, node, k + 2);
    if (inspector->text->length == inside) inspector->text->length = before;
    if (inspector->text->length != before) ms_text_add(inspector->text, "end;\n");
    inspector->control = outer;
    return;
  }
  ms_text_add(inspector->text, "if ");
  ms_inspector_copy(inspector, node->kid[k]);
  ms_text_add(inspector->text, " then\n");
  size_t first = inspector->text->length;
  write_block(inspector, node->kid[k + 1]);
  size_t between = inspector->text->length;
  ms_text_add(inspector->text, "else\n");
  size_t second = inspector->text->length;
  write_if(inspector, node, k + 2);
  if (inspector->text->length == second) inspector->text->length = between;
  if (inspector->text->length == first) {
    inspector->text->length = before;
  } else {
    ms_text_add(inspector->text, "end;\n");
  }
}

/* "for i = a, b do", "for k, v in e do", "while c do", "repeat" */
static void write_head(ms_inspector *inspector, const ms_node *node) {
  if (node->kind == MS_REPEAT) {
    ms_text_add(inspector->text, "repeat\n");
    return;
  }
  ms_text_add(inspector->text, node->kind == MS_WHILE ? "while " : "for ");
  for (uint32_t k = 0; k < node->symbol_count; k++)
    ms_text_format(inspector->text, "%s%s", k == 0 ? "" : ", ", node->symbols[k]->name);
  if (node->kind == MS_FOR_NUMERIC) ms_text_add(inspector->text, " = ");
  if (node->kind == MS_FOR_GENERIC) ms_text_add(inspector->text, " in ");
  for (uint32_t k = 0; k + 1 < node->kids; k++) {
    if (node->kid[k] == NULL) continue;
    if (k > 0) ms_text_add(inspector->text, ", ");
    ms_inspector_copy(inspector, node->kid[k]);
  }
  ms_text_add(inspector->text, " do\n");
}

static void write_loop(ms_inspector *inspector, ms_node *node) {
  bool repeat = node->kind == MS_REPEAT;
  for (uint32_t k = 0; k < node->kids; k++) {
    if (node->kid[k] != NULL && node->kid[k]->kind != MS_BLOCK)
      ms_inspector_mark(inspector, node->kid[k]);
  }
  if (ms_inspector_bounds(inspector, node) != 0)
    return; /* nothing that is read or needed is inside */
  size_t before = inspector->text->length;
  uint32_t useful = inspector->useful;
  write_head(inspector, node);
  write_block(inspector, node->kid[repeat ? 0 : node->kids - 1]);
  if (repeat) {
    ms_text_add(inspector->text, "until ");
    ms_inspector_copy(inspector, node->kid[1]);
    ms_text_add(inspector->text, ";\n");
  } else {
    ms_text_add(inspector->text, "end;\n");
  }
  if (inspector->useful == useful) inspector->text->length = before;
}

static void write_do(ms_inspector *inspector, ms_node *node) {
  size_t before = inspector->text->length;
  ms_text_add(inspector->text, "do\n");
  size_t inside = inspector->text->length;
  write_block(inspector, node->kid[0]);
  if (inspector->text->length == inside) {
    inspector->text->length = before;
  } else {
    ms_text_add(inspector->text, "end;\n");
  }
}

/* Jumps that may not happen are left out: what they skip is marked in any case. */
static void write_jump(ms_inspector *inspector, const ms_node *node) {
  if (inspector->control != 0) return;
  if (node->kind == MS_BREAK) {
    ms_text_add(inspector->text, "break;\n");
  } else {
    ms_text_format(inspector->text, "goto %s;\n", node->text);
    inspector->useful++;
  }
}

static void write_statement(ms_inspector *inspector, ms_node *node) {
  switch (node->kind) {
    case MS_LOCAL:
      write_local(inspector, node);
      return;
    case MS_ASSIGN:
      write_assign(inspector, node);
      return;
    case MS_EXPRESSION:
      ms_inspector_mark(inspector, node->kid[0]);
      return;
    case MS_DO:
      write_do(inspector, node);
      return;
    case MS_IF:
      write_if(inspector, node, 0);
      return;
    case MS_WHILE:
    case MS_REPEAT:
    case MS_FOR_NUMERIC:
    case MS_FOR_GENERIC:
      write_loop(inspector, node);
      return;
    case MS_BREAK:
    case MS_GOTO:
      write_jump(inspector, node);
      return;
    case MS_LABEL:
      ms_text_format(inspector->text, "::%s::\n", node->text);
      return;
    default:
      return;
  }
}

static void write_block(ms_inspector *inspector, ms_node *block) {
  for (uint32_t k = 0; k < block->kids; k++) write_statement(inspector, block->kid[k]);
}

/* Marks what is read, and then what is written. */
static void write_marks(ms_inspector *inspector) {
  ms_node *body = inspector->walk->loop->body;
  if ((inspector->stored & inspector->served) == 0) {
    write_block(inspector, body);
    return;
  }
  ms_text_add(inspector->text, "do\n");
  write_block(inspector, body);
  ms_text_add(inspector->text, "end;\ndo\n");
  inspector->form = MS_INSPECT_WRITES;
  inspector->control = inspector->exits = 0;
  write_block(inspector, body);
  inspector->form = MS_INSPECT_READS;
  ms_text_add(inspector->text, "end;\n");
}

const char *ms_inspector_write(ms_inspector *inspector) {
  const ms_loop *loop = inspector->walk->loop;
  ms_text *text = inspector->text;
  for (inspector->changed = true; inspector->changed && !text->failed;) {
    inspector->changed = false;
    inspector->control = inspector->exits = 0;
    text->length = 0;
    if (inspector->form != MS_INSPECT_READS) {
      ms_inspector_function(inspector, write_block);
      continue;
    }
    for (uint32_t k = 0; k < loop->index_count; k++)
      ms_text_format(text, "%s%s", k == 0 ? "for " : ", ", loop->indices[k]->name);
    ms_text_add(text, " in parallel() do\n");
    write_marks(inspector);
    ms_text_add(text, "end");
  }
  return text->failed ? NULL : text->bytes;
}
