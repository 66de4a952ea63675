/* SPDX-License-Identifier: MIT
 *
 * Gates: lists written by hand, whom a finished block concerns, sets that are none. */
#include "sync/gate_scene.h"

#define NO MS_GATE_UNSAID

static ms_gate_setting setting_of(const char *name, int64_t staleness, int64_t depth) {
  ms_gate_setting got = {0};
  ms_error err = {0};
  CHECK(ms_gate_setting_find(name, staleness, depth, &got, &err) == 0);
  return got;
}

/* A line of four ranges, two each on two workers: each block reads its neighbours and itself. */
static const cast LINE = {.workers = 2,
                          .blocks = 4,
                          .ranges = 4,
                          .owner = {0, 0, 1, 1},
                          .reads = {{1, 1, 0, 0}, {1, 1, 1, 0}, {0, 1, 1, 1}, {0, 0, 1, 1}},
                          .writes = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};

/* Whether a block waits for nothing, or for so many blocks of one worker. */
static bool waits_for(const scene *s, ms_gate_step step, uint32_t block, int64_t round,
                      uint32_t worker, uint64_t count) {
  size_t terms_count, found = 0;
  const ms_gate_term *terms = ms_gate_terms(s->gate, step, block, &terms_count);
  bool right = true;
  for (size_t i = 0; i < terms_count; i++) {
    int64_t needed = ms_gate_count(&terms[i], round);
    if (needed <= 0) continue;
    found++;
    right = right && terms[i].worker == worker && (uint64_t)needed == count;
  }
  return count == 0 ? found == 0 : found == 1 && right;
}

static void test_lists(void) {
  ms_gate_setting exact = setting_of(NULL, NO, NO), in_place = setting_of(NULL, 0, 1);
  ms_gate_setting bsp = setting_of("bsp", NO, NO), stale = setting_of(NULL, 1, NO);
  scene two = make_scene(&LINE, &exact, 3), one = make_scene(&LINE, &in_place, 3);
  CHECK(waits_for(&two, MS_GATE_READ, 0, 3, 0, 0)); /* its neighbour is of its own worker */
  CHECK(waits_for(&two, MS_GATE_READ, 1, 1, 0, 0)); /* version 0 is there */
  CHECK(waits_for(&two, MS_GATE_READ, 1, 3, 1, 3)); /* block 2 of round 2 is its third */
  CHECK(waits_for(&two, MS_GATE_READ, 2, 3, 0, 4)); /* block 1 of round 2 is its fourth */
  CHECK(waits_for(&two, MS_GATE_WRITE, 1, 3, 0, 0));
  CHECK(waits_for(&one, MS_GATE_READ, 1, 3, 1, 3));
  CHECK(waits_for(&one, MS_GATE_WRITE, 1, 3, 1, 5)); /* has read for block 2 of round 3 */
  CHECK(waits_for(&one, MS_GATE_WRITE, 1, 1, 1, 1));
  CHECK(ms_gate_before(two.gate, 3, 1) == 1 && ms_gate_before(two.gate, 2, 4) == 6);
  CHECK(ms_gate_round(two.gate, 2, 0) == 0 && ms_gate_round(two.gate, 2, 1) == 1);
  CHECK(ms_gate_round(two.gate, 3, 1) == 0 && ms_gate_round(two.gate, 3, 4) == 2);
  scene global = make_scene(&LINE, &bsp, 3), late = make_scene(&LINE, &stale, 3);
  CHECK(waits_for(&global, MS_GATE_READ, 0, 3, 1, 4));
  CHECK(waits_for(&global, MS_GATE_WRITE, 0, 3, 1, 6));
  CHECK(waits_for(&late, MS_GATE_READ, 1, 2, 1, 0)); /* may lag a round */
  CHECK(waits_for(&late, MS_GATE_READ, 1, 4, 1, 3));
  ms_gate_window own = ms_gate_versions(late.gate, 1, 1, 5);
  ms_gate_window other = ms_gate_versions(late.gate, 1, 2, 5);
  ms_gate_window first = ms_gate_versions(late.gate, 1, 2, 1);
  CHECK(own.lo == 4 && own.hi == 4 && other.lo == 3 && other.hi == 4);
  CHECK(first.lo == 0 && first.hi == 0);
  scene *all[] = {&two, &one, &global, &late};
  for (size_t i = 0; i < 4; i++) ms_gate_destroy(&all[i]->gate);
}

/* Whom a finished block concerns: whoever waits for a count that this block completes. */
static void check_listeners(const scene *s, ms_gate_step step) {
  uint8_t expected[MOST_BLOCKS][MOST_WORKERS] = {{0}};
  for (uint32_t b = 0; b < s->who->blocks; b++) {
    size_t count;
    const ms_gate_term *terms = ms_gate_terms(s->gate, step, b, &count);
    for (size_t i = 0; i < count; i++) {
      uint32_t q = terms[i].worker;
      int64_t needed = ms_gate_count(&terms[i], 20);
      if (needed > 0) expected[s->mine[q][(needed - 1) % s->share[q]]][s->who->owner[b]] = 1;
    }
  }
  for (uint32_t b = 0; b < s->who->blocks; b++) {
    size_t count;
    const uint32_t *listeners = ms_gate_listeners(s->gate, step, b, &count);
    for (size_t i = 0; i < count; i++) {
      CHECK(expected[b][listeners[i]] == 1);
      expected[b][listeners[i]] = 0;
    }
    for (uint32_t w = 0; w < s->who->workers; w++) CHECK(expected[b][w] == 0);
  }
}

static void test_listeners(void) {
  static const char *const NAMES[] = {"data-centric", "pd-delay", "bsp", "ssp", "notify-ack"};
  cast turned = LINE;
  turned.ordered = true;
  for (uint32_t b = 0; b < 4; b++) turned.order[b] = 3 - b;
  for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; n++) {
    ms_gate_setting setting = setting_of(NAMES[n], NO, NO);
    const cast *casts[] = {&LINE, &turned};
    for (size_t c = 0; c < 2; c++) {
      scene made = make_scene(casts[c], &setting, 3);
      check_listeners(&made, MS_GATE_READ);
      check_listeners(&made, MS_GATE_WRITE);
      ms_gate_destroy(&made.gate);
    }
  }
}

/* ---- bad sets ---- */

static void check_refused(const ms_gate_sets *sets) {
  ms_gate_setting setting = setting_of(NULL, NO, NO);
  ms_error err = {0};
  ms_gate *gate = ms_gate_new(&setting, sets, &err);
  CHECK(gate == NULL && err.code == MS_BUG);
  ms_gate_destroy(&gate);
}

static void test_bad_sets(void) {
  uint32_t owner[] = {0, 1}, foreign[] = {0, 2}, twice[] = {1, 1}, outside[] = {0, 2};
  uint64_t first[] = {0, 1, 2}, backwards[] = {0, 2, 1}, late[] = {1, 1, 2};
  bool watches[] = {false, true};
  ms_gate_sets good = {.workers = 2, .blocks = 2, .ranges = 2, .owner = owner}, bad;
  ms_gate_setting setting = setting_of(NULL, NO, NO);
  ms_error err = {0};
  ms_gate *gate = ms_gate_new(&setting, &good, &err);
  CHECK(gate != NULL && err.code == MS_OK);
  ms_gate_destroy(&gate);
#define REFUSED(...)                                                                         \
  bad = (ms_gate_sets){.workers = 2, .blocks = 2, .ranges = 2, .owner = owner, __VA_ARGS__}; \
  check_refused(&bad)
  REFUSED(.read_first = backwards, .reads = owner);
  REFUSED(.read_first = late, .reads = owner);
  REFUSED(.read_first = first, .reads = outside);
  REFUSED(.reads = owner);
  REFUSED(.write_first = first, .writes = outside);
  REFUSED(.write_first = first, .writes = owner, .observer = watches);
  REFUSED(.order = twice);
  REFUSED(.order = outside);
#undef REFUSED
  bad = (ms_gate_sets){.workers = 2, .blocks = 2, .ranges = 1, .owner = owner};
  check_refused(&bad);
  bad = (ms_gate_sets){.workers = 2, .blocks = 2, .ranges = 2, .owner = foreign};
  check_refused(&bad);
  bad = (ms_gate_sets){.workers = 0, .blocks = 2, .ranges = 2, .owner = owner};
  check_refused(&bad);
  bad = (ms_gate_sets){.workers = 2, .blocks = 0, .ranges = 2, .owner = owner};
  check_refused(&bad);
}

int main(void) {
  test_lists();
  test_listeners();
  test_bad_sets();
  return ms_test_end();
}
