/* SPDX-License-Identifier: MIT
 *
 * Writing C: expressions. See c_expression.h.
 *
 * Operands are evaluated from left to right. Since a text may be placed after what a later operand
 * writes, an operand is held in a temporary if a later one calls a function of the user. */
#include "kernel/native/c_expression.h"

#include <string.h>

#include "kernel/emit/variable.h"
#include "kernel/native/c_array.h"
#include "kernel/native/c_call.h"
#include "kernel/native/c_comparison.h"
#include "kernel/native/c_integer.h"
#include "kernel/native/c_integer_value.h"
#include "kernel/native/c_list.h"
#include "kernel/native/c_lists.h"
#include "kernel/native/c_part.h"
#include "kernel/native/c_plain.h"
#include "kernel/native/c_region.h"
#include "kernel/native/c_rounded.h"
#include "kernel/native/c_row.h"
#include "kernel/native/c_small_sum.h"
#include "kernel/native/c_sparse.h"
#include "kernel/native/c_table.h"
#include "kernel/native/c_value.h"
#include "kernel/native/c_variable.h"

static ms_c_value value_of(ms_kind_of kind, ms_representation_of form, const char *text) {
  return (ms_c_value){.form = form, .kind = kind, .text = text};
}

static ms_c_value number(const char *text) {
  return value_of(ms_kind_of_number(MS_ANY_PRECISION), MS_FORM_DOUBLE, text);
}

static ms_c_value refused(ms_writer *w, const ms_node *node, const char *why) {
  ms_c_refuse(w, node, "`%s` %s", ms_c_source(w, node), why);
  return number("0.0");
}

static const char *nil_text = "ms_nil";

static ms_c_value captured(ms_writer *w, uint32_t at, const ms_node *node) {
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  switch (w->emitter->job->bindings[at].kind) {
    case MS_BIND_NUMBER: {
      ms_c_value value = value_of(kind, MS_FORM_DOUBLE, ms_c_variable_captured(w, at));
      ms_c_region_captured(w, &value);
      return value;
    }
    case MS_BIND_BOOLEAN:
      return value_of(kind, MS_FORM_BOOL, ms_c_variable_captured(w, at));
    case MS_BIND_NIL:
      return value_of(kind, MS_FORM_VALUE, nil_text);
    default:
      return value_of(kind, MS_FORM_OBJECT,
                      kind.object == MS_OBJECT_VIEW ? ms_c_array_memory(w, kind.array) : "");
  }
}

ms_c_value ms_c_expression_local(ms_writer *w, const ms_symbol *symbol, const ms_node *node) {
  const ms_c_local *known = ms_c_local_of(w, symbol);
  ms_kind_of kind = *ms_typed_symbol(w->typed, symbol);
  if (known->text == NULL) return refused(w, node, "is a variable of another function");
  if (known->whole == NULL || known->text != known->whole) {
    ms_c_value number_of = value_of(kind, known->form, known->text);
    ms_c_region_local(w, symbol, &number_of);
    ms_c_rounded_again(&number_of, known);
    return number_of;
  }
  ms_c_value value = number(ms_c_integer_widened(w, known->whole, known->least, known->most));
  ms_integer_value *whole = ms_c_integer(w, known->whole, known->least, known->most);
  if (whole != NULL) whole->small = known->small;
  value.whole = whole;
  ms_c_region_local(w, symbol, &value);
  return value;
}

static ms_c_value path(ms_writer *w, const ms_node *node) {
  const ms_node *value;
  uint32_t at = ms_typed_binding(w->typed, node, &value);
  if (at != MS_NO_CAPTURE && value != node) return refused(w, node, "reads a field of a value");
  if (at != MS_NO_CAPTURE && ms_variable_is(w->emitter, at)) {
    if (w->within != NULL) return refused(w, node, "changes while a function calls itself");
    at = ms_variable_meant(w->emitter, at, node);
    ms_kind_of kind = w->typed->variable[at];
    const char *name = ms_c_variable(w, at);
    if (ms_variable_is_asked(w->emitter, at, node)) name = ms_c_text(w, "ms_something(%s)", name);
    return value_of(kind, ms_c_value_representation(w, &kind), name);
  }
  if (at != MS_NO_CAPTURE) return captured(w, at, node);
  if (node->kind == MS_NAME && node->symbol != NULL)
    return ms_c_expression_local(w, node->symbol, node);
  if (node->kind == MS_NAME) return refused(w, node, "is a global that has no value here");
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  if (kind.object == MS_OBJECT_SPARSE) return ms_c_sparse_row(w, node);
  if (ms_typed_expression(w->typed, node->kid[0]).object == MS_OBJECT_SPARSE)
    return ms_c_sparse_element(w, node);
  if (ms_typed_expression(w->typed, node->kid[0]).object == MS_OBJECT_TABLE)
    return ms_c_table_element(w, node);
  if (ms_typed_expression(w->typed, node->kid[0]).object == MS_OBJECT_LIST)
    return ms_c_list_element(w, node);
  if (ms_typed_expression(w->typed, node->kid[0]).object == MS_OBJECT_LISTS)
    return ms_c_lists_element(w, node);
  ms_c_location location;
  if (!ms_c_location_find(w, node, &location)) return number("0.0");
  if (location.element) return ms_c_location_load(w, &location, node);
  return value_of(location.kind, MS_FORM_OBJECT, location.text);
}

/* A number in the form of a result. */
static const char *as_number(ms_writer *w, ms_c_value value, const ms_node *node, bool single) {
  return single ? ms_c_value_as_float(w, value, node) : ms_c_value_as_double(w, value, node);
}

const char *ms_c_expression_operand(ms_writer *w, const ms_node *node, bool single) {
  return as_number(w, ms_c_expression(w, node), node, single);
}

bool ms_c_expression_reads_late(const ms_writer *w, const ms_node *node) {
  while (node->kind == MS_PAREN) node = node->kid[0];
  if (node->kind != MS_NAME) return false;
  const ms_node *around = node->parent, *value;
  while (around != NULL && around->kind != MS_FUNCTION) around = around->parent;
  if (ms_typed_binding(w->typed, node, &value) != MS_NO_CAPTURE) return w->inlined == NULL;
  return node->symbol != NULL && node->symbol->function->node == around;
}

ms_c_value ms_c_expression_left(ms_writer *w, const ms_node *node) {
  ms_c_value left = ms_c_expression(w, node->kid[0]);
  if (!ms_typed_stores(w->typed, node->kid[1]) || ms_c_expression_reads_late(w, node->kid[0]))
    return left;
  return ms_c_value_hold(w, left);
}

/* An operand of `^`, which the Lua engine has a function for: it does not know what things are
 * called. */
static ms_c_value number_of_power(ms_writer *w, ms_c_value value, const ms_node *node) {
  static const ms_complaint says = {"attempt to perform arithmetic on a nil value",
                                    "attempt to perform arithmetic on a boolean value"};
  if (value.form == MS_FORM_DOUBLE || value.form == MS_FORM_FLOAT) return value;
  value.text = ms_c_value_as_number(w, value, node, says);
  value.form = MS_FORM_DOUBLE;
  value.kind = ms_kind_of_number(MS_ANY_PRECISION);
  return value;
}

/* a op b of doubles, or of floats. */
static const char *operation(ms_writer *w, ms_op op, const char *a, const char *b, bool single) {
  if (op == MS_OP_MOD)
    return ms_c_text(w, single ? "ms_float_mod(%s, %s)" : "ms_mod(%s, %s)", a, b);
  if (op == MS_OP_POW)
    return ms_c_text(w, single ? "ms_float_pow(%s, %s)" : "ms_math_pow(%s, %s)", a, b);
  return ms_c_text(w, "(%s %s %s)", a, ms_op_name(op), b);
}

static ms_c_value arithmetic(ms_writer *w, const ms_node *node) {
  ms_c_value left = ms_c_expression_left(w, node), right = ms_c_expression(w, node->kid[1]);
  ms_kind_of kind = ms_kind_of_number(ms_c_region_joined(w, &left, &right));
  bool single = kind.precision == MS_SINGLE, power = node->op == MS_OP_POW;
  if (power) left = number_of_power(w, left, node->kid[0]);
  const char *a = as_number(w, left, node->kid[0], single);
  if (power) right = number_of_power(w, right, node->kid[1]);
  const char *b = as_number(w, right, node->kid[1], single);
  const ms_integer_value *whole = NULL;
  const char *text = operation(w, node->op, a, b, single);
  if (node->op == MS_OP_ADD || node->op == MS_OP_SUB)
    whole = ms_c_integer_sum(w, left.whole, right.whole, node->op == MS_OP_SUB);
  if (node->op == MS_OP_MUL) whole = ms_c_small_sum_product(w, left.whole, right.whole);
  if (whole != NULL && whole->small && !single)
    text = ms_c_integer_widened(w, whole->text, whole->least, whole->most);
  ms_c_value value = value_of(kind, single ? MS_FORM_FLOAT : MS_FORM_DOUBLE, text);
  value.whole = whole;
  ms_c_rounded_sum(&value, &left, &right, node);
  if (single) return value;
  ms_c_region_joins(w, &value.outside, &left, w->region);
  ms_c_region_joins(w, &value.outside, &right, w->region);
  if (left.early.text != NULL && right.early.text != NULL)
    value.early =
        ms_c_region_early(operation(w, node->op, left.early.text, right.early.text, false),
                          left.early.captured && right.early.captured);
  return value;
}

/* An expression written apart: its value, and its statements if there are any. */
static ms_c_value apart(ms_writer *w, const ms_node *node, ms_text *statements) {
  ms_text *out = w->out;
  w->out = statements;
  w->indent++;
  ms_c_value value = ms_c_expression(w, node);
  w->indent--;
  w->out = out;
  return value;
}

bool ms_c_expression_is_choice(const ms_writer *w, const ms_node *node, const ms_node **condition,
                               const ms_node **yes) {
  if (!ms_node_is_choice(node, condition, yes)) return false;
  uint32_t can = ms_typed_expression(w->typed, *yes).can;
  return can != 0 && (can & (MS_CAN_NIL | MS_CAN_FALSE | MS_CAN_OBJECT)) == 0;
}

/* condition ? values[0] : values[1], each with its statements, which are freed. */
static ms_c_value choose(ms_writer *w, const ms_node *node, const char *condition,
                         const ms_c_value *values, ms_text *statements) {
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  const char *text[2];
  kind.precision = ms_c_region_joined(w, &values[0], &values[1]);
  ms_representation_of form = ms_c_value_representation(w, &kind);
  for (int s = 0; s < 2; s++) {
    ms_c_value value = values[s];
    ms_text *out = w->out;
    w->out = &statements[s];
    w->indent++;
    text[s] = ms_c_value_as_form(w, value, form, node);
    w->indent--;
    w->out = out;
  }
  ms_c_value chosen = value_of(kind, form, NULL);
  if (statements[0].length == 0 && statements[1].length == 0) {
    chosen.text = ms_c_value_choice(w, condition, text[0], text[1]);
    chosen.whole = ms_c_integer_choice(w, condition, values[0].whole, values[1].whole);
  } else {
    chosen.text = ms_c_temp(w);
    ms_c_line(w, "%s %s;", ms_c_value_type(form), chosen.text);
    ms_c_line(w, "if (%s) {", condition);
    for (int s = 0; s < 2; s++) {
      ms_text_append(w->out, statements[s].bytes, statements[s].length);
      ms_c_line(w, "%s = %s;", chosen.text, text[s]);
      ms_c_line(w, s == 0 ? "} else {" : "}");
    }
    w->line = 0;
  }
  for (int s = 0; s < 2; s++) {
    ms_text_free(&statements[s]);
    if (form != MS_FORM_FLOAT) ms_c_region_joins(w, &chosen.outside, &values[s], w->region);
  }
  return chosen;
}

/* `left and right`, `left or right`. Booleans are bits where the right one may be evaluated in any
 * case: what has no statements stops nowhere, and guards see to its subscripts in all iterations,
 * whatever the left one is. */
static ms_c_value connect(ms_writer *w, const ms_node *node) {
  bool both = node->op == MS_OP_AND;
  ms_text statements[2] = {{0}, {0}};
  ms_c_value left = ms_c_expression(w, node->kid[0]);
  ms_text *of_right = &statements[both ? 0 : 1];
  ms_c_value right = apart(w, node->kid[1], of_right);
  if (left.form == MS_FORM_BOOL && right.form == MS_FORM_BOOL && of_right->length == 0 &&
      ms_c_is_plain(w, node->kid[1])) {
    return value_of(ms_kind_of_scalar(MS_CAN_BOOLEAN), MS_FORM_BOOL,
                    ms_c_text(w, "(%s %s %s)", left.text, both ? "&" : "|", right.text));
  }
  left = ms_c_value_hold(w, left);
  const char *truth = ms_c_value_as_truth(w, left);
  const uint32_t falsy = MS_CAN_NIL | MS_CAN_FALSE;
  left.kind.can &= both ? falsy : ~falsy;
  const ms_c_value values[2] = {both ? right : left, both ? left : right};
  return choose(w, node, truth, values, statements);
}

static ms_c_value choice(ms_writer *w, const ms_node *node) {
  const ms_node *condition, *yes;
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  if (kind.can & MS_CAN_OBJECT) {
    const char *part = ms_c_part_choice(w, node);
    return value_of(kind, MS_FORM_OBJECT, part);
  }
  if (!ms_c_expression_is_choice(w, node, &condition, &yes)) return connect(w, node);
  const char *truth = ms_c_expression_condition(w, condition);
  ms_text statements[2] = {{0}, {0}};
  ms_c_value values[2];
  values[0] = apart(w, yes, &statements[0]);
  values[1] = apart(w, node->kid[1], &statements[1]);
  return choose(w, node, truth, values, statements);
}

static ms_c_value unary(ms_writer *w, const ms_node *node) {
  if (node->op == MS_OP_NOT)
    return value_of(ms_kind_of_scalar(MS_CAN_BOOLEAN), MS_FORM_BOOL,
                    ms_c_text(w, "!%s", ms_c_expression_condition(w, node->kid[0])));
  if (node->op == MS_OP_LEN) {
    ms_c_value of_table;
    if (ms_c_table_length(w, node->kid[0], &of_table)) return of_table;
    if (ms_typed_expression(w->typed, node->kid[0]).object == MS_OBJECT_LIST)
      return ms_c_list_count(w, node->kid[0]);
    if (ms_typed_expression(w->typed, node->kid[0]).object == MS_OBJECT_LISTS)
      return ms_c_lists_count(w, node->kid[0]);
    const char *extent = ms_c_row_extent(w, node->kid[0], NULL);
    if (extent == NULL) return refused(w, node, "is not the length of an array or gapless list");
    return number(extent);
  }
  ms_c_value value = ms_c_expression(w, node->kid[0]);
  bool single = value.form == MS_FORM_FLOAT;
  const char *text = single ? value.text : ms_c_value_as_double(w, value, node->kid[0]);
  ms_c_value negated =
      value_of(ms_kind_of_number(value.kind.precision), single ? MS_FORM_FLOAT : MS_FORM_DOUBLE,
               ms_c_text(w, "(-%s)", text));
  ms_c_region_joins(w, &negated.outside, &value, w->region);
  if (value.early.text != NULL)
    negated.early =
        ms_c_region_early(ms_c_text(w, "(-%s)", value.early.text), value.early.captured);
  return negated;
}

const char *ms_c_expression_condition(ms_writer *w, const ms_node *node) {
  return ms_c_value_as_truth(w, ms_c_expression(w, node));
}

static ms_c_value binary(ms_writer *w, const ms_node *node) {
  if (node->op == MS_OP_CONCAT) return refused(w, node, "makes a string");
  if (node->op == MS_OP_AND || node->op == MS_OP_OR) return choice(w, node);
  return node->op >= MS_OP_EQ ? ms_c_comparison(w, node) : arithmetic(w, node);
}

static ms_c_value call(ms_writer *w, const ms_node *node) {
  ms_c_value value = number("0.0");
  ms_c_call(w, node, &value, 1);
  return value;
}

static ms_c_value literal(ms_writer *w, const ms_node *node) {
  ms_c_value value = number(ms_c_number(w, node->number));
  ms_integer_value whole = ms_c_integer_value_static(w, node);
  if (whole.known) value.whole = ms_c_integer(w, whole.text, whole.least, whole.most);
  value.early = (ms_c_early){value.text, true};
  return value;
}

ms_c_value ms_c_expression(ms_writer *w, const ms_node *node) {
  switch (node->kind) {
    case MS_NIL:
      return value_of(ms_kind_of_scalar(MS_CAN_NIL), MS_FORM_VALUE, nil_text);
    case MS_TRUE:
      return value_of(ms_kind_of_scalar(MS_CAN_TRUE), MS_FORM_BOOL, "1");
    case MS_FALSE:
      return value_of(ms_kind_of_scalar(MS_CAN_FALSE), MS_FORM_BOOL, "0");
    case MS_NUMBER:
      if (node->boxed) return refused(w, node, "is a number of another library");
      return literal(w, node);
    case MS_STRING:
      return refused(w, node, "is a string");
    case MS_TABLE:
      return ms_c_table(w, node);
    case MS_VARARG:
      return refused(w, node, "has any number of values");
    case MS_NAME:
    case MS_INDEX:
      return path(w, node);
    case MS_PAREN:
      return ms_c_expression(w, node->kid[0]);
    case MS_BINARY:
      return binary(w, node);
    case MS_UNARY:
      return unary(w, node);
    case MS_CALL:
    case MS_METHOD:
      return call(w, node);
    case MS_FUNCTION:
      return value_of(ms_typed_expression(w->typed, node), MS_FORM_OBJECT, "");
    default:
      return refused(w, node, "is not known to C");
  }
}

void ms_c_expression_list(ms_writer *w, const ms_node *node, uint32_t from, ms_c_value *values,
                          uint32_t count, bool hold) {
  for (uint32_t k = from; k < node->kids; k++) {
    uint32_t at = k - from;
    const ms_node *kid = node->kid[k];
    if (at >= count) {
      ms_c_expression(w, kid);
      continue;
    }
    if (k + 1 == node->kids && ms_node_is_multiple(kid)) {
      ms_c_call(w, kid, values + at, count - at);
      for (uint32_t v = at; hold && v < count; v++) values[v] = ms_c_value_hold(w, values[v]);
      return;
    }
    values[at] = ms_c_expression(w, kid);
    bool later = false;
    for (uint32_t l = k + 1; l < node->kids; l++)
      later = later || ms_typed_stores(w->typed, node->kid[l]);
    if (hold || later) values[at] = ms_c_value_hold(w, values[at]);
  }
  for (uint32_t at = node->kids - from; at < count; at++) values[at] = ms_c_value_nil();
}
