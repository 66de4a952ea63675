/* SPDX-License-Identifier: MIT
 *
 * Filters against their definition, ledgers, quotas; sketches against exact sums; merges against
 * formulas. */
#include "sync/filter.h"

#include <math.h>
#include <string.h>

#include "base/test.h"
#include "sync/replica.h"
#include "sync/sketch.h"

#define COUNT 50

static uint32_t state = 12345;

static double draw(void) {
  state = state * 1664525u + 1013904223u;
  return (double)(int32_t)state / 2147483648.0;
}

static ms_filter_rule plain(void) {
  return (ms_filter_rule){.bound = INFINITY, .priority = MS_PRIORITY_MAGNITUDE};
}

static ms_filter *make(const ms_filter_rule *rule, const double *value, bool ledger) {
  ms_error err = {0};
  ms_filter *made = ms_filter_new(rule, COUNT, value, ledger, &err);
  CHECK(made != NULL);
  if (made == NULL) abort();
  return made;
}

/* Without a threshold the receiver has all; deltas arrive as they were produced. */
static void test_plain(void) {
  double value[COUNT] = {0}, delta[COUNT];
  ms_filter_rule rule = plain();
  ms_filter *whole = make(&rule, value, false);
  rule.delta = 1;
  ms_filter *changes = make(&rule, value, true);
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < COUNT; i++) value[i] += delta[i] = draw();
    CHECK(ms_filter_send(whole, value, NULL, INFINITY) == COUNT);
    CHECK(memcmp(ms_filter_received(whole), value, sizeof value) == 0);
    ms_filter_send(changes, value, delta, INFINITY);
    CHECK(memcmp(ms_filter_received(changes), delta, sizeof delta) == 0);
  }
  CHECK(ms_filter_bytes(COUNT, COUNT) == 16 + 8 * COUNT && ms_filter_bytes(1, COUNT) == 28);
  ms_filter_free(whole);
  ms_filter_free(changes);
}

/* Kept, and with room for all, |value - last sent| is below the threshold after each message. */
static void test_threshold(void) {
  for (int kind = MS_FILTER_RELATIVE; kind <= MS_FILTER_MAGNITUDE; kind++) {
    double value[COUNT];
    for (int i = 0; i < COUNT; i++) value[i] = i % 5 == 0 ? 0 : 3 * draw();
    ms_filter_rule rule = plain();
    rule.kind = (uint32_t)kind;
    rule.eps = 0.3;
    rule.floor = 0.5;
    ms_filter *filter = make(&rule, value, false);
    int64_t sent = 0;
    for (int round = 0; round < 40; round++) {
      for (int i = 0; i < COUNT; i++) value[i] += 0.1 * draw();
      sent += ms_filter_send(filter, value, NULL, INFINITY);
      for (int i = 0; i < COUNT; i++) {
        double last = ms_filter_received(filter)[i];
        double scale = kind == MS_FILTER_MAGNITUDE ? 1 : fmax(fabs(last), 0.5);
        CHECK(fabs(value[i] - last) < 0.3 * scale);
      }
    }
    CHECK(sent > 0 && sent < 20 * COUNT);
    ms_filter_free(filter);
  }
}

/* Where the baseline and the floor are 0, the absolute change counts. */
static void test_zero_baseline(void) {
  double value[COUNT] = {0};
  ms_filter_rule rule = plain();
  rule.kind = MS_FILTER_RELATIVE;
  rule.eps = 0.25;
  ms_filter *filter = make(&rule, value, false);
  value[3] = 0.125;
  value[4] = 0.25;
  CHECK(ms_filter_send(filter, value, NULL, INFINITY) == 1 &&
        ms_filter_received(filter)[4] == 0.25);
  ms_filter_free(filter);
}

static void test_ledger(void) {
  for (uint32_t residual = MS_RESIDUAL_KEEP; residual <= MS_RESIDUAL_INVALIDATE; residual++) {
    double value[COUNT] = {0}, delta[COUNT], before[COUNT], got[COUNT] = {0};
    ms_filter_rule rule = plain();
    rule.kind = MS_FILTER_MAGNITUDE;
    rule.eps = 0.7;
    rule.delta = 1;
    rule.residual = residual;
    ms_filter *filter = make(&rule, value, true);
    for (int round = 0; round < 100; round++) {
      for (int i = 0; i < COUNT; i++) value[i] += delta[i] = draw();
      ms_filter_send(filter, value, delta, INFINITY);
      for (int i = 0; i < COUNT; i++) got[i] += ms_filter_received(filter)[i];
      memcpy(before, value, sizeof value);
      for (int i = 0; i < COUNT; i += 7) value[i] += draw();
      ms_filter_settle(filter, before, value, NULL);
    }
    ms_ledger all;
    CHECK(ms_filter_ledger(filter, -1, &all) <= 1e-28);
    CHECK((all.dropped != 0) == (residual == MS_RESIDUAL_DROP));
    CHECK((all.invalidated != 0) == (residual == MS_RESIDUAL_INVALIDATE));
    for (int i = 0; i < COUNT; i++) {
      ms_ledger one;
      CHECK(ms_filter_ledger(filter, i, &one) <= 1e-28 && fabs(one.sent - got[i]) < 1e-12);
    }
    ms_filter_free(filter);
  }
}

/* Where there is not room for all, what comes first is sent; with the changes kept everything
 * arrives in the end. */
static void test_quota(void) {
  for (uint32_t priority = MS_PRIORITY_RANDOM; priority <= MS_PRIORITY_RELATIVE; priority++) {
    double value[COUNT] = {0};
    ms_filter_rule rule = plain();
    rule.priority = priority;
    rule.seed = 5;
    ms_filter *filter = make(&rule, value, false);
    for (int i = 0; i < COUNT; i++) value[i] = draw();
    double changed[COUNT];
    CHECK(ms_filter_send(filter, value, NULL, 16 + 12 * 6) == 6);
    memcpy(changed, ms_filter_received(filter), sizeof changed);
    for (int i = 0; priority == MS_PRIORITY_MAGNITUDE && i < COUNT; i++) {
      for (int j = 0; j < COUNT; j++) {
        CHECK(changed[i] == 0 || changed[j] != 0 || fabs(value[i]) >= fabs(value[j]));
      }
    }
    for (int round = 0; round < 8; round++) ms_filter_send(filter, value, NULL, 16 + 12 * 6);
    CHECK(memcmp(ms_filter_received(filter), value, sizeof value) == 0);
    ms_filter_free(filter);
  }
}

/* What there is room for of many elements, some equal, is what a sort puts first; another
 * receiver's filter that is told the same has the same. */
static void test_choice(void) {
  enum { MANY = 3000 };
  static double value[MANY], change[MANY], sorted[MANY];
  for (uint32_t delta = 0; delta < 2; delta++) {
    for (int64_t most = 1; most < MANY; most = 3 * most + 1) {
      ms_filter_rule rule = plain();
      rule.delta = delta;
      const double room = 16 + 12 * (double)most;
      ms_error err = {0};
      memset(value, 0, sizeof value);
      ms_filter *filter = ms_filter_new(&rule, MANY, value, false, &err);
      ms_filter *alike = ms_filter_new(&rule, MANY, value, false, &err);
      CHECK(filter != NULL && alike != NULL);
      for (int i = 0; i < MANY; i++) value[i] = change[i] = floor(100 * draw()) + 0.5;
      bool all = 12 * most >= 8 * (int64_t)MANY;
      CHECK(ms_filter_send(filter, value, delta ? change : NULL, room) == (all ? MANY : most));
      CHECK(ms_filter_send_as(alike, filter, value, delta ? change : NULL) == (all ? MANY : most));
      const double *received = ms_filter_received(filter);
      CHECK(memcmp(ms_filter_received(alike), received, sizeof value) == 0);
      int64_t sent = 0, larger = 0, left = MANY;
      double least = INFINITY;
      for (int i = 0; i < MANY; i++) {
        sent += received[i] != 0;
        if (received[i] != 0 && fabs(value[i]) < least) least = fabs(value[i]);
      }
      for (int i = 0; i < MANY; i++) {
        sorted[i] = fabs(value[i]);
        larger += sorted[i] > least && received[i] == 0;
        if (sorted[i] == least && received[i] == 0 && left == MANY) left = i;
        CHECK(received[i] == 0 || sorted[i] > least || i < left); /* of equal ones the lower */
      }
      CHECK(sent == (all ? MANY : most) && larger == 0);
      ms_filter_free(filter);
      ms_filter_free(alike);
    }
  }
}

static void test_bound(void) {
  double value[COUNT] = {0};
  ms_filter_rule rule = plain();
  rule.bound = 0.5;
  ms_filter *filter = make(&rule, value, false);
  for (int i = 0; i < 10; i++) value[i] = 1;
  for (int i = 10; i < 20; i++) value[i] = 0.25;
  CHECK(ms_filter_send(filter, value, NULL, 28) == 10);
  for (int i = 10; i < 20; i++) value[i] = 0; /* is not sent */
  CHECK(memcmp(ms_filter_received(filter), value, sizeof value) == 0);
  ms_filter_free(filter);
}

/* Dropped changes of state payloads stay local: the next ones count from where they left. */
static void test_drop_state(void) {
  double value[COUNT] = {0};
  ms_filter_rule rule = plain();
  rule.kind = MS_FILTER_MAGNITUDE;
  rule.eps = 1;
  rule.residual = MS_RESIDUAL_DROP;
  ms_filter *filter = make(&rule, value, false);
  for (int round = 0; round < 9; round++) {
    value[0] += 0.5;
    CHECK(ms_filter_send(filter, value, NULL, INFINITY) == 0);
  }
  value[0] += 1;
  CHECK(ms_filter_send(filter, value, NULL, INFINITY) == 1 &&
        ms_filter_received(filter)[0] == value[0]);
  ms_filter_free(filter);
}

static void test_refusals(void) {
  double value[COUNT] = {0};
  ms_error err = {0};
  ms_filter_rule rule = plain();
  rule.eps = -1;
  CHECK(ms_filter_new(&rule, COUNT, value, false, &err) == NULL && err.code == MS_OPT);
  rule = plain();
  rule.bound = -1;
  ms_error_clear(&err);
  CHECK(ms_filter_new(&rule, COUNT, value, false, &err) == NULL && err.code == MS_OPT);
}

static double row_sum(const ms_sketch *sketch, uint32_t row) {
  double sum = 0;
  for (uint32_t c = 0; c < sketch->width; c++) sum += sketch->cells[row * sketch->width + c];
  return sum;
}

/* What a row's sum is to be for these changes: each with its element's sign, which a sketch of that
 * element alone shows. */
static double signed_sum(const ms_sketch *of, uint32_t row, const double *change) {
  ms_error err = {0};
  ms_sketch *alone = ms_sketch_new(of->width, of->depth, of->seed, &err);
  double sum = 0;
  for (int i = 0; i < COUNT && alone != NULL; i++) {
    double one[COUNT] = {0};
    one[i] = 1;
    ms_sketch_clear(alone);
    ms_sketch_add(alone, one, COUNT);
    sum += row_sum(alone, row) * change[i];
  }
  CHECK(alone != NULL);
  ms_sketch_free(alone);
  return sum;
}

static void test_sketch(void) {
  ms_error err = {0};
  ms_sketch *sketch = ms_sketch_new(4096, 7, 3, &err);
  double change[COUNT], estimate[COUNT];
  CHECK(sketch != NULL && ms_sketch_bytes(sketch) == 8.0 * 4096 * 7);
  if (sketch == NULL) abort();
  for (int i = 0; i < COUNT; i++) change[i] = draw();
  ms_sketch_add(sketch, change, COUNT);
  ms_sketch_estimate(sketch, estimate, COUNT);
  for (int i = 0; i < COUNT; i++) CHECK(estimate[i] == change[i]); /* few, and much room */
  for (uint32_t row = 0; row < 7; row++) {
    CHECK(fabs(row_sum(sketch, row) - signed_sum(sketch, row, change)) < 1e-12);
  }
  ms_sketch_clear(sketch);
  CHECK(row_sum(sketch, 0) == 0);
  ms_sketch_free(sketch);
  CHECK(ms_sketch_new(0, 1, 0, &err) == NULL && err.code == MS_OPT);
}

static void test_merges(void) {
  const double a[] = {1, 2}, b[] = {4, -1}, *both[] = {a, b};
  double value[] = {1, 5};
  ms_replica_mean(value, (const double *[]){a, value, b}, 3, 2);
  CHECK(value[0] == 2 && value[1] == 2);
  ms_replica_mix(value, (const double *[]){value, a, b}, (const double[]){0.5, 0.25, 0.25}, 3, 2);
  CHECK(value[0] == 2.25 && value[1] == 1.25);
  ms_replica_add(value, (const double[]){10, 20}, 0.5, both, 2, 2);
  CHECK(value[0] == 12.5 && value[1] == 20.5);
  CHECK(ms_replica_change(value, a, b, 2) == sqrt(18) && value[0] == -3 && value[1] == 3);
  double w[] = {8, 8};
  ms_replica_weighted(w, MS_WEIGHTED_PRINTED, 0.5, both, (const double[]){0, 2}, 2, 2);
  CHECK(w[0] == 4 && w[1] == 1.5); /* halved, then (2 / 2 * b + 4) / 2 */
  double n[] = {8, 8};
  ms_replica_weighted(n, MS_WEIGHTED_NORMALISED, 1, both, (const double[]){-1, 1}, 2, 2);
  CHECK(n[0] == 6 && n[1] == 3.5);
  double s[] = {8, 8};
  ms_replica_weighted(s, MS_WEIGHTED_SHIFTED, 1, both, (const double[]){-1, 0}, 2, 2);
  CHECK(s[0] == 6 && s[1] == 3.5);
}

/* A filter that is saved and restored elsewhere after each message says what one that stays says.
 */
static void test_state(void) {
  for (uint32_t delta = 0; delta < 2; delta++) {
    double value[COUNT] = {0}, change[COUNT], saved[3 * COUNT + 2];
    ms_filter_rule rule = plain();
    rule.priority = MS_PRIORITY_ROUND_ROBIN;
    rule.delta = delta;
    ms_filter *stays = make(&rule, value, false);
    ms_filter_save(stays, saved);
    CHECK(ms_filter_state_size(stays) == (delta ? 3 : 2) * COUNT + 2);
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < COUNT; i++) value[i] += change[i] = draw();
      ms_filter *moves = make(&rule, value, false);
      ms_filter_restore(moves, saved);
      int64_t sent = ms_filter_send(stays, value, delta ? change : NULL, 100);
      CHECK(ms_filter_send(moves, value, delta ? change : NULL, 100) == sent && sent == 7);
      CHECK(memcmp(ms_filter_received(moves), ms_filter_received(stays), sizeof value) == 0);
      ms_filter_save(moves, saved);
      ms_filter_free(moves);
    }
    ms_filter_free(stays);
  }
}

int main(void) {
  ms_test_limit(60);
  test_plain();
  test_threshold();
  test_zero_baseline();
  test_ledger();
  test_quota();
  test_choice();
  test_bound();
  test_drop_state();
  test_state();
  test_refusals();
  test_sketch();
  test_merges();
  return ms_test_end();
}
