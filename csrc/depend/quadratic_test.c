/* SPDX-License-Identifier: MIT
 *
 * Quadratics against the same arithmetic on numbers, at many points. */
#include "depend/quadratic.h"

#include <math.h>

#include "base/test.h"

static ms_form form_of(int64_t constant, int64_t first, int64_t second) {
  ms_form form = ms_form_constant(constant);
  form.at[0] = first;
  form.at[MS_MAX_DIMS] = second;
  return form;
}

/* (dividend) / divisor at a point, not rounded. */
static double value_of(const ms_quadratic *number, const int64_t *at) {
  double root = (double)ms_form_value(&number->root, at);
  double rest = (double)ms_form_value(&number->rest, at);
  return ((double)number->square * root * root + rest) / (double)number->divisor;
}

static double operate(ms_op op, double a, double b) {
  return op == MS_OP_ADD ? a + b : op == MS_OP_SUB ? a - b : op == MS_OP_MUL ? a * b : a / b;
}

/* Whether the result is a op b, and its completed square the same number, at all points near 0. */
static void check_operation(ms_op op, const ms_quadratic *a, const ms_quadratic *b) {
  ms_quadratic result, completed;
  int64_t share;
  if (!ms_quadratic_operate(op, a, b, &result)) return;
  completed = result;
  bool complete = ms_quadratic_complete(&completed, &share);
  CHECK(complete == (result.square != 0));
  for (int64_t i = -9; i <= 9; i++) {
    for (int64_t j = -9; j <= 9; j++) {
      int64_t at[MS_MAX_VARS] = {i};
      at[MS_MAX_DIMS] = j;
      double value = operate(op, value_of(a, at), value_of(b, at));
      if (op == MS_OP_DIV && value_of(b, at) == 0) continue;
      CHECK(value_of(&result, at) == value);
      CHECK((double)ms_quadratic_value(&result, at) == floor(value));
      CHECK(!ms_quadratic_is_whole(&result) || value == floor(value));
      if (!complete) continue;
      double root = (double)ms_form_value(&completed.root, at);
      double rest = (double)ms_form_value(&completed.rest, at);
      double square = (double)completed.square * root * root + (double)share * root;
      CHECK((square + rest) / (double)completed.divisor == value);
      CHECK(completed.square > 0 ? square >= 0 : square <= 0);
    }
  }
}

static void test_operations(void) {
  static const ms_op ops[] = {MS_OP_ADD, MS_OP_SUB, MS_OP_MUL, MS_OP_DIV};
  ms_quadratic all[12];
  uint32_t count = 0;
  const ms_form forms[] = {form_of(0, 1, 0), form_of(-1, 1, 0),  form_of(3, -2, 0),
                           form_of(0, 0, 1), form_of(2, 2, -2),  form_of(5, -1, 1),
                           form_of(2, 0, 0), form_of(-12, 0, 0), form_of(3, 0, 0)};
  for (uint32_t f = 0; f < sizeof forms / sizeof *forms; f++)
    all[count++] = ms_quadratic_of(&forms[f]);
  CHECK(ms_quadratic_of_double(0.5, &all[count++]));
  CHECK(ms_quadratic_operate(MS_OP_MUL, &all[0], &all[1], &all[count++])); /* i * (i - 1) */
  CHECK(ms_quadratic_operate(MS_OP_MUL, &all[count - 1], &all[9], &all[count]));
  CHECK(all[count].square == 1 && all[count].divisor == 2 && ms_quadratic_is_whole(&all[count]));
  count++;
  for (uint32_t o = 0; o < 4; o++) {
    for (uint32_t a = 0; a < count; a++) {
      for (uint32_t b = 0; b < count; b++) check_operation(ops[o], &all[a], &all[b]);
    }
  }
}

static void test_limits(void) {
  const ms_form i = form_of(0, 1, 0), j = form_of(0, 0, 1), large = form_of(0, 1 << 11, 0);
  const ms_quadratic a = ms_quadratic_of(&i), b = ms_quadratic_of(&j);
  const ms_quadratic c = ms_quadratic_of(&large);
  ms_quadratic result, more;
  CHECK(!ms_quadratic_operate(MS_OP_MUL, &a, &b, &result)); /* no square */
  CHECK(ms_quadratic_operate(MS_OP_MUL, &a, &a, &result));
  CHECK(!ms_quadratic_operate(MS_OP_MUL, &result, &a, &more)); /* a cube */
  CHECK(!ms_quadratic_operate(MS_OP_MUL, &c, &c, &more));      /* too large */
  CHECK(!ms_quadratic_operate(MS_OP_MOD, &result, &a, &more));
  CHECK(ms_quadratic_operate(MS_OP_SUB, &result, &result, &more) && ms_quadratic_is_form(&more));
  CHECK(!ms_quadratic_of_double(0.1, &more) && !ms_quadratic_of_double(NAN, &more));
  CHECK(!ms_quadratic_of_double(INFINITY, &more));
}

int main(void) {
  test_operations();
  test_limits();
  return ms_test_end();
}
