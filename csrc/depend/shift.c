/* SPDX-License-Identifier: MIT
 *
 * Walk, shifts: bit.lshift, bit.rshift and bit.arshift by constants as products and quotients. See
 * walk.h.
 *
 * LuaJIT's operations wrap at 32 bits, so a shift is a product or a quotient only for values that
 * are known to fit. The bounds of a form come from the ranges of its variables. */
#include <math.h>
#include <string.h>

#include "depend/arithmetic.h"
#include "depend/evaluate.h"
#include "depend/shift.h"
#include "depend/subscript.h"

/* Variables whose bounds depend on each other are followed so far. */
#define MAX_STEPS 24U

#define LIMIT 2147483648.0 /* 2^31 */

typedef struct bounds {
  double low, high;
} bounds;

static bounds range_of(const ms_walk *walk, const ms_form *form, uint32_t steps);

/* Narrows the bounds of a variable by form >= 0. */
static void narrow(const ms_walk *walk, const ms_form *form, uint32_t variable, uint32_t steps,
                   bounds *own) {
  double factor = (double)form->at[variable];
  if (form->at[variable] == 0) return;
  ms_form rest = *form;
  rest.at[variable] = 0;
  double most = range_of(walk, &rest, steps).high;
  if (factor > 0) own->low = fmax(own->low, ceil(-most / factor));
  if (factor < 0) own->high = fmin(own->high, floor(most / -factor));
}

static bounds variable_range(const ms_walk *walk, uint32_t variable, uint32_t steps) {
  bounds own = {-INFINITY, INFINITY};
  if (variable < MS_MAX_DIMS && walk->domain->dim[variable].box) {
    own.low = 0;
    own.high = (double)walk->domain->dim[variable].extent - 1;
    return own;
  }
  if (variable == MS_VAR_STEADY) {
    own.low = (double)walk->domain->steady->least;
    own.high = (double)walk->domain->steady->most;
    return own;
  }
  if (steps >= MAX_STEPS) return own;
  if (variable >= MS_MAX_DIMS) {
    narrow(walk, &walk->scope[variable - MS_MAX_DIMS].low, variable, steps + 1, &own);
    narrow(walk, &walk->scope[variable - MS_MAX_DIMS].high, variable, steps + 1, &own);
    return own;
  }
  const ms_bounds *low = &walk->domain->dim[variable].low;
  const ms_bounds *high = &walk->domain->dim[variable].high;
  for (uint32_t e = 0; e < low->count; e++) narrow(walk, &low->form[e], variable, steps + 1, &own);
  for (uint32_t e = 0; e < high->count; e++)
    narrow(walk, &high->form[e], variable, steps + 1, &own);
  return own;
}

static bounds range_of(const ms_walk *walk, const ms_form *form, uint32_t steps) {
  bounds sum = {(double)form->constant, (double)form->constant};
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
    if (form->at[v] == 0) continue;
    double factor = (double)form->at[v];
    bounds own = variable_range(walk, v, steps);
    sum.low += factor * (factor > 0 ? own.low : own.high);
    sum.high += factor * (factor > 0 ? own.high : own.low);
  }
  return sum;
}

void ms_shift_range(const ms_walk *walk, const ms_form *form, double *low, double *high) {
  bounds range = range_of(walk, form, 0);
  *low = range.low;
  *high = range.high;
}

static bool is_whole(const ms_abstract_value *value) {
  if (value->quadratic == NULL) return value->kind == MS_ABSTRACT_VALUE_NUMBER;
  return ms_quadratic_is_whole(value->quadratic);
}

static bool shift_quadratic(ms_walk *walk, bool left, const ms_abstract_value *operand,
                            int64_t power, ms_abstract_value *value) {
  ms_abstract_value shifted = ms_abstract_value_scalar();
  const ms_form by = ms_form_constant(power);
  const ms_abstract_value factor = ms_abstract_value_number(&by);
  ms_arithmetic_operate(walk, left ? MS_OP_MUL : MS_OP_DIV, operand, &factor, &shifted);
  return ms_arithmetic_floor(walk, &shifted, value);
}

bool ms_walk_shift(ms_walk *walk, const char *name, ms_node *node, ms_abstract_value *value) {
  ms_abstract_value operand, amount;
  const ms_form zero = {0};
  ms_form result;
  bool left = strcmp(name, "bit.lshift") == 0, logical = strcmp(name, "bit.rshift") == 0;
  if ((!left && !logical && strcmp(name, "bit.arshift") != 0) || node->kids != 3) return false;
  ms_evaluate(walk, node->kid[1], &operand);
  ms_evaluate(walk, node->kid[2], &amount);
  if (!is_whole(&operand) || amount.kind != MS_ABSTRACT_VALUE_NUMBER) return false;
  if (!ms_form_is_constant(&amount.form)) return false;
  if (amount.form.constant < 0 || amount.form.constant > 20) return false;
  int64_t power = (int64_t)1 << amount.form.constant;
  double scale = left ? (double)power : 1;
  bounds range;
  ms_arithmetic_range(walk, &operand, &range.low, &range.high);
  if (!(range.low * scale >= (logical ? 0 : -LIMIT) && range.high * scale < LIMIT)) return false;
  if (operand.quadratic != NULL) return shift_quadratic(walk, left, &operand, power, value);
  bool known = left ? ms_form_add(&result, &zero, &operand.form, power)
                    : ms_subscript_floor(walk, &operand.form, power, &result);
  if (known) *value = ms_abstract_value_number(&result);
  return known;
}
