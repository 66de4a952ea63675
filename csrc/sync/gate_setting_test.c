/* SPDX-License-Identifier: MIT
 *
 * Gate settings: each row of the table, and what is refused with which words. */
#include "sync/gate_setting.h"

#include <string.h>

#include "base/test.h"

#define INF MS_GATE_UNBOUNDED
#define NO  MS_GATE_UNSAID

typedef struct row {
  const char *name;
  int64_t staleness, depth;
  int64_t read_lag, write_lag, ahead, versions;
  ms_gate_scope scope;
  bool two_phase;
} row;

static const row ROWS[] = {
    {NULL, NO, NO, 0, 1, 0, 2, MS_GATE_RANGE, false},
    {NULL, 3, NO, 3, 4, 0, 8, MS_GATE_RANGE, false},
    {NULL, INF, NO, INF, INF, INF, 0, MS_GATE_NOBODY, false},
    {"data-centric", 0, 1, 0, 0, 0, 1, MS_GATE_RANGE, true},
    {"data-centric", 2, 3, 2, 0, 0, 3, MS_GATE_RANGE, true},
    {"data-centric", 2, 4, 2, 1, 0, 4, MS_GATE_RANGE, false},
    {"data-centric", 2, 9, 2, 6, 0, 9, MS_GATE_RANGE, false},
    {"pd-delay", NO, NO, 0, 0, 0, 1, MS_GATE_RANGE, true},
    {"pd-delay", 2, 1, 2, 2, 2, 1, MS_GATE_RANGE, false},
    {"bsp", NO, NO, 0, 0, 0, 1, MS_GATE_GLOBAL, true},
    {"bsp-2barrier", 0, 1, 0, 0, 0, 1, MS_GATE_GLOBAL, true},
    {"ssp", NO, NO, 0, INF, 0, 2, MS_GATE_GLOBAL, false},
    {"ssp", 2, NO, 2, INF, 2, 6, MS_GATE_GLOBAL, false},
    {"ssp", 2, 7, 2, INF, 2, 7, MS_GATE_GLOBAL, false},
    {"async", NO, NO, INF, INF, INF, 0, MS_GATE_NOBODY, false},
    {"async", INF, NO, INF, INF, INF, 0, MS_GATE_NOBODY, false},
    {"notify-ack", NO, NO, 0, 1, 0, 2, MS_GATE_EDGE, false},
    {"notify-ack", 0, 1, 0, 0, 0, 1, MS_GATE_EDGE, true},
    {"notify-ack", 0, 5, 0, 4, 0, 5, MS_GATE_EDGE, false},
    {"barrier", NO, NO, 0, INF, 1, 1, MS_GATE_GLOBAL, false},
};

static void test_rows(void) {
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
    const row *of = &ROWS[i];
    ms_gate_setting got;
    ms_error err = {0};
    CHECK(ms_gate_setting_find(of->name, of->staleness, of->depth, &got, &err) == 0);
    CHECK(err.code == MS_OK);
    CHECK(got.read_lag == of->read_lag && got.write_lag == of->write_lag);
    CHECK(got.read_ahead == of->ahead && got.depth == of->versions);
    CHECK(got.scope == of->scope && got.two_phase == of->two_phase && got.backup == 0);
    CHECK(of->name == NULL || strcmp(got.name, of->name) == 0);
    CHECK(got.clocks == (strcmp(got.name, "ssp") == 0 || strcmp(got.name, "barrier") == 0));
    CHECK(got.arrival == (strcmp(got.name, "bsp-2barrier") == 0));
    CHECK(got.delivered == (strcmp(got.name, "barrier") != 0));
  }
}

typedef struct refusal {
  const char *name;
  int64_t staleness, depth;
  const char *words;
} refusal;

static const refusal REFUSALS[] = {
    {"sequential", NO, NO, "there are \"data-centric\", \"pd-delay\", \"bsp\""},
    {"", NO, NO, "sync = \"\" is not known"},
    {"data-centric", INF, NO, "the same as sync = \"async\", not \"data-centric\""},
    {"ssp", INF, NO, "the same as sync = \"async\", not \"ssp\""},
    {"pd-delay", INF, NO, "leave out one of the two"},
    {"bsp", INF, NO, "the same as sync = \"async\""},
    {"async", 3, NO, "write sync = \"ssp\""},
    {"async", 0, NO, "sync = \"async\" has no bound"},
    {"async", NO, 2, "leave out depth"},
    {"data-centric", -2, NO, "from 0 to 2147483648, or math.huge, not -2"},
    {"data-centric", INF - 1, NO, "a number of rounds"},
    {NULL, 0, 0, "1 or more"},
    {NULL, 0, INF, "1 or more"},
    {NULL, 2, 2, "needs 3 or more"},
    {"ssp", 2, 5, "needs 6 or more"},
    {"ssp", NO, 1, "needs 2 or more"},
    {"pd-delay", 1, 2, "keeps one version"},
    {"bsp", NO, 2, "keeps one version"},
    {"bsp", 1, NO, "is never stale: leave out staleness = 1"},
    {"bsp-2barrier", 1, NO, "never stale"},
    {"notify-ack", 1, NO, "never stale"},
    {"barrier", 2, NO, "never stale"},
    {"barrier", NO, 2, "keeps one version"},
};

static void test_refusals(void) {
  for (size_t i = 0; i < sizeof REFUSALS / sizeof *REFUSALS; i++) {
    const refusal *of = &REFUSALS[i];
    ms_gate_setting got;
    ms_error err = {0};
    CHECK(ms_gate_setting_find(of->name, of->staleness, of->depth, &got, &err) == -1);
    CHECK(err.code == MS_OPT && strstr(err.message, of->words) != NULL);
    if (strstr(err.message, of->words) == NULL) fprintf(stderr, "%s\n", err.message);
  }
}

/* Who is late may be left out, then nobody waits for readers; else nothing changes. */
static void test_excuses(void) {
  ms_gate_setting plain, excused;
  ms_error err = {0};
  CHECK(ms_gate_setting_find(NULL, 2, NO, &plain, &err) == 0);
  ms_gate_setting_rename(&plain, 3);
  excused = plain;
  ms_gate_setting_excuse(&excused, 0, 0, 3);
  CHECK(excused.write_lag == plain.write_lag && excused.depth == plain.depth);
  ms_gate_setting_excuse(&excused, 1, 0, 9);
  CHECK(excused.backup == 1 && excused.write_lag == INF && excused.read_ahead == INF);
  CHECK(excused.depth == 11 && excused.read_lag == 2);
  ms_gate_setting_excuse(&plain, 0, 150, 1);
  CHECK(plain.timeout == 150 && plain.depth >= 4 && plain.write_lag == INF);
}

int main(void) {
  test_rows();
  test_excuses();
  test_refusals();
  return ms_test_end();
}
