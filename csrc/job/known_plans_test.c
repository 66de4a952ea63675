/* SPDX-License-Identifier: MIT
 *
 * Known plans: found by numbers to the bit, kept as long as they are known, forgotten all at once
 * when they are too many. */
#include "job/known_plans.h"

#include <math.h>
#include <stdlib.h>

#include "base/test.h"

enum { MANY = 1024 };

/* A plan that somebody else keeps, too: it tells who still refers to it. */
static ms_plan plans[MANY + 8];

static void numbers_of(int k, double *numbers) {
  numbers[0] = k % 7;
  numbers[1] = k * 0.5;
  numbers[2] = -k;
}

static void test_many(void) {
  ms_known_plans known = {.width = 3};
  double numbers[3];
  for (int k = 0; k < MANY; k++) {
    plans[k].references = 1;
    numbers_of(k, numbers);
    CHECK(ms_known_plans_find(&known, numbers) == NULL);
    CHECK(ms_known_plans_add(&known, numbers, &plans[k], (uint64_t)k + 5));
    CHECK(known.latest == (uint32_t)k + 1);
  }
  for (int k = MANY - 1; k >= 0; k--) {
    numbers_of(k, numbers);
    const ms_known_plan *found = ms_known_plans_find(&known, numbers);
    CHECK(found != NULL && found->plan == &plans[k] && found->number == (uint64_t)k + 5);
    CHECK(found == ms_known_plans_find(&known, numbers));
    CHECK(plans[k].references == 2);
  }
  plans[MANY].references = 1;
  numbers_of(MANY, numbers);
  CHECK(ms_known_plans_add(&known, numbers, &plans[MANY], 1));
  CHECK(known.count == 1 && plans[0].references == 1 && plans[MANY].references == 2);
  CHECK(ms_known_plans_find(&known, numbers)->plan == &plans[MANY]);
  ms_known_plans_clear(&known);
  CHECK(plans[MANY].references == 1 && known.width == 3);
  CHECK(ms_known_plans_find(&known, numbers) == NULL && known.latest == 0);
}

static void test_bits(void) {
  ms_known_plans known = {.width = 1};
  double zero = 0, minus = -0.0, nan = NAN;
  CHECK(ms_known_plans_add(&known, &zero, &plans[0], 1));
  CHECK(ms_known_plans_find(&known, &minus) == NULL);
  CHECK(ms_known_plans_add(&known, &nan, &plans[1], 2));
  CHECK(ms_known_plans_find(&known, &nan)->number == 2);
  ms_known_plans_clear(&known);
}

static void test_no_numbers(void) {
  ms_known_plans known = {0};
  double none[1] = {0};
  CHECK(ms_known_plans_find(&known, none) == NULL);
  CHECK(ms_known_plans_add(&known, none, &plans[0], 3));
  CHECK(ms_known_plans_find(&known, none)->number == 3);
  ms_known_plans_clear(&known);
}

int main(void) {
  ms_test_limit(60);
  test_many();
  test_bits();
  test_no_numbers();
  return ms_test_end();
}
