/* SPDX-License-Identifier: MIT
 *
 * Pace: loops of all lengths, faster in the driver's process or on workers, end where they are
 * faster, and look up now and then. */
#include "job/pace.h"

#include <math.h>

#include "base/test.h"

#define MOST   2e-4
#define VOLUME 100.0

static const ms_pace_work work = {.volume = VOLUME};

/* A loop that takes so many seconds in the driver's process and on workers, who compute as long as
 * here, run so often; how many of the executions were in the driver's process. */
static int run(ms_pace *pace, int times, double here, double away) {
  int count = 0;
  for (int k = 0; k < times; k++) {
    if (ms_pace_is_here(pace, &work, MOST, here / VOLUME)) {
      ms_pace_ran_here(pace, here, &work, MOST);
      count++;
    } else {
      ms_pace_ran_away(pace, away, &work, MOST);
    }
  }
  return count;
}

/* Of many executions nearly all are where they are faster, after few. */
static void test_places(void) {
  const struct {
    double here, away;
    bool is_here;
  } loops[] = {
      {1e-5, 1e-4, true},     {1e-5, 1e-6, true},    {1.9e-4, 1e-5, true}, {3e-4, 4e-4, true},
      {3e-4, 2e-4, false},    {1.5e-3, 2e-3, true},  {4e-3, 5e-3, true},   {4e-3, 2.5e-3, false},
      {9.9e-3, 9.9e-3, true}, {1.1e-2, 2e-2, false}, {5e-2, 9e-2, false},
  };
  for (size_t k = 0; k < sizeof loops / sizeof *loops; k++) {
    ms_pace pace;
    ms_pace_begin(&pace);
    run(&pace, 20, loops[k].here, loops[k].away);
    int here = run(&pace, 5000, loops[k].here, loops[k].away);
    CHECK(loops[k].is_here ? here >= 4950 : here <= 80);
    CHECK(loops[k].here <= MOST || here < 5000);
  }
}

/* A loop that takes longer than Ctrl-C can wait for never runs here, nor does one without a limit.
 */
static void test_long(void) {
  ms_pace pace;
  ms_pace_begin(&pace);
  CHECK(run(&pace, 5000, 2.1e-2, 1) == 0);
  for (int k = 0; k < 100; k++) {
    CHECK(!ms_pace_is_here(&pace, &work, 0, 1e-9));
    ms_pace_ran_away(&pace, 1e-6, &work, MOST);
  }
  CHECK(!ms_pace_is_here(&pace, &work, MOST, INFINITY));
}

/* The best of some executions at either place counts, and none that was long ago. */
static void test_best(void) {
  ms_pace pace;
  ms_pace_begin(&pace);
  const double here[MS_PACE_SOME] = {1.2e-3, 1e-3, 3e-3, 2e-3, 2e-3};
  const double away[MS_PACE_SOME] = {9e-3, 5e-4, 8e-3, 8e-3, 8e-3};
  for (int k = 0; k < MS_PACE_SOME; k++) CHECK(run(&pace, 1, here[k], 1) == 1);
  for (int k = 0; k < MS_PACE_SOME; k++) CHECK(run(&pace, 1, 1e-3, away[k]) == 0);
  CHECK(run(&pace, 7, 1e-3, 5e-4) == 0);
  ms_pace_begin(&pace);
  run(&pace, MS_PACE_SOME, 3e-4, 1); /* the machine was quiet then; now everything takes longer */
  run(&pace, 4 * 1024, 3e-3, 2e-3);
  CHECK(run(&pace, 100, 3e-3, 2e-3) <= MS_PACE_SOME);
}

/* A trial here ends with the first execution that takes much longer than on workers, one there with
 * the second: the first may have woken them. */
static void test_hopeless(void) {
  ms_pace pace;
  ms_pace_begin(&pace);
  for (int k = 0; k < 3; k++) ms_pace_ran_away(&pace, 4e-4, &work, MOST);
  CHECK(run(&pace, 8, 1.5e-3, 4e-4) == 1);
  ms_pace_begin(&pace);
  CHECK(run(&pace, MS_PACE_SOME, 1e-3, 2.1e-3) == MS_PACE_SOME);
  CHECK(run(&pace, 2, 1e-3, 2.1e-3) == 0);
  CHECK(run(&pace, 8, 1e-3, 2.1e-3) == 8);
  ms_pace_begin(&pace);
  run(&pace, MS_PACE_SOME, 1e-3, 1.9e-3);
  CHECK(run(&pace, MS_PACE_SOME, 1e-3, 1.9e-3) == 0);
}

/* A loop that many workers share well is not tried here again and again. */
static void test_many(void) {
  ms_pace pace;
  ms_pace_begin(&pace);
  run(&pace, 10, 8e-3, 5e-4);
  CHECK(run(&pace, 5000, 8e-3, 5e-4) == 0);
}

/* The other place is found out anew: a machine that others use, or no longer use. */
static void test_change(void) {
  ms_pace pace;
  ms_pace_begin(&pace);
  run(&pace, 100, 1e-3, 2e-3);
  CHECK(run(&pace, 100, 1e-3, 2e-3) >= 90);
  run(&pace, 4 * 1024, 1e-3, 5e-4);
  CHECK(run(&pace, 100, 1e-3, 5e-4) <= MS_PACE_SOME);
  run(&pace, 4 * 1024, 1e-3, 2e-3);
  CHECK(run(&pace, 100, 1e-3, 2e-3) >= 90);
}

/* One execution that lost its core changes nothing. */
static void test_lost(void) {
  ms_pace pace;
  ms_pace_begin(&pace);
  run(&pace, 50, 1e-4, 1e-3);
  ms_pace_ran_here(&pace, 1, &work, MOST);
  CHECK(run(&pace, 10, 1e-4, 1e-3) == 10);
  ms_pace_begin(&pace);
  run(&pace, 50, 1e-3, 3e-3);
  ms_pace_ran_here(&pace, 1, &work, MOST);
  CHECK(run(&pace, 3, 1e-3, 3e-3) == 3);
}

/* Runs a loop whose iterations take `step` seconds for each whole number up to `number`; whether
 * that was in the driver's process. */
static bool count_up_to(ms_pace *pace, double number, double step) {
  const ms_pace_work own = {.volume = 1, .numbers = &number, .count = 1};
  bool is_here = ms_pace_is_here(pace, &own, MOST, 10 * step);
  if (is_here)
    ms_pace_ran_here(pace, number * step, &own, MOST);
  else
    ms_pace_ran_away(pace, number * step + 1e-4, &own, MOST);
  return is_here;
}

/* A loop runs here with numbers like those that it was measured with, and with others once these
 * are known not to make it long. */
static void test_numbers(void) {
  const double step = 1e-8;
  ms_pace pace;
  ms_pace_begin(&pace);
  for (int k = 0; k < 5; k++) count_up_to(&pace, 10, step);
  CHECK(count_up_to(&pace, 10, step));
  CHECK(!count_up_to(&pace, 1e9, step));
  CHECK(count_up_to(&pace, 10, step));
  CHECK(!count_up_to(&pace, 1e9, step)); /* it was met, and took long */
  CHECK(!count_up_to(&pace, 5e5, step));
  CHECK(count_up_to(&pace, 5e5, step));
  CHECK(!count_up_to(&pace, -1e7, step)); /* loops may begin there */
  CHECK(!count_up_to(&pace, INFINITY, step));
  int away = 0;
  ms_pace_begin(&pace);
  const double small = 10, great = 1e8;
  const ms_pace_work with_small = {1, &small, 1}, with_great = {1, &great, 1};
  ms_pace_ran_away(&pace, 1, &with_great, MOST);
  CHECK(ms_pace_is_here(&pace, &with_small, MOST, 1e-7)); /* nothing is known of others */
  ms_pace_begin(&pace);
  ms_pace_ran_away(&pace, 1e-4, &with_small, MOST);
  CHECK(!ms_pace_is_here(&pace, &with_great, MOST, 1e-7));
  CHECK(ms_pace_is_here(&pace, &with_small, MOST, 1e-7));
  ms_pace_begin(&pace);
  for (int k = 1; k <= 1000; k++) away += count_up_to(&pace, k, step) ? 0 : 1;
  CHECK(away <= 3);
}

/* A loop that has more or other numbers than before is as one that begins. */
static void test_other_numbers(void) {
  double numbers[MS_PACE_NUMBERS + 2] = {1, 1};
  ms_pace_work own = {.volume = 1, .numbers = numbers, .count = 2};
  ms_pace pace;
  ms_pace_begin(&pace);
  ms_pace_ran_here(&pace, 1e-5, &own, MOST);
  numbers[0] = numbers[1] = 5; /* five times as long for each */
  CHECK(!ms_pace_is_here(&pace, &own, MOST, INFINITY));
  numbers[1] = 1;
  CHECK(ms_pace_is_here(&pace, &own, MOST, INFINITY));
  own.count = MS_PACE_NUMBERS + 2;
  CHECK(ms_pace_is_here(&pace, &own, MOST, INFINITY));
  ms_pace_ran_here(&pace, 1e-5, &own, MOST);
  numbers[MS_PACE_NUMBERS] = 1e9;
  CHECK(ms_pace_is_here(&pace, &own, MOST, INFINITY));
  numbers[MS_PACE_NUMBERS - 1] = 1e9;
  CHECK(!ms_pace_is_here(&pace, &own, MOST, INFINITY));
}

int main(void) {
  test_numbers();
  test_other_numbers();
  test_places();
  test_long();
  test_best();
  test_hopeless();
  test_many();
  test_change();
  test_lost();
  return ms_test_end();
}
