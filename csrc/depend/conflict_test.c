/* SPDX-License-Identifier: MIT
 *
 * Tests of the isl half without any Lua: accesses written by hand, their patterns and strategies,
 * and what happens when the solver's quota runs out. */
#include "depend/conflict.h"

#include <stdlib.h>
#include <string.h>

#include "base/test.h"
#include "base/text.h"
#include "depend/strategy.h"

typedef struct bench {
  ms_arena *arena;
  ms_solver *solver;
  ms_domain domain;
  ms_accesses accesses;
  ms_conflicts conflicts;
  ms_patterns patterns;
} bench;

static void begin(bench *now, uint32_t dims, int64_t extent, unsigned long operations) {
  *now = (bench){.arena = ms_arena_new(0), .solver = ms_solver_new(operations)};
  now->domain.dim_count = dims;
  for (uint32_t k = 0; k < dims; k++) {
    now->domain.dim[k].step = 1;
    now->domain.dim[k].box = true;
    now->domain.dim[k].extent = extent;
  }
}

static void end(bench *now) {
  ms_solver_destroy(&now->solver);
  ms_arena_destroy(&now->arena);
}

/* A subscript c + a * first + b * second. */
static ms_subscript at(int64_t c, int64_t a, int64_t b) {
  ms_subscript subscript = {.known = true, .form = ms_form_constant(c)};
  subscript.form.at[0] = a;
  subscript.form.at[1] = b;
  return subscript;
}

static void add(bench *now, uint32_t group, bool write, const ms_subscript *subscripts,
                uint32_t count) {
  ms_access access = {.group = group, .write = write, .subscript_count = count};
  memcpy(access.subscript, subscripts, count * sizeof *subscripts);
  CHECK(ms_accesses_add(&now->accesses, now->arena, &access, &ms_guard_always.clause[0], NULL, 0) ==
        0);
}

static void add1(bench *now, uint32_t group, bool write, ms_subscript first) {
  add(now, group, write, &first, 1);
}

static void add2(bench *now, uint32_t group, bool write, ms_subscript first, ms_subscript second) {
  ms_subscript both[2] = {first, second};
  add(now, group, write, both, 2);
}

static bool solve(bench *now) {
  CHECK(ms_conflicts_find(&now->conflicts, now->solver, &now->domain, &now->accesses, 4,
                          MS_ASSUME_NOTHING) == 0);
  CHECK(ms_distances_patterns(now->conflicts.all, now->arena, &now->patterns) == 0);
  return now->conflicts.known;
}

/* The patterns as text: "(+,0) (0,+)". */
static bool patterns_are(const bench *now, const char *expected) {
  ms_text text = {0};
  ms_text_add(&text, "");
  for (uint32_t p = 0; p < now->patterns.count; p++) {
    ms_text_add(&text, p > 0 ? " (" : "(");
    for (uint32_t k = 0; k < now->domain.dim_count; k++) {
      const ms_component *component = &now->patterns.item[p].at[k];
      if (k > 0) ms_text_add(&text, ",");
      if (component->sign == 'n') {
        ms_text_format(&text, "%lld", (long long)component->value);
      } else {
        ms_text_append(&text, &component->sign, 1);
      }
    }
    ms_text_add(&text, ")");
  }
  bool same = strcmp(text.bytes, expected) == 0;
  if (!same) fprintf(stderr, "patterns are %s, not %s\n", text.bytes, expected);
  ms_text_free(&text);
  return same;
}

static ms_choice choose(const bench *now, bool ordered) {
  const ms_strategy_terms terms = {.ordered = ordered};
  return ms_strategy_choose(&now->conflicts, &now->patterns, &terms);
}

static void test_one_dimension(void) {
  bench now;
  begin(&now, 1, 9, 0);
  add1(&now, 0, true, at(3, 1, 0));
  add1(&now, 0, false, at(0, 1, 0));
  CHECK(solve(&now) && patterns_are(&now, "(3)"));
  CHECK(choose(&now, true).strategy == MS_SERIALLY);
  end(&now);

  begin(&now, 1, 9, 0); /* A[2i] = A[2i+1]: never one element */
  add1(&now, 0, true, at(0, 2, 0));
  add1(&now, 0, false, at(1, 2, 0));
  CHECK(solve(&now) && patterns_are(&now, ""));
  CHECK(choose(&now, true).strategy == MS_INDEPENDENT);
  end(&now);

  begin(&now, 1, 9, 0); /* A[i] = A[i+100]: out of reach */
  add1(&now, 0, true, at(0, 1, 0));
  add1(&now, 0, false, at(100, 1, 0));
  CHECK(solve(&now) && patterns_are(&now, ""));
  end(&now);
}

static void test_two_dimensions(void) {
  bench now;
  begin(&now, 2, 6, 0); /* W[i], H[j] updated */
  add1(&now, 0, true, at(0, 1, 0));
  add1(&now, 1, true, at(0, 0, 1));
  CHECK(solve(&now) && patterns_are(&now, "(+,0) (0,+)"));
  ms_choice choice = choose(&now, false);
  CHECK(choice.strategy == MS_ROTATE && choice.dim_count == 2);
  CHECK(choose(&now, true).strategy == MS_WAVEFRONT);
  end(&now);

  begin(&now, 2, 7, 0); /* A[i][j] = A[j][i] */
  add2(&now, 0, true, at(0, 1, 0), at(0, 0, 1));
  add2(&now, 0, false, at(0, 0, 1), at(0, 1, 0));
  CHECK(solve(&now) && patterns_are(&now, "(+,-)"));
  choice = choose(&now, true);
  CHECK(choice.strategy == MS_SKEW && choice.row[0] == 1 && choice.row[1] == 1);
  end(&now);

  begin(&now, 2, 7, 0); /* A[i][j] = A[i-1][j+1] + A[i][j-1]: skewed by two */
  add2(&now, 0, true, at(0, 1, 0), at(0, 0, 1));
  add2(&now, 0, false, at(-1, 1, 0), at(1, 0, 1));
  add2(&now, 0, false, at(0, 1, 0), at(-1, 0, 1));
  CHECK(solve(&now) && patterns_are(&now, "(0,1) (1,-1)"));
  choice = choose(&now, true);
  CHECK(choice.strategy == MS_HYPERPLANE && choice.row[0] == 2 && choice.row[1] == 1);
  end(&now);
}

/* ts[1] = ...: every pair of iterations; the star patterns. */
static void test_stars(void) {
  bench now;
  begin(&now, 3, 4, 0);
  add1(&now, 0, true, at(1, 0, 0));
  CHECK(solve(&now) && patterns_are(&now, "(+,*,*) (0,+,*) (0,0,+)"));
  CHECK(choose(&now, false).strategy == MS_SERIALLY);
  end(&now);

  begin(&now, 3, 2, 0); /* with two values an integer stands for a sign */
  add1(&now, 0, true, at(1, 0, 0));
  CHECK(solve(&now));
  CHECK(now.patterns.count == 13);
  end(&now);
}

static void test_unknown_subscripts(void) {
  bench now;
  const ms_subscript unknown = {.known = false};
  begin(&now, 2, 6, 0); /* hist[f][p[s]] with f the second index */
  add2(&now, 0, true, at(0, 0, 1), unknown);
  CHECK(solve(&now) && patterns_are(&now, "(+,0)"));
  end(&now);
}

static void test_quota(void) {
  bench now;
  begin(&now, 2, 7, 1);
  add2(&now, 0, true, at(0, 1, 1), at(0, 0, 1));
  add2(&now, 0, false, at(0, 0, 1), at(0, 1, 1));
  CHECK(!solve(&now));
  end(&now);
  begin(&now, 2, 7, 1); /* differences need no quota */
  add2(&now, 0, true, at(0, 1, 0), at(0, 0, 1));
  add2(&now, 0, false, at(0, 0, 1), at(0, 1, 0));
  CHECK(solve(&now) && now.patterns.count > 0);
  end(&now);
}

/* Eight dimensions, all free: the largest pattern sets there are. */
static void test_eight_dimensions(void) {
  bench now;
  begin(&now, 8, 5, 0);
  add1(&now, 0, true, at(1, 0, 0));
  CHECK(solve(&now));
  CHECK(now.patterns.count == 8);
  end(&now);
}

/* A long inner loop over an unused variable leaves no trace; one that is empty removes the
 * access. */
static void test_inner(void) {
  bench now;
  begin(&now, 1, 9, 0);
  ms_form variable = {0};
  variable.at[MS_MAX_DIMS] = 1;
  ms_inner scope = {.low = variable, .high = ms_form_constant(4), .total = true, .loop = true};
  scope.high.at[MS_MAX_DIMS] = -1;
  ms_access access = {.write = true, .subscript_count = 1};
  access.subscript[0] = at(0, 1, 0);
  CHECK(ms_accesses_add(&now.accesses, now.arena, &access, &ms_guard_always.clause[0], &scope, 1) ==
        0);
  CHECK(now.accesses.item[0]->inner_count == 0);
  access.subscript[0].form.at[MS_MAX_DIMS] = 1; /* A[i + k], k in 0..4 */
  CHECK(ms_accesses_add(&now.accesses, now.arena, &access, &ms_guard_always.clause[0], &scope, 1) ==
        0);
  CHECK(ms_accesses_add(&now.accesses, now.arena, &access, &ms_guard_always.clause[0], &scope, 1) ==
        0);
  CHECK(now.accesses.count == 2 && now.accesses.item[1]->inner_count == 1);
  CHECK(solve(&now) && patterns_are(&now, "(+)"));
  end(&now);

  begin(&now, 1, 9, 0);
  scope.high.constant = -1;
  scope.total = false;
  CHECK(ms_accesses_add(&now.accesses, now.arena, &access, &ms_guard_always.clause[0], &scope, 1) ==
        0);
  CHECK(solve(&now) && patterns_are(&now, ""));
  end(&now);
}

int main(void) {
  test_one_dimension();
  test_two_dimensions();
  test_stars();
  test_unknown_subscripts();
  test_quota();
  test_eight_dimensions();
  test_inner();
  return ms_test_end();
}
