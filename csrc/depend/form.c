/* SPDX-License-Identifier: MIT
 *
 * Affine forms: see form.h. */
#include "depend/form.h"

ms_form ms_form_constant(int64_t constant) {
  ms_form form = {0};
  form.constant = constant;
  return form;
}

static bool add_scaled(int64_t *sum, int64_t a, int64_t b, int64_t scale, int64_t limit) {
  int64_t product, total;
  if (__builtin_mul_overflow(b, scale, &product)) return false;
  if (__builtin_add_overflow(a, product, &total)) return false;
  *sum = total;
  return total <= limit && total >= -limit;
}

bool ms_form_add(ms_form *sum, const ms_form *a, const ms_form *b, int64_t scale) {
  if (!add_scaled(&sum->constant, a->constant, b->constant, scale, MS_FORM_CONSTANT)) return false;
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
    if (!add_scaled(&sum->at[v], a->at[v], b->at[v], scale, MS_FORM_COEFFICIENT)) return false;
  }
  return true;
}

bool ms_form_divide(ms_form *form, int64_t divisor) {
  if (divisor == 0 || form->constant % divisor != 0) return false;
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
    if (form->at[v] % divisor != 0) return false;
  }
  form->constant /= divisor;
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) form->at[v] /= divisor;
  return true;
}

bool ms_form_is_constant(const ms_form *form) {
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
    if (form->at[v] != 0) return false;
  }
  return true;
}

int64_t ms_form_value(const ms_form *form, const int64_t *variables) {
  uint64_t value = (uint64_t)form->constant; /* wraps for points that no loop reaches */
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
    if (form->at[v] != 0) value += (uint64_t)form->at[v] * (uint64_t)variables[v];
  }
  return (int64_t)value;
}
