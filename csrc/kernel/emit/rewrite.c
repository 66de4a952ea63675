/* SPDX-License-Identifier: MIT
 *
 * Rewriting: copies a body's source and replaces what must change. See emitter.h.
 *
 * Invariant: the text of a node has as many newlines as its source, so later lines keep their
 * numbers. Newlines lost in a replaced part are put before it, where they cannot change the
 * meaning (LuaJIT refuses a newline between a callee and its bracket). */
#include <inttypes.h>
#include <string.h>

#include "kernel/emit/index_path.h"
#include "kernel/emit/interval.h"
#include "kernel/emit/row.h"
#include "kernel/emit/variable.h"

void ms_emitter_copy(ms_emitter *draft, size_t from, size_t to) {
  if (to > from) ms_text_append(draft->out, draft->job->loop->tree->text + from, to - from);
}

/* The source of a node with its children rewritten. */
static void children(ms_emitter *draft, const ms_node *node) {
  size_t at = node->begin;
  for (uint32_t k = 0; k < node->kids; k++) {
    const ms_node *kid = node->kid[k];
    if (kid == NULL || kid->begin < at) continue;
    /* The word `function` of a definition stands before the name that is defined. */
    bool defines = kid->kind == MS_FUNCTION &&
                   (node->kind == MS_SET_FUNCTION || node->kind == MS_LOCAL_FUNCTION);
    if (defines) kid = kid->function->body;
    ms_emitter_copy(draft, at, kid->begin);
    draft->depth += defines;
    ms_emitter_node(draft, kid);
    draft->depth -= defines;
    at = kid->end;
  }
  ms_emitter_copy(draft, at, node->end);
}

static void function(ms_emitter *draft, const ms_node *node) {
  const ms_node *body = node->function->body;
  ms_emitter_copy(draft, node->begin, body->begin);
  draft->depth++;
  ms_emitter_node(draft, body);
  draft->depth--;
  ms_emitter_copy(draft, body->end, node->end);
}

static void read_element(ms_emitter *draft, const ms_index_path *chain) {
  bool wide = draft->job->elements[chain->array].type == MS_INT64;
  if (wide) {
    ms_emitter_helper(draft, MS_HELPER_WIDE);
    ms_text_add(draft->out, "(");
  }
  ms_index_path_place(draft, chain);
  if (wide) ms_text_add(draft->out, ")");
}

static void offset(ms_emitter *draft, const void *chain) {
  ms_index_path_offset(draft, chain, false);
}

static void local(ms_emitter *draft, const ms_node *node) {
  size_t at = node->begin;
  ms_index_path chain;
  for (uint32_t k = 0; k < node->kids; k++) {
    const ms_node *kid = node->kid[k];
    ms_emitter_copy(draft, at, kid->begin);
    at = kid->end;
    const ms_local_view *view =
        k < node->symbol_count ? draft->views[node->symbols[k]->index] : NULL;
    if (view != NULL && view->live && ms_index_path_of(draft, kid, &chain)) {
      ms_emitter_padded(draft, kid, offset, &chain);
    } else {
      ms_emitter_node(draft, kid);
    }
  }
  ms_emitter_copy(draft, at, node->end);
}

/* `return` of the closure form ends the iteration. */
static void leave(ms_emitter *draft, const ms_node *node) {
  draft->leaves = true;
  if (node->kids > 0) {
    ms_text_format(draft->out, "local %sr=", draft->prefix);
    size_t at = node->kid[0]->begin;
    for (uint32_t k = 0; k < node->kids; k++) {
      ms_emitter_copy(draft, at, node->kid[k]->begin);
      ms_emitter_node(draft, node->kid[k]);
      at = node->kid[k]->end;
    }
    ms_text_add(draft->out, " ");
  }
  ms_text_format(draft->out, "goto %snext", draft->prefix);
}

static bool may_be_nan(const ms_emitter *draft, const ms_node *node) {
  if (node->kind == MS_PAREN) return may_be_nan(draft, node->kid[0]);
  return node->kind != MS_NUMBER && !ms_interval_of(draft, node).known;
}

/* LuaJIT 2.1 compiles a loop with a bound that is nan as if it had iterations. So such bounds, in
 * locals, are looked at before the body. */
static void numeric_for(ms_emitter *draft, const ms_node *node) {
  const ms_node *first = node->kid[0], *limit = node->kid[1], *step = node->kid[2];
  const ms_node *body = node->kid[3];
  if (!may_be_nan(draft, first) && !may_be_nan(draft, limit)) {
    children(draft, node);
    return;
  }
  const char *prefix = draft->prefix;
  uint32_t number = ++draft->loops;
  ms_text_format(draft->out, "do local %sf%u,%st%u=", prefix, number, prefix, number);
  ms_emitter_node(draft, first);
  ms_emitter_copy(draft, first->end, limit->begin);
  ms_emitter_node(draft, limit);
  ms_text_add(draft->out, " ");
  ms_emitter_copy(draft, node->begin, first->begin);
  ms_text_format(draft->out, "%sf%u,%st%u", prefix, number, prefix, number);
  size_t at = limit->end;
  if (step != NULL) {
    ms_emitter_copy(draft, at, step->begin);
    ms_emitter_node(draft, step);
    at = step->end;
  }
  ms_emitter_copy(draft, at, body->begin);
  ms_text_format(draft->out, " if %sf%u~=%sf%u or %st%u~=%st%u then break end ", prefix, number,
                 prefix, number, prefix, number, prefix, number);
  ms_emitter_node(draft, body);
  ms_emitter_copy(draft, body->end, node->end);
  ms_text_add(draft->out, " end");
}

/* What a block of assignments assigns, as heads: from their values, or from the variables. */
static void take_head(void *context, uint32_t at, const ms_node *value) {
  ms_emitter *draft = context;
  ms_text_format(draft->out, "%sh%u=", draft->prefix, at + 1);
  ms_emitter_node(draft, value);
  ms_text_add(draft->out, " ");
}

static void move_to_head(void *context, uint32_t at, const ms_node *value) {
  const ms_emitter *draft = context;
  (void)value;
  ms_text_format(draft->out, "if %sh%u==", draft->prefix, at + 1);
  ms_emitter_helper(context, MS_HELPER_NONE);
  ms_text_format(draft->out, " then %sh%u=%sc%u end %sc%u=", draft->prefix, at + 1, draft->prefix,
                 at + 1, draft->prefix, at + 1);
  if (draft->scalar[at]->op == MS_REDUCE_WITH) {
    ms_emitter_helper(context, MS_HELPER_NONE);
  } else {
    ms_text_add(draft->out, "nil");
  }
  ms_text_add(draft->out, " ");
}

/* An `if` that tells when it combines a ranked variable. */
static void branch_ranked(ms_emitter *draft, const ms_node *node, uint32_t ranked) {
  ms_emitter_copy(draft, node->begin, node->kid[0]->begin);
  ms_emitter_node(draft, node->kid[0]);
  ms_emitter_copy(draft, node->kid[0]->end, node->kid[1]->begin);
  ms_text_format(draft->out, " %sl%u=true ", draft->prefix, ranked + 1);
  ms_emitter_node(draft, node->kid[1]);
  ms_emitter_copy(draft, node->kid[1]->end, node->end);
}

static void branch(ms_emitter *draft, const ms_node *node) {
  ms_head head = ms_variable_head_of(draft, node);
  uint32_t ranked = ms_variable_ranked_by(draft, node);
  if (ranked != MS_NO_CAPTURE) {
    branch_ranked(draft, node, ranked);
  } else if (head != MS_HEAD_BEFORE) {
    children(draft, node);
  }
  if (head == MS_HEAD_NONE) return;
  const ms_node *block = node->kid[node->kids - 1], *first = node->kid[1];
  uint32_t leader = ms_variable_leader(draft, block) + 1;
  if (head == MS_HEAD_AFTER) {
    ms_text_format(draft->out, " if %sc%u~=%sc%u then ", draft->prefix, leader, draft->prefix,
                   leader);
    ms_variable_each_assigned(draft, block, move_to_head, draft);
    if (ranked != MS_NO_CAPTURE)
      ms_text_format(draft->out, "%sl%u=false ", draft->prefix, ranked + 1);
    ms_text_add(draft->out, "end");
    return;
  }
  ms_emitter_copy(draft, node->begin, node->kid[0]->begin);
  ms_emitter_node(draft, node->kid[0]);
  ms_emitter_copy(draft, node->kid[0]->end, first->begin);
  ms_text_format(draft->out, " if %sh%u==", draft->prefix, leader);
  ms_emitter_helper(draft, MS_HELPER_NONE);
  ms_text_add(draft->out, " then ");
  ms_variable_each_assigned(draft, block, take_head, draft);
  ms_text_add(draft->out, "end ");
  ms_emitter_node(draft, first);
  ms_emitter_copy(draft, first->end, node->kid[2]->begin);
  ms_emitter_node(draft, node->kid[2]);
  ms_emitter_copy(draft, node->kid[2]->end, block->begin);
  ms_emitter_node(draft, block);
  ms_emitter_copy(draft, block->end, node->end);
}

static void power(ms_emitter *draft, const ms_node *node) {
  ms_emitter_helper(draft, MS_HELPER_POW);
  ms_text_add(draft->out, "(");
  ms_emitter_node(draft, node->kid[0]);
  ms_text_add(draft->out, ",");
  ms_emitter_node(draft, node->kid[1]);
  ms_text_add(draft->out, ")");
}

/* A captured path: its value's part becomes the value, further fields stay. */
static void captured(ms_emitter *draft, const ms_node *node, uint32_t at, const ms_node *value) {
  if (value == node && ms_variable_is_asked(draft, at, node)) {
    ms_text_format(draft->out, "(%sc%u~=", draft->prefix, at + 1);
    ms_emitter_helper(draft, MS_HELPER_NONE);
    ms_text_format(draft->out, " and %sc%u or nil)", draft->prefix, at + 1);
    return;
  }
  if (value == node) {
    at = ms_variable_meant(draft, at, node);
    draft->value_used[at] = true;
    ms_emitter_value(draft, at);
    return;
  }
  const ms_node *pinned = draft->pinned;
  uint32_t pinned_capture = draft->pinned_capture;
  draft->pinned = value;
  draft->pinned_capture = at;
  children(draft, node);
  draft->pinned = pinned;
  draft->pinned_capture = pinned_capture;
}

static void name(ms_emitter *draft, const ms_node *node) {
  ms_index_path chain;
  const ms_node *value;
  if (node == draft->pinned) {
    captured(draft, node, draft->pinned_capture, node);
  } else if (ms_index_path_direct(draft, node, &chain)) {
    read_element(draft, &chain);
  } else {
    uint32_t at = ms_emitter_capture(draft, node, &value);
    if (at == MS_NO_CAPTURE) {
      children(draft, node);
    } else {
      captured(draft, node, at, value);
    }
  }
}

/* Where a settled key stands the source has a captured name, see ms_loop_settle_key. */
static void string(ms_emitter *draft, const ms_node *node) {
  if (node->settled) {
    ms_text_quote(draft->out, node->text, node->length);
  } else {
    children(draft, node);
  }
}

static void power_or_children(ms_emitter *draft, const ms_node *node) {
  if (node->op == MS_OP_POW) {
    power(draft, node);
  } else {
    children(draft, node);
  }
}

static void row_call_or_children(ms_emitter *draft, const ms_node *node) {
  ms_row_call call;
  if (ms_row_call_of(draft, node, &call)) {
    ms_row_call_text(draft, &call);
  } else {
    children(draft, node);
  }
}

/* `return x ^ 2` is no call; what it becomes must not be one in tail position either, or errors
 * would be placed at the function's caller. */
static void give(ms_emitter *draft, const ms_node *node) {
  const ms_node *value = node->kids == 1 ? node->kid[0] : NULL;
  if (value == NULL || (value->kind != MS_BINARY && value->kind != MS_INDEX)) {
    children(draft, node);
    return;
  }
  ms_emitter_copy(draft, node->begin, value->begin);
  ms_text_add(draft->out, "(");
  ms_emitter_node(draft, value);
  ms_text_add(draft->out, ")");
  ms_emitter_copy(draft, value->end, node->end);
}

static void rewrite(ms_emitter *draft, const ms_node *node) {
  switch (node->kind) {
    case MS_NAME:
    case MS_INDEX:
      name(draft, node);
      return;
    case MS_STRING:
      string(draft, node);
      return;
    case MS_ASSIGN:
      ms_emitter_assign(draft, node);
      return;
    case MS_LOCAL:
      local(draft, node);
      return;
    case MS_FUNCTION:
      function(draft, node);
      return;
    case MS_FOR_NUMERIC:
      numeric_for(draft, node);
      return;
    case MS_IF:
      branch(draft, node);
      return;
    case MS_METHOD:
    case MS_EXPRESSION:
      row_call_or_children(draft, node);
      return;
    case MS_BINARY:
      power_or_children(draft, node);
      return;
    case MS_RETURN:
      if (draft->depth == 0 && draft->job->loop->closure != NULL) {
        leave(draft, node);
        return;
      }
      give(draft, node);
      return;
    default:
      children(draft, node);
  }
}

static size_t newlines(const char *text, size_t length) {
  size_t count = 0;
  for (size_t b = 0; b < length; b++) count += text[b] == '\n';
  return count;
}

void ms_emitter_padded(ms_emitter *draft, const ms_node *node, ms_emitter_writer *write,
                       const void *what) {
  ms_text *out = draft->out, part = {0};
  draft->out = &part;
  write(draft, what);
  draft->out = out;
  size_t wanted = newlines(draft->job->loop->tree->text + node->begin, node->end - node->begin);
  size_t have = newlines(part.bytes, part.length);
  for (; have < wanted; have++) ms_text_add(out, "\n");
  ms_text_append(out, part.bytes, part.length);
  out->failed |= part.failed;
  ms_text_free(&part);
}

static void write_node(ms_emitter *draft, const void *node) {
  rewrite(draft, node);
}

void ms_emitter_node(ms_emitter *draft, const ms_node *node) {
  ms_emitter_padded(draft, node, write_node, node);
}
