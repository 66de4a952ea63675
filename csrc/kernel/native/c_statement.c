/* SPDX-License-Identifier: MIT
 *
 * Writing C: statements. See c_statement.h. */
#include "kernel/native/c_statement.h"

#include <string.h>

#include "kernel/emit/variable.h"
#include "kernel/native/c_assign.h"
#include "kernel/native/c_call.h"
#include "kernel/native/c_chosen.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_local.h"
#include "kernel/native/c_loop.h"
#include "kernel/native/c_region.h"
#include "kernel/native/c_row.h"
#include "kernel/native/c_sparse.h"
#include "kernel/native/c_value.h"
#include "kernel/native/c_variable.h"

/* Most targets of one assignment and names of one declaration; LuaJIT allows 200 locals. */
#define MANY 256

static void declaration(ms_writer *w, const ms_node *node) {
  ms_c_value values[MANY];
  uint32_t count = node->symbol_count < MANY ? node->symbol_count : MANY;
  /* `local a, b = f()`: the values stand in variables of their own already. */
  ms_c_expression_list(w, node, 0, values, count, count > 1);
  for (uint32_t s = 0; s < count; s++) {
    const ms_node *from = s < node->kids ? node->kid[s] : NULL;
    ms_c_local_declare(w, node->symbols[s], values[s], from);
    if (from == NULL) ms_c_local_of(w, node->symbols[s])->from = NULL;
  }
}

/* Heads of what a block assigns (see variable.h), from the values that it gives. */
static void take_head(void *context, uint32_t at, const ms_node *value) {
  ms_writer *w = context;
  const char *text = ms_c_value_as_form(w, ms_c_expression(w, value), MS_FORM_VALUE, value);
  ms_c_line(w, "h%u = %s;", at + 1, text);
}

/* From the variables, which then begin again. */
static void move_to_head(void *context, uint32_t at, const ms_node *value) {
  ms_writer *w = context;
  const char *name = ms_c_variable(w, at);
  bool follows = w->emitter->scalar[at]->op == MS_REDUCE_WITH;
  bool decides = w->emitter->scalar[at]->tie > 0; /* a number, not asked for before the next one */
  (void)value;
  ms_c_line(w, "if (h%u.tag == MS_NATIVE_NONE) h%u = %s;", at + 1, at + 1,
            decides ? ms_c_text(w, "ms_number(%s)", name) : name);
  if (decides) return;
  ms_c_line(w, "%s = %s;", name, follows ? "ms_nothing" : "ms_nil");
}

/* What is C beside the statements of an `if`; see kernel/emit/combining_if.c. */
static void heads_before(ms_writer *w, const ms_node *block) {
  uint32_t leader = ms_variable_leader(w->emitter, block);
  const char *again = "";
  if (ms_variable_heads_last(w->emitter, leader)) {
    const ms_node *node = ms_variable_value(w->emitter, block, leader);
    again = ms_c_text(w, " || h%u.number == %s", leader + 1,
                      ms_c_value_as_form(w, ms_c_expression(w, node), MS_FORM_DOUBLE, node));
  }
  ms_c_line(w, "if (h%u.tag == MS_NATIVE_NONE%s) {", leader + 1, again);
  ms_variable_each_assigned(w->emitter, block, take_head, w);
  ms_c_line(w, "}");
}

static void heads_after(ms_writer *w, const ms_node *block) {
  uint32_t leader = ms_variable_leader(w->emitter, block);
  uint32_t ranked = ms_variable_ranked_by(w->emitter, block);
  ms_c_line(w, "if (ms_is_nan(%s)) {", ms_c_variable(w, leader));
  ms_variable_each_assigned(w->emitter, block, move_to_head, w);
  if (ranked != MS_NO_CAPTURE) ms_c_line(w, "l%u = 0;", ranked + 1);
  ms_c_line(w, "}");
}

static void streak_value(void *context, uint32_t at, const ms_node *value) {
  ms_writer *w = context;
  const char *text = ms_c_value_as_form(w, ms_c_expression(w, value), MS_FORM_VALUE, value);
  ms_c_line(w, "ms_give(added + %u, %s);", 2 * ms_variable_streak_rank(w->emitter, at), text);
}

/* Whether the iteration goes on with the last entry. */
static const char *streak_goes_on(ms_writer *w, uint32_t members) {
  const char *same = w->positions == 1 ? "last && 0" : "last";
  for (uint32_t d = 0; d + 1 < w->positions; d++)
    same = ms_c_text(w, "%s && last[%u].whole == x%u", same, 2 * members + 1 + d, d + 1);
  return same;
}

static void add_to_streak(ms_writer *w, const ms_node *block, uint32_t at) {
  uint32_t members = ms_variable_streak_members(w->emitter, at);
  uint32_t rank = ms_variable_streak_rank(w->emitter, at), width = 2 * members + 1 + w->positions;
  const char *same = streak_goes_on(w, members), *again = "";
  bool least = w->emitter->scalar[at]->op == MS_REDUCE_MIN;
  ms_c_line(w, "if (%s == %s__builtin_inf()) {", ms_c_variable(w, at), least ? "" : "-");
  const ms_node *value = ms_variable_value(w->emitter, block, at);
  const char *text = ms_c_value_as_form(w, ms_c_expression(w, value), MS_FORM_DOUBLE, value);
  ms_c_line(w, "ms_native_slot *last = streak%u.used ? streak%u.slots + streak%u.used - %u : 0;",
            at + 1, at + 1, at + 1, width);
  if (ms_variable_heads_last(w->emitter, at)) {
    again = ms_c_text(w, " && last[%u].number != %s", 2 * rank, text);
    ms_c_line(w, "if (%s && last[%u].number == %s) streak%u.used -= %u;", same, 2 * rank, text,
              at + 1, width);
  }
  ms_c_line(w, "if (%s%s) {", same, again);
  ms_c_line(w, "last[%u].number = %s;", 2 * members, text);
  ms_c_line(w, "} else {");
  ms_c_line(w, "ms_native_slot *added = ms_streak_add(&streak%u, %u);", at + 1, width);
  ms_c_error(w, block, "added == 0", "not enough memory");
  ms_variable_each_assigned(w->emitter, block, streak_value, w);
  ms_c_line(w, "added[%u].number = %s;", 2 * members, text);
  for (uint32_t d = 0; d < w->positions; d++)
    ms_c_line(w, "added[%u].whole = x%u;", 2 * members + 1 + d, d + 1);
  ms_c_line(w, "}");
  ms_c_line(w, "}");
}

static void open_block(ms_writer *w, const ms_node *node, uint32_t k) {
  const ms_node *last = node->kid[node->kids - 1];
  uint32_t ranked = ms_variable_ranked_by(w->emitter, node->kid[k]);
  uint32_t streak = k == 1 ? ms_variable_streak_of(w->emitter, node) : MS_NO_CAPTURE;
  if (k == 1 && ms_variable_head_of(w->emitter, node) == MS_HEAD_BEFORE) heads_before(w, last);
  if (streak != MS_NO_CAPTURE) add_to_streak(w, last, streak);
  if (ranked != MS_NO_CAPTURE) ms_c_line(w, "l%u = 1;", ranked + 1);
}

static void branch(ms_writer *w, const ms_node *node) {
  uint32_t open = 0;
  for (uint32_t k = 0; k + 1 < node->kids; k += 2) {
    ms_text statements = {0}, *out = w->out;
    w->out = &statements;
    if (k > 0) w->indent++;
    const char *condition = ms_c_expression_condition(w, node->kid[k]);
    if (k > 0) w->indent--;
    w->out = out;
    if (k > 0 && statements.length == 0) {
      ms_c_line(w, "} else if (%s) {", condition);
    } else {
      if (k > 0) {
        ms_c_line(w, "} else {");
        open++;
      }
      if (statements.length > 0) ms_text_append(w->out, statements.bytes, statements.length);
      ms_c_line(w, "if (%s) {", condition);
    }
    ms_text_free(&statements);
    open_block(w, node, k + 1);
    ms_c_statements(w, node->kid[k + 1]);
  }
  if (node->kids % 2 == 1) {
    ms_c_line(w, "} else {");
    ms_c_statements(w, node->kid[node->kids - 1]);
  }
  for (uint32_t o = 0; o <= open; o++) ms_c_line(w, "}");
  if (ms_variable_head_of(w->emitter, node) == MS_HEAD_AFTER)
    heads_after(w, node->kid[node->kids - 1]);
}

static void write_while(ms_writer *w, const void *context) {
  const ms_node *node = context;
  w->uncounted = true;
  ms_c_line(w, "for (;;) {");
  ms_c_line(w, "if (!%s) break;", ms_c_expression_condition(w, node->kid[0]));
  ms_c_statements(w, node->kid[1]);
  ms_c_line(w, "}");
}

/* Makes the labels of a block known in it. */
static void enter_labels(ms_writer *w, const ms_node *block) {
  for (uint32_t k = 0; k < block->kids; k++) {
    if (block->kid[k]->kind != MS_LABEL) continue;
    ms_c_label *label = ms_arena_take(w->arena, 1, sizeof *label);
    if (label == NULL) {
      w->failed = true;
      return;
    }
    label->next = w->label;
    label->name = block->kid[k]->text;
    label->text = ms_c_text(w, "l%u_%s", ++w->labels, ms_c_name(w, label->name));
    w->label = label;
  }
}

/* The condition sees the block's locals, and comes after its labels. */
static void write_repeat(ms_writer *w, const void *context) {
  const ms_node *node = context;
  w->uncounted = true;
  ms_c_line(w, "for (;;) {");
  ms_c_label *before = w->label;
  enter_labels(w, node->kid[0]);
  for (uint32_t k = 0; k < node->kid[0]->kids; k++) ms_c_statement(w, node->kid[0]->kid[k]);
  ms_c_place(w, node->kid[1]);
  ms_c_line(w, "if (%s) break;", ms_c_expression_condition(w, node->kid[1]));
  w->label = before;
  ms_c_line(w, "}");
}

static void jump(ms_writer *w, const ms_node *node) {
  for (const ms_c_label *label = w->label; label != NULL; label = label->next) {
    if (strcmp(label->name, node->text) != 0) continue;
    w->uncounted = w->uncounted || label->placed;
    ms_c_line(w, "goto %s;", label->text);
    return;
  }
  ms_c_refuse(w, node, "`goto %s` leaves the loop", node->text);
}

static void place_label(ms_writer *w, const ms_node *node) {
  for (ms_c_label *label = w->label; label != NULL; label = label->next) {
    if (strcmp(label->name, node->text) != 0) continue;
    label->placed = true;
    ms_c_line(w, "%s:;", label->text);
    return;
  }
}

void ms_c_statements(ms_writer *w, const ms_node *block) {
  ms_c_label *before = w->label;
  enter_labels(w, block);
  for (uint32_t k = 0; k < block->kids && w->why->line == 0; k++) {
    ms_c_statement(w, block->kid[k]);
    ms_c_chosen_settle(w, block, k);
  }
  w->label = before;
}

static void expression_statement(ms_writer *w, const ms_node *node) {
  const ms_node *call = node->kid[0];
  bool function = ms_typed_called(w->typed, call) != NULL;
  if (call->kind == MS_METHOD && !function && ms_c_row_statement(w, call)) return;
  ms_c_call(w, call, NULL, 0);
}

static void local_function(ms_writer *w, const ms_node *node) {
  if (node->symbols[0]->assigned)
    ms_c_refuse(w, node, "`%s` is a function that is assigned again", node->symbols[0]->name);
  *ms_c_local_of(w, node->symbols[0]) =
      (ms_c_local){.text = "", .form = MS_FORM_OBJECT, .scopes = w->scopes};
}

void ms_c_statement(ms_writer *w, const ms_node *node) {
  if (node->kind != MS_LABEL && node->kind != MS_DO) ms_c_place(w, node);
  switch (node->kind) {
    case MS_LOCAL:
      declaration(w, node);
      return;
    case MS_ASSIGN:
      ms_c_assign(w, node);
      return;
    case MS_EXPRESSION:
      expression_statement(w, node);
      return;
    case MS_DO:
      ms_c_line(w, "{");
      ms_c_statements(w, node->kid[0]);
      ms_c_line(w, "}");
      return;
    case MS_WHILE:
      ms_c_region(w, node, write_while, node);
      return;
    case MS_REPEAT:
      ms_c_region(w, node, write_repeat, node);
      return;
    case MS_IF:
      if (ms_c_assign_is_update(w, node)) {
        ms_c_assign_update(w, node);
      } else if (!ms_c_assign_selection(w, node)) {
        branch(w, node);
      }
      return;
    case MS_FOR_NUMERIC:
      ms_c_loop(w, node);
      return;
    case MS_LOCAL_FUNCTION:
      local_function(w, node);
      return;
    case MS_RETURN:
      ms_c_call_return(w, node);
      return;
    case MS_BREAK:
      ms_c_line(w, "break;");
      return;
    case MS_GOTO:
      jump(w, node);
      return;
    case MS_LABEL:
      place_label(w, node);
      return;
    case MS_FOR_GENERIC:
      ms_c_sparse_for(w, node);
      return;
    default:
      ms_c_refuse(w, node, "`%s` is not known to C", ms_c_source(w, node));
  }
}
