/* SPDX-License-Identifier: MIT
 *
 * Tests of affine forms: arithmetic, and refusal beyond the limits. */
#include "depend/form.h"

#include "base/test.h"

static ms_form of_variable(uint32_t variable, int64_t factor, int64_t constant) {
  ms_form form = ms_form_constant(constant);
  form.at[variable] = factor;
  return form;
}

static void test_add(void) {
  ms_form a = of_variable(0, 2, 5), b = of_variable(1, 3, -1), sum;
  CHECK(ms_form_add(&sum, &a, &b, -2));
  CHECK(sum.constant == 7 && sum.at[0] == 2 && sum.at[1] == -6);
  CHECK(ms_form_add(&a, &a, &a, -1));
  CHECK(ms_form_is_constant(&a) && a.constant == 0);
  int64_t values[MS_MAX_VARS] = {10, 100};
  CHECK(ms_form_value(&sum, values) == 7 + 20 - 600);
}

static void test_limits(void) {
  ms_form one = of_variable(0, 1, 0), sum;
  CHECK(ms_form_add(&sum, &one, &one, MS_FORM_COEFFICIENT - 1));
  CHECK(!ms_form_add(&sum, &one, &one, MS_FORM_COEFFICIENT));
  ms_form large = ms_form_constant(MS_FORM_CONSTANT);
  CHECK(!ms_form_add(&sum, &large, &large, 1));
  CHECK(!ms_form_add(&sum, &large, &large, INT64_MAX));
  CHECK(!ms_form_add(&sum, &large, &large, INT64_MIN));
}

static void test_divide(void) {
  ms_form form = of_variable(2, -6, 9);
  CHECK(ms_form_divide(&form, 3) && form.at[2] == -2 && form.constant == 3);
  CHECK(!ms_form_divide(&form, 2));
  CHECK(form.at[2] == -2 && form.constant == 3);
  CHECK(!ms_form_divide(&form, 0));
}

int main(void) {
  test_add();
  test_limits();
  test_divide();
  return ms_test_end();
}
