/* SPDX-License-Identifier: MIT
 *
 * Strict texts: see strict_text.h. */
#include "kernel/emit/strict_text.h"

typedef struct writer {
  const char *text, *pow;
  ms_text *out;
} writer;

static void copy(const writer *w, size_t from, size_t to) {
  if (to > from) ms_text_append(w->out, w->text + from, to - from);
}

/* The newlines of what is left out. */
static void skip(const writer *w, size_t from, size_t to) {
  for (size_t k = from; k < to; k++) {
    if (w->text[k] == '\n') ms_text_add(w->out, "\n");
  }
}

static void write_node(const writer *w, const ms_node *node);

/* In brackets: `return x ^ y` is no call in tail position, where errors lose their line. */
static void write_power(const writer *w, const ms_node *node) {
  const ms_node *base = node->kid[0], *exponent = node->kid[1];
  ms_text_format(w->out, "(%s(", w->pow);
  write_node(w, base);
  ms_text_add(w->out, ",");
  skip(w, base->end, exponent->begin);
  write_node(w, exponent);
  ms_text_add(w->out, "))");
}

static void write_children(const writer *w, const ms_node *node) {
  size_t at = node->begin;
  for (uint32_t k = 0; k < node->kids; k++) {
    const ms_node *kid = node->kid[k];
    if (kid == NULL || kid->begin < at) continue;
    copy(w, at, kid->begin);
    write_node(w, kid);
    at = kid->end;
  }
  copy(w, at, node->end);
}

static void write_node(const writer *w, const ms_node *node) {
  if (node->kind == MS_BINARY && node->op == MS_OP_POW) {
    write_power(w, node);
  } else if (node->kind == MS_FUNCTION) {
    const ms_node *body = node->function->body;
    copy(w, node->begin, body->begin);
    write_node(w, body);
    copy(w, body->end, node->end);
  } else {
    write_children(w, node);
  }
}

void ms_strict_text(const ms_tree *tree, const ms_function *function, const char *pow,
                    ms_text *out) {
  const writer w = {tree->text, pow, out};
  ms_text_add(out, "function(");
  for (uint32_t p = 0; p < function->parameter_count; p++)
    ms_text_format(out, "%s%s", p > 0 ? "," : "", function->parameters[p]->name);
  if (function->vararg) ms_text_add(out, function->parameter_count > 0 ? ",..." : "...");
  ms_text_add(out, ") ");
  skip(&w, function->node->begin, function->body->begin);
  write_node(&w, function->body);
  copy(&w, function->body->end, function->node->end);
}
