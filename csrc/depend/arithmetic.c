/* SPDX-License-Identifier: MIT
 *
 * Arithmetic of the walk: constants, and operations on affine and quadratic numbers. See walk.h.
 *
 * A quadratic is one as long as doubles hold all that it is made of exactly. */
#include <math.h>

#include "depend/arithmetic.h"
#include "depend/condition.h"
#include "depend/shift.h"
#include "depend/subscript.h"

/* The bounds of what is divided. */
static void dividend_range(const ms_walk *walk, const ms_quadratic *number, double *low,
                           double *high) {
  ms_quadratic completed = *number;
  int64_t share;
  double least, most, square = (double)number->square;
  bool whole = number->square == 0 || ms_quadratic_complete(&completed, &share);
  *low = -INFINITY;
  *high = INFINITY;
  if (!whole) return;
  ms_shift_range(walk, &completed.rest, low, high);
  if (number->square == 0) return;
  ms_shift_range(walk, &completed.root, &least, &most);
  double first = least * (square * least + (double)share);
  double last = most * (square * most + (double)share);
  bool zero = least <= 0 && most >= 0;
  *low += fmin(zero ? 0 : first, fmin(first, last));
  *high += fmax(zero ? 0 : first, fmax(first, last));
}

/* Gives a scalar its number, if that is exact. */
static void set_quadratic(ms_walk *walk, const ms_quadratic *number, ms_abstract_value *value) {
  double low, high;
  if (ms_quadratic_is_form(number)) {
    *value = ms_abstract_value_number(&number->rest);
    return;
  }
  dividend_range(walk, number, &low, &high);
  if (!(low >= -MS_QUADRATIC_DIVIDEND && high <= MS_QUADRATIC_DIVIDEND)) return;
  ms_quadratic *kept = ms_arena_take(walk->arena, 1, sizeof *kept);
  walk->failed = walk->failed || kept == NULL;
  if (kept == NULL) return;
  *kept = *number;
  *value = ms_abstract_value_scalar();
  value->truth = &ms_truth_true;
  value->quadratic = kept;
}

ms_abstract_value ms_arithmetic_constant(ms_walk *walk, double number) {
  ms_abstract_value value = ms_abstract_value_scalar();
  ms_quadratic exact;
  if (number == floor(number) && fabs(number) <= (double)MS_FORM_CONSTANT) {
    ms_form form = ms_form_constant((int64_t)number);
    value = ms_abstract_value_number(&form);
  } else if (ms_quadratic_of_double(number, &exact)) {
    set_quadratic(walk, &exact, &value);
  }
  return value;
}

static bool multiply(const ms_form *left, const ms_form *right, ms_form *product) {
  if (!ms_form_is_constant(right)) {
    const ms_form *other = left;
    left = right;
    right = other;
  }
  const ms_form zero = {0};
  return ms_form_is_constant(right) && ms_form_add(product, &zero, left, right->constant);
}

static bool modulo(ms_walk *walk, const ms_form *left, const ms_form *right, ms_form *result) {
  ms_form quotient;
  if (!ms_form_is_constant(right) || right->constant <= 0) return false;
  if (right->constant > MS_FORM_COEFFICIENT) return false;
  return ms_subscript_floor(walk, left, right->constant, &quotient) &&
         ms_form_add(result, left, &quotient, -right->constant);
}

static bool arithmetic(ms_walk *walk, ms_op op, const ms_form *left, const ms_form *right,
                       ms_form *result) {
  switch (op) {
    case MS_OP_ADD:
      return ms_form_add(result, left, right, 1);
    case MS_OP_SUB:
      return ms_form_add(result, left, right, -1);
    case MS_OP_MUL:
      return multiply(left, right, result);
    case MS_OP_DIV:
      *result = *left;
      return ms_form_is_constant(right) && ms_form_divide(result, right->constant);
    case MS_OP_MOD:
      return modulo(walk, left, right, result);
    default:
      return false;
  }
}

static ms_quadratic quadratic_of(const ms_abstract_value *value) {
  return value->quadratic != NULL ? *value->quadratic : ms_quadratic_of(&value->form);
}

void ms_arithmetic_operate(ms_walk *walk, ms_op op, const ms_abstract_value *left,
                           const ms_abstract_value *right, ms_abstract_value *value) {
  ms_form result;
  ms_quadratic number;
  if (left->quadratic == NULL && right->quadratic == NULL) {
    if (ms_condition_compare(walk, op, left, right, value)) return;
    if (arithmetic(walk, op, &left->form, &right->form, &result)) {
      *value = ms_abstract_value_number(&result);
      return;
    }
  }
  const ms_quadratic a = quadratic_of(left), b = quadratic_of(right);
  if (ms_quadratic_operate(op, &a, &b, &number)) set_quadratic(walk, &number, value);
}

/* The floor of the number as another; false if that is not known. */
bool ms_arithmetic_floor(ms_walk *walk, const ms_abstract_value *number, ms_abstract_value *value) {
  const ms_quadratic *quadratic = number->quadratic;
  ms_form result;
  *value = *number;
  if (quadratic == NULL) return number->kind == MS_ABSTRACT_VALUE_NUMBER;
  if (quadratic->square != 0) return ms_quadratic_is_whole(quadratic);
  if (!ms_subscript_floor(walk, &quadratic->rest, quadratic->divisor, &result)) return false;
  *value = ms_abstract_value_number(&result);
  return true;
}

/* The bounds of a number. */
void ms_arithmetic_range(const ms_walk *walk, const ms_abstract_value *number, double *low,
                         double *high) {
  const ms_quadratic exact = quadratic_of(number);
  dividend_range(walk, &exact, low, high);
  *low /= (double)exact.divisor;
  *high /= (double)exact.divisor;
}
