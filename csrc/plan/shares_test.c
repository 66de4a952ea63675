/* SPDX-License-Identifier: MIT
 *
 * Shares against their definition: every iteration once, in its replica's range, pass by pass, in
 * as many near-equal parts as there are rounds. */
#include "plan/shares.h"

#include <math.h>
#include <string.h>

#include "base/test.h"
#include "depend/verdict.h"
#include "plan/plan.h"

#define MOST 4096

static ms_shares *share(const ms_shares_terms *terms, uint32_t dim) {
  ms_verdict verdict = {.strategy = MS_PARTITION, .strategy_dims = 1, .strategy_dim = {dim}};
  ms_shares_terms own = *terms;
  ms_error err = {0};
  own.verdict = &verdict;
  ms_shares *made = ms_shares_new(&own, &err);
  if (made == NULL) fprintf(stderr, "%s\n", err.message);
  return made;
}

static ms_shares_terms ranges(int64_t a, int64_t b, uint32_t replicas, double every) {
  return (ms_shares_terms){.dim_count = 2,
                           .replicas = replicas,
                           .range = {{1, a, 1}, {3, 3 + 2 * (b - 1), 2}},
                           .every = every};
}

/* Lists what replica k does, round by round; how many iterations. */
static int64_t list(const ms_shares *shares, uint32_t k, int32_t (*at)[2], int64_t *parts) {
  int64_t count = 0;
  for (uint32_t t = 0; t < shares->rounds; t++) {
    ms_partition *round = ms_shares_round(shares, t, NULL);
    CHECK(round != NULL && round->blocks == shares->replicas);
    if (round == NULL) abort();
    parts[t] = round->start[k + 1] - round->start[k];
    for (int64_t e = round->start[k]; e < round->start[k + 1]; e++, count++) {
      for (int d = 0; d < 2; d++) at[count][d] = ms_partition_coords(round, d)[e];
    }
    ms_partition_release(&round);
  }
  return count;
}

static void check_ranges(int64_t a, int64_t b, uint32_t replicas, double every) {
  static int32_t at[MOST][2];
  static int64_t parts[MOST];
  ms_shares_terms terms = ranges(a, b, replicas, every);
  ms_shares *shares = share(&terms, 1);
  CHECK(shares != NULL);
  if (shares == NULL) return;
  int64_t first = 0, largest = a * ((b + replicas - 1) / replicas);
  double wanted = every < 1 ? every * (double)largest / (double)a : every;
  CHECK(shares->largest == largest && shares->passes == a);
  CHECK(shares->rounds == (isinf(every) ? 1 : ceil((double)largest / wanted * (1 - 1e-12))));
  for (uint32_t k = 0; k < replicas; k++) {
    int64_t length = b / replicas + (k < b % replicas);
    int64_t count = list(shares, k, at, parts);
    CHECK(count == a * length);
    for (int64_t s = 0; s < count; s++) {
      CHECK(at[s][0] == 1 + s / length && at[s][1] == 3 + 2 * (first + s % length));
    }
    for (uint32_t t = 0; t < shares->rounds; t++) {
      CHECK(parts[t] == count * (t + 1) / shares->rounds - count * t / shares->rounds);
      CHECK(parts[t] <= ceil(wanted));
    }
    first += length;
  }
  ms_shares_free(shares);
}

/* Shuffled, a pass has the same iterations, in another order than the next one. */
static void test_shuffle(void) {
  static int32_t at[MOST][2], again[MOST][2];
  static int64_t parts[MOST];
  ms_shares_terms terms = ranges(3, 40, 2, 7);
  terms.shuffled = 1;
  terms.seed = 9;
  ms_shares *shares = share(&terms, 1), *same = share(&terms, 1);
  CHECK(shares != NULL && same != NULL);
  if (shares == NULL || same == NULL) return;
  CHECK(list(shares, 1, at, parts) == 60);
  bool differ = false;
  for (int pass = 0; pass < 3; pass++) {
    int seen[100] = {0};
    for (int s = 0; s < 20; s++) {
      CHECK(at[20 * pass + s][0] == pass + 1);
      seen[at[20 * pass + s][1]]++;
      differ = differ || at[20 * pass + s][1] != at[s][1];
    }
    for (int i = 20; i < 40; i++) CHECK(seen[3 + 2 * i] == 1);
  }
  CHECK(differ);
  list(same, 1, again, parts);
  CHECK(memcmp(at, again, sizeof at) == 0);
  ms_shares_free(shares);
  ms_shares_free(same);
}

/* What is left after some iterations is what would have come. */
static void test_rest(void) {
  static int32_t all[MOST][2], rest[MOST][2];
  static int64_t parts[MOST];
  ms_shares_terms terms = ranges(3, 20, 3, 5);
  terms.shuffled = 1;
  ms_shares *whole = share(&terms, 1);
  const int64_t done[] = {4, 7, 11};
  terms.done = done;
  ms_shares *left = share(&terms, 1);
  CHECK(whole != NULL && left != NULL);
  if (whole == NULL || left == NULL) return;
  for (uint32_t k = 0; k < 3; k++) {
    int64_t count = list(whole, k, all, parts);
    CHECK(list(left, k, rest, parts) == count - done[k]);
    CHECK(memcmp(all + done[k], rest, (size_t)(count - done[k]) * sizeof *all) == 0);
  }
  ms_shares_free(whole);
  ms_shares_free(left);
}

static void test_entries(void) {
  static int32_t at[MOST][2];
  static int64_t parts[MOST];
  ms_error err = {0};
  const int64_t dims[] = {9, 4};
  ms_array *array = ms_array_sparse(MS_FLOAT, 2, dims, 30, &err);
  CHECK(array != NULL);
  if (array == NULL) return;
  for (int e = 0; e < 30; e++) {
    array->coords[0][e] = e * 5 % 9;
    array->coords[1][e] = e % 4;
    ((float *)array->data)[e] = (float)e;
  }
  ms_shares_terms terms = {
      .array = array, .dim_count = 2, .replicas = 4, .every = 3, .range = {{1, 9, 1}, {1, 4, 1}}};
  ms_shares *shares = share(&terms, 0);
  CHECK(shares != NULL);
  int64_t total = 0;
  for (uint32_t k = 0; shares != NULL && k < 4; k++) {
    int64_t count = list(shares, k, at, parts);
    total += count;
    for (int64_t s = 0; s < count; s++) {
      CHECK(at[s][0] >= shares->bounds[k] && at[s][0] < shares->bounds[k + 1]);
    }
  }
  CHECK(total == 30);
  ms_partition *round = shares != NULL ? ms_shares_round(shares, 0, &err) : NULL;
  for (int64_t e = 0; round != NULL && e < round->count; e++) {
    int number = (int)((float *)ms_partition_values(round))[e];
    CHECK(ms_partition_coords(round, 0)[e] == number * 5 % 9 + 1);
    CHECK(ms_partition_coords(round, 1)[e] == number % 4 + 1);
  }
  ms_partition_release(&round);
  ms_shares_free(shares);
  ms_array_release(array);
}

/* Several rounds at once are those one by one, cut by round and by replica; a plan of them sweeps
 * the rounds. */
static void test_rounds(void) {
  ms_shares_terms terms = ranges(3, 20, 3, 4);
  ms_verdict verdict = {.id = 1,
                        .strategy = MS_PARTITION,
                        .strategy_dims = 1,
                        .strategy_dim = {1},
                        .dim_count = 2,
                        .extent = {{.range = {1, 3, 1}}, {.range = {3, 41, 2}}}};
  ms_error err = {0};
  terms.verdict = &verdict;
  ms_shares *shares = ms_shares_new(&terms, &err);
  CHECK(shares != NULL && shares->rounds == 6);
  ms_partition *all = shares != NULL ? ms_shares_rounds(shares, 1, 4, &err) : NULL;
  CHECK(all != NULL && all->blocks == 12 && all->cut.count == 2);
  if (all == NULL) return;
  for (uint32_t t = 0; t < 4; t++) {
    ms_partition *one = ms_shares_round(shares, 1 + t, &err);
    CHECK(one != NULL);
    for (uint32_t k = 0; one != NULL && k < 3; k++) {
      int64_t from = one->start[k], to = all->start[3 * t + k], count = one->start[k + 1] - from;
      CHECK(all->start[3 * t + k + 1] - to == count);
      for (int64_t e = 0; e < count; e++) {
        for (int d = 0; d < 2; d++) {
          CHECK(ms_partition_coords(one, d)[from + e] == ms_partition_coords(all, d)[to + e]);
        }
      }
    }
    ms_partition_release(&one);
  }
  ms_plan_terms plan_terms = {
      .verdict = &verdict, .entries = (double)all->count, .partition = all, .rounds = 4};
  ms_plan *plan = ms_plan_new(&plan_terms, &err);
  CHECK(plan != NULL && plan->grid.strategy == MS_ROUNDS && plan->grid.sequential == 1);
  CHECK(plan != NULL && plan->grid.ranges[0] == 4 && plan->grid.ranges[1] == 3);
  CHECK(plan != NULL && plan->bounds.start[1] != NULL &&
        plan->bounds.start[1][1] == shares->bounds[1]);
  if (plan != NULL) ms_plan_release(plan);
  ms_partition_release(&all);
  ms_shares_free(shares);
}

static void test_refusals(void) {
  ms_verdict verdict = {.strategy = MS_PARTITION, .strategy_dims = 1, .strategy_dim = {1}};
  ms_error err = {0};
  ms_shares_terms terms = ranges(2, 3, 4, 1);
  terms.verdict = &verdict;
  CHECK(ms_shares_new(&terms, &err) == NULL && err.code == MS_OPT);
  terms = ranges(2, 30, 4, 1);
  terms.verdict = &verdict;
  terms.range[0].lo = 0;
  ms_error_clear(&err);
  CHECK(ms_shares_new(&terms, &err) == NULL && err.code == MS_OPT);
}

int main(void) {
  ms_test_limit(60);
  for (uint32_t replicas = 1; replicas <= 7; replicas++) {
    for (int64_t b = 7; b <= 30; b += 5) {
      const double every[] = {1, 4, 0.5, 0.3, 100, INFINITY};
      for (size_t e = 0; e < sizeof every / sizeof *every; e++) {
        check_ranges(1 + b % 3, b, replicas, every[e]);
      }
    }
  }
  test_shuffle();
  test_rest();
  test_rounds();
  test_entries();
  test_refusals();
  return ms_test_end();
}
