/* SPDX-License-Identifier: MIT
 *
 * Lines of plans: plans on the line are those that their ranges have by themselves, found again
 * afterwards; there are none beside it. */
#include "job/plan_line.h"

#include "base/test.h"
#include "depend/verdict.h"

enum { WIDTH = 3 };

static ms_plan_terms terms_of(ms_verdict *verdict, int64_t lo, int64_t hi) {
  *verdict = (ms_verdict){.id = 1, .strategy = MS_INDEPENDENT, .dim_count = 1};
  verdict->extent[0].range = (ms_range){lo, hi, 1};
  return (ms_plan_terms){.verdict = verdict, .entries = -1, .ordered = 1};
}

/* k, and the range k + 1 .. 90. */
static void numbers_of(int k, double *numbers) {
  numbers[0] = k;
  numbers[1] = k + 1;
  numbers[2] = 90;
}

static bool same_blocks(const ms_plan *one, const ms_plan *other) {
  bool same = one->blocks == other->blocks && one->volume == other->volume;
  for (uint32_t b = 0; same && b < one->blocks; b++) {
    int64_t bounds[2], others[2];
    ms_layout_bounds(&one->layout, b, bounds);
    ms_layout_bounds(&other->layout, b, others);
    same = bounds[0] == others[0] && bounds[1] == others[1];
  }
  return same;
}

int main(void) {
  ms_test_limit(60);
  const int64_t steps[] = {1};
  double from[WIDTH], each[WIDTH] = {1, 1, 0}, numbers[WIDTH];
  ms_verdict verdict, own;
  ms_error err;
  numbers_of(3, from);
  ms_plan_line line = {.from = from, .each = each, .ranges = 1, .least = -2, .most = 80};
  line.terms = terms_of(&verdict, 4, 90);
  ms_known_plans known = {.width = WIDTH};
  for (int k = 1; k <= 83; k++) {
    numbers_of(k, numbers);
    const ms_known_plan *made = ms_plan_line_follow(&line, &known, numbers, steps);
    CHECK(made != NULL && made->number == 0 && made->plan->references == 1);
    CHECK(made == ms_known_plans_find(&known, numbers));
    ms_plan_terms terms = terms_of(&own, k + 1, 90);
    ms_error_clear(&err);
    ms_plan *right = ms_plan_new(&terms, &err);
    CHECK(made != NULL && right != NULL && same_blocks(made->plan, right));
    ms_plan_release(right);
  }
  numbers_of(0, numbers); /* before its beginning, beyond its end, between steps, beside it */
  CHECK(ms_plan_line_follow(&line, &known, numbers, steps) == NULL);
  numbers_of(84, numbers);
  CHECK(ms_plan_line_follow(&line, &known, numbers, steps) == NULL);
  numbers_of(5, numbers);
  numbers[0] = 5.5;
  CHECK(ms_plan_line_follow(&line, &known, numbers, steps) == NULL);
  numbers_of(5, numbers);
  numbers[2] = 91;
  CHECK(ms_plan_line_follow(&line, &known, numbers, steps) == NULL);
  line.least = line.most = 0;
  numbers_of(3, numbers);
  CHECK(ms_plan_line_follow(&line, &known, numbers, steps) == NULL);
  ms_known_plans_clear(&known);
  return ms_test_end();
}
