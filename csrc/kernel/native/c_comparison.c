/* SPDX-License-Identifier: MIT
 *
 * Writing C: comparisons. See c_comparison.h. */
#include "kernel/native/c_comparison.h"

#include "kernel/emit/variable.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_integer_value.h"
#include "kernel/native/c_region.h"
#include "kernel/native/c_small_sum.h"
#include "kernel/native/c_value.h"
#include "kernel/native/c_variable.h"

static ms_c_value boolean(const char *text) {
  return (ms_c_value){
      .form = MS_FORM_BOOL, .kind = ms_kind_of_scalar(MS_CAN_BOOLEAN), .text = text};
}

/* A captured number as the integer that decides whether another is less or greater: compilers take
 * its forming out of loops. NULL if the node is none, or is asked for equality. */
static const char *whole_limit(ms_writer *w, const ms_node *node, ms_op op, bool right) {
  const ms_node *value;
  uint32_t at = ms_typed_binding(w->typed, node, &value);
  if (at == MS_NO_CAPTURE || value != node || ms_variable_is(w->emitter, at)) return NULL;
  if (w->emitter->job->bindings[at].kind != MS_BIND_NUMBER) return NULL;
  if (op == MS_OP_EQ || op == MS_OP_NE) return NULL;
  bool less = (op == MS_OP_LT || op == MS_OP_LE) == right; /* the integer than the number */
  bool strict = op == MS_OP_LT || op == MS_OP_GT;
  return ms_c_text(w, "ms_whole_limit(%s, %d, %d)", ms_c_variable_captured(w, at), less == strict,
                   less);
}

/* Comparison of two integers, or of one with a captured number; NULL for others. */
static const char *whole_comparison(ms_writer *w, const ms_node *node, const char *op) {
  if (w->scopes == 0) return NULL;
  for (int k = 0; k < 2; k++) {
    if (ms_typed_expression(w->typed, node->kid[k]).can != MS_CAN_NUMBER) return NULL;
  }
  ms_integer_value a = ms_c_integer_value_static(w, node->kid[0]);
  ms_integer_value b = ms_c_integer_value_static(w, node->kid[1]);
  if (!a.known && !b.known) return NULL;
  const char *left = a.known ? a.text : whole_limit(w, node->kid[0], node->op, false);
  const char *right = b.known ? b.text : whole_limit(w, node->kid[1], node->op, true);
  return left != NULL && right != NULL ? ms_c_text(w, "(%s %s %s)", left, op, right) : NULL;
}

static const char *equality(ms_writer *w, const ms_node *node, ms_c_value a, ms_c_value b) {
  const char *not = node->op == MS_OP_NE ? "!" : "";
  if (a.form == MS_FORM_OBJECT || b.form == MS_FORM_OBJECT) {
    ms_c_refuse(w, node, "`%s` compares what is no number", ms_c_source(w, node));
    return "0";
  }
  if ((a.kind.can & b.kind.can) == 0 && a.kind.can && b.kind.can)
    return node->op == MS_OP_NE ? "1" : "0";
  if (a.form == MS_FORM_BOOL && b.form == MS_FORM_BOOL)
    return ms_c_text(w, "(%s %s= %s)", a.text, *not ? not : "=", b.text);
  return ms_c_text(w, "%sms_is_same(%s, %s)", not, ms_c_value_as_form(w, a, MS_FORM_VALUE, node),
                   ms_c_value_as_form(w, b, MS_FORM_VALUE, node));
}

static bool is_number(const ms_c_value *value) {
  return value->form == MS_FORM_DOUBLE || value->form == MS_FORM_FLOAT;
}

/* A condition: a held value is of one of the kinds in `can`. */
static const char *is_kind(ms_writer *w, const ms_c_value *value, uint32_t can) {
  if (can == MS_CAN_NIL) return ms_c_text(w, "%s.tag == MS_NATIVE_NIL", value->text);
  return ms_c_text(w, "(%s.tag == MS_NATIVE_TRUE || %s.tag == MS_NATIVE_FALSE)", value->text,
                   value->text);
}

/* Stops where neither of two values is a number: then LuaJIT names both. */
static void compare_others(ms_writer *w, const ms_node *node, const ms_c_value *a,
                           const ms_c_value *b) {
  static const uint32_t kinds[] = {MS_CAN_NIL, MS_CAN_BOOLEAN};
  static const char *const names[] = {"nil", "boolean"};
  for (int k = 0; k < 4; k++) {
    int one = k / 2, other = k % 2;
    if (!(a->kind.can & kinds[one]) || !(b->kind.can & kinds[other])) continue;
    const char *message =
        one == other ? ms_c_text(w, "attempt to compare two %s values", names[one])
                     : ms_c_text(w, "attempt to compare %s with %s", names[one], names[other]);
    ms_c_error(w, node,
               ms_c_text(w, "%s && %s", is_kind(w, a, kinds[one]), is_kind(w, b, kinds[other])),
               message);
  }
}

const char *ms_c_comparison_op(ms_op op) {
  static const char *const ops[] = {[MS_OP_EQ] = "==", [MS_OP_NE] = "!=", [MS_OP_LT] = "<",
                                    [MS_OP_LE] = "<=", [MS_OP_GT] = ">",  [MS_OP_GE] = ">="};
  return ops[op];
}

ms_c_value ms_c_comparison(ms_writer *w, const ms_node *node) {
  const char *text = whole_comparison(w, node, ms_c_comparison_op(node->op));
  if (text != NULL) return boolean(text);
  ms_c_value a = ms_c_expression_left(w, node);
  ms_c_value b = ms_c_expression(w, node->kid[1]);
  bool equal = node->op == MS_OP_EQ || node->op == MS_OP_NE;
  if (equal && !(is_number(&a) && is_number(&b))) return boolean(equality(w, node, a, b));
  /* LuaJIT turns a > b into b < a. */
  static const ms_complaint first = {"attempt to compare nil with number",
                                     "attempt to compare boolean with number"};
  static const ms_complaint second = {"attempt to compare number with nil",
                                      "attempt to compare number with boolean"};
  if (a.whole != NULL && b.whole != NULL)
    return boolean(ms_c_text(w, "(%s %s %s)", ms_c_small_sum_text(w, a.whole),
                             ms_c_comparison_op(node->op), ms_c_small_sum_text(w, b.whole)));
  bool turned = node->op == MS_OP_GT || node->op == MS_OP_GE;
  if (a.form == MS_FORM_VALUE && b.form == MS_FORM_VALUE) {
    a = ms_c_value_hold(w, a);
    b = ms_c_value_hold(w, b);
    compare_others(w, node->kid[0], turned ? &b : &a, turned ? &a : &b);
  }
  if (ms_c_region_joined(w, &a, &b) == MS_SINGLE && is_number(&a) && is_number(&b))
    return boolean(ms_c_text(w, "(%s %s %s)", ms_c_value_as_float(w, a, node->kid[0]),
                             ms_c_comparison_op(node->op),
                             ms_c_value_as_float(w, b, node->kid[1])));
  const char *left = ms_c_value_as_number(w, a, node->kid[0], turned ? second : first);
  const char *right = ms_c_value_as_number(w, b, node->kid[1], turned ? first : second);
  return boolean(ms_c_text(w, "(%s %s %s)", left, ms_c_comparison_op(node->op), right));
}
