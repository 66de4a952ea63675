/* SPDX-License-Identifier: MIT
 *
 * Difference constraints against isl on random systems: the same emptiness, points that satisfy all
 * rows, and other forms left to isl. The seed is printed; MEISSA_TEST_SEED replays a run. */
#include "depend/difference.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/test.h"
#include "depend/solver.h"

#define ROUNDS 3000

static uint32_t state;

static uint32_t draw(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

static int64_t value_of(const ms_constraint *row, const int64_t *values) {
  int64_t sum = row->constant;
  for (uint32_t c = 0; c < MS_MAX_COLUMNS; c++) sum += row->at[c] * values[c];
  return sum;
}

static bool satisfies(const ms_system *system, const int64_t *values) {
  for (uint32_t r = 0; r < system->equal_count; r++) {
    if (value_of(&system->equal[r], values) != 0) return false;
  }
  for (uint32_t r = 0; r < system->inequality_count; r++) {
    if (value_of(&system->inequality[r], values) < 0) return false;
  }
  return true;
}

/* Adds `factor` times an unknown: t, the later iteration t + d, or an inner variable. */
static void add_unknown(ms_system *system, ms_constraint *row, uint32_t which, int64_t factor) {
  uint32_t k = which / 4;
  switch (which % 4) {
    case 0:
      row->at[MS_COLUMN_T(k)] += factor;
      break;
    case 1:
      row->at[MS_COLUMN_T(k)] += factor;
      row->at[MS_COLUMN_D(k)] += factor;
      break;
    case 2:
      row->at[MS_COLUMN_A(k)] += factor;
      system->used[MS_COLUMN_A(k)] = true;
      return;
    default:
      row->at[MS_COLUMN_B(k)] += factor;
      system->used[MS_COLUMN_B(k)] = true;
      return;
  }
  system->used[MS_COLUMN_T(k)] = system->used[MS_COLUMN_D(k)] = true;
}

/* A row that compares at most two unknowns; with `odd` sometimes one of another form. */
static ms_constraint random_row(ms_system *system, bool odd) {
  static const int64_t factors[] = {1, 1, 1, 2, 3};
  ms_constraint row = {.constant = (int64_t)draw(13) - 6};
  int64_t factor = factors[draw(5)];
  uint32_t one = draw(12), other = draw(12);
  if (draw(10) > 0) add_unknown(system, &row, one, factor);
  if (draw(3) > 0 && other != one) add_unknown(system, &row, other, -factor);
  if (odd && draw(2) == 0) add_unknown(system, &row, draw(12), 1);
  return row;
}

/* Every unknown lies in a small box, so that isl needs no long search. */
static void random_system(ms_system *system, bool odd) {
  memset(system, 0, sizeof *system);
  uint32_t equal = draw(3), rows = 1 + draw(6);
  for (uint32_t r = 0; r < equal; r++) {
    ms_constraint row = random_row(system, odd);
    system->equal[system->equal_count++] = row;
  }
  for (uint32_t r = 0; r < rows; r++) {
    ms_constraint row = random_row(system, odd);
    ms_system_bound(system, &row);
  }
  for (uint32_t which = 0; which < 12; which++) {
    ms_constraint low = {0}, high = {.constant = 1 + draw(9)};
    ms_system before = *system;
    add_unknown(system, &low, which, 1);
    add_unknown(system, &high, which, -1);
    if (memcmp(before.used, system->used, sizeof before.used) != 0) {
      *system = before; /* nothing has used it */
      continue;
    }
    if (draw(4) > 0) ms_system_bound(system, &low);
    if (draw(4) > 0) ms_system_bound(system, &high);
  }
  uint32_t k = draw(3); /* as the relation asks: a sign of a distance */
  if (system->used[MS_COLUMN_D(k)] && draw(2) == 0) {
    ms_constraint sign = {.constant = -1};
    sign.at[MS_COLUMN_D(k)] = draw(2) == 0 ? 1 : -1;
    ms_system_bound(system, &sign);
  }
}

static void check_random(void) {
  static ms_system system;
  uint32_t answered = 0, empty = 0, left = 0, asked = 0;
  for (int round = 0; round < ROUNDS; round++) {
    random_system(&system, round % 4 == 3);
    int64_t mine[MS_MAX_COLUMNS], theirs[MS_MAX_COLUMNS];
    int answer = ms_difference_sample(&system, mine);
    if (answer < 0) {
      left++;
      continue;
    }
    ms_solver *solver = ms_solver_new(0);
    int right = ms_solver_ask(solver, &system, theirs);
    ms_solver_destroy(&solver);
    asked++;
    if (answer != right) fprintf(stderr, "round %d: %d, isl says %d\n", round, answer, right);
    if (answer == 1 && !satisfies(&system, mine)) fprintf(stderr, "round %d: no point\n", round);
    answered += answer == right && (answer == 0 || satisfies(&system, mine));
    empty += answer == 0;
  }
  CHECK(answered == asked);
  CHECK(empty > ROUNDS / 20 && asked - empty > ROUNDS / 20 && left > ROUNDS / 20);
}

/* Systems by hand: a cycle that no number closes, divisors, other forms, and far constants. */
static void check_cases(void) {
  static ms_system system;
  int64_t values[MS_MAX_COLUMNS];
  memset(&system, 0, sizeof system);
  system.used[MS_COLUMN_T(0)] = system.used[MS_COLUMN_D(0)] = true;
  CHECK(ms_difference_sample(&system, values) == 1);
  ms_constraint row = {.constant = -1}; /* d >= 1 */
  row.at[MS_COLUMN_D(0)] = 1;
  ms_system_bound(&system, &row);
  CHECK(ms_difference_sample(&system, values) == 1 && values[MS_COLUMN_D(0)] >= 1);
  row.at[MS_COLUMN_D(0)] = -1; /* and d <= -1 */
  ms_system_bound(&system, &row);
  CHECK(ms_difference_sample(&system, values) == 0);
  system.inequality_count = 1;
  ms_constraint twice = {.constant = 3}; /* 2 (t + d) = -3 */
  twice.at[MS_COLUMN_T(0)] = twice.at[MS_COLUMN_D(0)] = 2;
  system.equal[0] = twice;
  system.equal_count = 1;
  CHECK(ms_difference_sample(&system, values) == 0);
  system.equal[0].constant = 4;
  CHECK(ms_difference_sample(&system, values) == 1);
  CHECK(values[MS_COLUMN_T(0)] + values[MS_COLUMN_D(0)] == -2);
  system.equal[0].at[MS_COLUMN_D(0)] = 1; /* t + (t + d): a sum */
  CHECK(ms_difference_sample(&system, values) == -1);
  system.equal_count = 0;
  system.inequality[0].constant = (int64_t)1 << 60;
  CHECK(ms_difference_sample(&system, values) == -1);
}

int main(void) {
  ms_test_limit(100);
  const char *given = getenv("MEISSA_TEST_SEED");
  state = given != NULL ? (uint32_t)atol(given) : (uint32_t)time(NULL);
  fprintf(stderr, "seed %u\n", state);
  check_random();
  check_cases();
  return ms_test_end();
}
