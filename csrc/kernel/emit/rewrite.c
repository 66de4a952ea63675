/* SPDX-License-Identifier: MIT
 *
 * Rewriting: copies a body's source and replaces what must change. See emitter.h.
 *
 * Invariant: the text of a node has as many newlines as its source, so later lines keep their
 * numbers. Newlines lost in a replaced part are put before it, where they cannot change the
 * meaning (LuaJIT refuses a newline between a callee and its bracket). */
#include <inttypes.h>
#include <string.h>

#include "kernel/emit/combining_if.h"
#include "kernel/emit/index_path.h"
#include "kernel/emit/interval.h"
#include "kernel/emit/row.h"
#include "kernel/emit/variable.h"

void ms_emitter_copy(ms_emitter *emitter, size_t from, size_t to) {
  if (to > from) ms_text_append(emitter->out, emitter->job->loop->tree->text + from, to - from);
}

void ms_emitter_kids(ms_emitter *emitter, const ms_node *node, ms_emitter_kid_writer *write) {
  size_t at = node->begin;
  for (uint32_t k = 0; k < node->kids; k++) {
    ms_emitter_copy(emitter, at, node->kid[k]->begin);
    write(emitter, node, k);
    at = node->kid[k]->end;
  }
  ms_emitter_copy(emitter, at, node->end);
}

/* The source of a node with its children rewritten. */
static void children(ms_emitter *emitter, const ms_node *node) {
  size_t at = node->begin;
  for (uint32_t k = 0; k < node->kids; k++) {
    const ms_node *kid = node->kid[k];
    if (kid == NULL || kid->begin < at) continue;
    /* The word `function` of a definition stands before the name that is defined. */
    bool defines = kid->kind == MS_FUNCTION &&
                   (node->kind == MS_SET_FUNCTION || node->kind == MS_LOCAL_FUNCTION);
    if (defines) kid = kid->function->body;
    ms_emitter_copy(emitter, at, kid->begin);
    emitter->depth += defines;
    ms_emitter_node(emitter, kid);
    emitter->depth -= defines;
    at = kid->end;
  }
  ms_emitter_copy(emitter, at, node->end);
}

static void function(ms_emitter *emitter, const ms_node *node) {
  const ms_node *body = node->function->body;
  ms_emitter_copy(emitter, node->begin, body->begin);
  emitter->depth++;
  ms_emitter_node(emitter, body);
  emitter->depth--;
  ms_emitter_copy(emitter, body->end, node->end);
}

static void read_element(ms_emitter *emitter, const ms_index_path *path) {
  bool wide = emitter->job->elements[path->array].type == MS_INT64;
  if (wide) {
    ms_emitter_helper(emitter, MS_HELPER_WIDE);
    ms_text_add(emitter->out, "(");
  }
  ms_index_path_place(emitter, path);
  if (wide) ms_text_add(emitter->out, ")");
}

static void offset(ms_emitter *emitter, const void *path) {
  ms_index_path_offset(emitter, path, false);
}

/* The value of a declared local: an offset where the local is a view that is one. */
static void local_value(ms_emitter *emitter, const ms_node *node, uint32_t k) {
  const ms_node *kid = node->kid[k];
  const ms_local_view *view =
      k < node->symbol_count ? emitter->views[node->symbols[k]->index] : NULL;
  ms_index_path path;
  if (view != NULL && view->live && ms_index_path_of(emitter, kid, &path)) {
    ms_emitter_padded(emitter, kid, offset, &path);
  } else {
    ms_emitter_node(emitter, kid);
  }
}

/* `return` of the closure form ends the iteration. */
static void leave(ms_emitter *emitter, const ms_node *node) {
  emitter->leaves = true;
  if (node->kids > 0) {
    ms_text_format(emitter->out, "local %sr=", emitter->prefix);
    size_t at = node->kid[0]->begin;
    for (uint32_t k = 0; k < node->kids; k++) {
      ms_emitter_copy(emitter, at, node->kid[k]->begin);
      ms_emitter_node(emitter, node->kid[k]);
      at = node->kid[k]->end;
    }
    ms_text_add(emitter->out, " ");
  }
  ms_text_format(emitter->out, "goto %snext", emitter->prefix);
}

static bool may_be_nan(const ms_emitter *emitter, const ms_node *node) {
  if (node->kind == MS_PAREN) return may_be_nan(emitter, node->kid[0]);
  return node->kind != MS_NUMBER && !ms_interval_of(emitter, node).known;
}

/* LuaJIT 2.1 compiles a loop with a bound that is nan as if it had iterations. So such bounds, in
 * locals, are looked at before the body. */
static void numeric_for(ms_emitter *emitter, const ms_node *node) {
  const ms_node *first = node->kid[0], *limit = node->kid[1], *step = node->kid[2];
  const ms_node *body = node->kid[3];
  if (!may_be_nan(emitter, first) && !may_be_nan(emitter, limit)) {
    children(emitter, node);
    return;
  }
  const char *prefix = emitter->prefix;
  uint32_t number = ++emitter->loops;
  ms_text_format(emitter->out, "do local %sf%u,%st%u=", prefix, number, prefix, number);
  ms_emitter_node(emitter, first);
  ms_emitter_copy(emitter, first->end, limit->begin);
  ms_emitter_node(emitter, limit);
  ms_text_add(emitter->out, " ");
  ms_emitter_copy(emitter, node->begin, first->begin);
  ms_text_format(emitter->out, "%sf%u,%st%u", prefix, number, prefix, number);
  size_t at = limit->end;
  if (step != NULL) {
    ms_emitter_copy(emitter, at, step->begin);
    ms_emitter_node(emitter, step);
    at = step->end;
  }
  ms_emitter_copy(emitter, at, body->begin);
  ms_text_format(emitter->out, " if %sf%u~=%sf%u or %st%u~=%st%u then break end ", prefix, number,
                 prefix, number, prefix, number, prefix, number);
  ms_emitter_node(emitter, body);
  ms_emitter_copy(emitter, body->end, node->end);
  ms_text_add(emitter->out, " end");
}

static void power(ms_emitter *emitter, const ms_node *node) {
  ms_emitter_helper(emitter, MS_HELPER_POW);
  ms_text_add(emitter->out, "(");
  ms_emitter_node(emitter, node->kid[0]);
  ms_text_add(emitter->out, ",");
  ms_emitter_node(emitter, node->kid[1]);
  ms_text_add(emitter->out, ")");
}

/* A captured path: its value's part becomes the value, further fields stay. */
static void captured(ms_emitter *emitter, const ms_node *node, uint32_t at, const ms_node *value) {
  if (value == node && ms_variable_is_asked(emitter, at, node)) {
    ms_text_format(emitter->out, "(%sc%u~=", emitter->prefix, at + 1);
    ms_emitter_helper(emitter, MS_HELPER_NONE);
    ms_text_format(emitter->out, " and %sc%u or nil)", emitter->prefix, at + 1);
    return;
  }
  if (value == node) {
    at = ms_variable_meant(emitter, at, node);
    emitter->value_used[at] = true;
    ms_emitter_value(emitter, at);
    return;
  }
  const ms_node *pinned = emitter->pinned;
  uint32_t pinned_capture = emitter->pinned_capture;
  emitter->pinned = value;
  emitter->pinned_capture = at;
  children(emitter, node);
  emitter->pinned = pinned;
  emitter->pinned_capture = pinned_capture;
}

static void name(ms_emitter *emitter, const ms_node *node) {
  ms_index_path path;
  const ms_node *value;
  if (node == emitter->pinned) {
    captured(emitter, node, emitter->pinned_capture, node);
  } else if (ms_index_path_direct(emitter, node, &path)) {
    read_element(emitter, &path);
  } else {
    uint32_t at = ms_emitter_capture(emitter, node, &value);
    if (at == MS_NO_CAPTURE) {
      children(emitter, node);
    } else {
      captured(emitter, node, at, value);
    }
  }
}

/* Where a settled key stands the source has a captured name, see ms_loop_settle_key. */
static void string(ms_emitter *emitter, const ms_node *node) {
  if (node->settled) {
    ms_text_quote(emitter->out, node->text, node->length);
  } else {
    children(emitter, node);
  }
}

static void power_or_children(ms_emitter *emitter, const ms_node *node) {
  if (node->op == MS_OP_POW) {
    power(emitter, node);
  } else {
    children(emitter, node);
  }
}

static void row_call_or_children(ms_emitter *emitter, const ms_node *node) {
  ms_row_call call;
  if (ms_row_call_of(emitter, node, &call)) {
    ms_row_call_text(emitter, &call);
  } else {
    children(emitter, node);
  }
}

/* `return x ^ 2` is no call; what it becomes must not be one in tail position either, or errors
 * would be placed at the function's caller. */
static void give(ms_emitter *emitter, const ms_node *node) {
  const ms_node *value = node->kids == 1 ? node->kid[0] : NULL;
  if (value == NULL || (value->kind != MS_BINARY && value->kind != MS_INDEX)) {
    children(emitter, node);
    return;
  }
  ms_emitter_copy(emitter, node->begin, value->begin);
  ms_text_add(emitter->out, "(");
  ms_emitter_node(emitter, value);
  ms_text_add(emitter->out, ")");
  ms_emitter_copy(emitter, value->end, node->end);
}

static void rewrite(ms_emitter *emitter, const ms_node *node) {
  switch (node->kind) {
    case MS_NAME:
    case MS_INDEX:
      name(emitter, node);
      return;
    case MS_STRING:
      string(emitter, node);
      return;
    case MS_ASSIGN:
      ms_emitter_assign(emitter, node);
      return;
    case MS_LOCAL:
      ms_emitter_kids(emitter, node, local_value);
      return;
    case MS_FUNCTION:
      function(emitter, node);
      return;
    case MS_FOR_NUMERIC:
      numeric_for(emitter, node);
      return;
    case MS_IF:
      ms_emitter_combining_if(emitter, node);
      return;
    case MS_METHOD:
    case MS_EXPRESSION:
      row_call_or_children(emitter, node);
      return;
    case MS_BINARY:
      power_or_children(emitter, node);
      return;
    case MS_RETURN:
      if (emitter->depth == 0 && emitter->job->loop->closure != NULL) {
        leave(emitter, node);
        return;
      }
      give(emitter, node);
      return;
    default:
      children(emitter, node);
  }
}

static size_t newlines(const char *text, size_t length) {
  size_t count = 0;
  for (size_t b = 0; b < length; b++) count += text[b] == '\n';
  return count;
}

void ms_emitter_padded(ms_emitter *emitter, const ms_node *node, ms_emitter_writer *write,
                       const void *what) {
  ms_text *out = emitter->out, part = {0};
  emitter->out = &part;
  write(emitter, what);
  emitter->out = out;
  size_t wanted = newlines(emitter->job->loop->tree->text + node->begin, node->end - node->begin);
  size_t have = newlines(part.bytes, part.length);
  for (; have < wanted; have++) ms_text_add(out, "\n");
  ms_text_append(out, part.bytes, part.length);
  out->failed |= part.failed;
  ms_text_free(&part);
}

static void write_node(ms_emitter *emitter, const void *node) {
  rewrite(emitter, node);
}

void ms_emitter_node(ms_emitter *emitter, const ms_node *node) {
  ms_emitter_padded(emitter, node, write_node, node);
}
