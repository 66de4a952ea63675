/* SPDX-License-Identifier: MIT
 *
 * Replica gates: random replicas that hear each other over random graphs, in random order. Who may
 * go on is told by the two conditions as they are written down, not by the gate's lists; nobody
 * sees what is too old, too new or overwritten; and somebody may always go on. */
#include <stdlib.h>

#include "base/test.h"
#include "sync/replica_gate.h"

#define REPLICAS 6u
#define ROUNDS   12
#define SCENES   400

static uint64_t random_state;

static uint32_t draw(uint32_t below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % below);
}

typedef struct scene {
  ms_gate_setting setting;
  ms_replica_gate *gate;
  bool hears[REPLICAS][REPLICAS];
  uint64_t counts[REPLICAS * MS_REPLICA_LINE];
} scene;

static int64_t count_of(const scene *of, uint32_t k) {
  return (int64_t)of->counts[k * MS_REPLICA_LINE];
}

/* Draws who hears whom; all, if `all`. */
static void make_gate(scene *of, bool all) {
  uint64_t first[REPLICAS + 1] = {0};
  uint32_t reads[REPLICAS * REPLICAS], total = 0;
  for (uint32_t k = 0; k < REPLICAS; k++) {
    for (uint32_t j = 0; j < REPLICAS; j++) {
      of->hears[k][j] = all || k == j || draw(3) == 0;
      if (of->hears[k][j]) reads[total++] = j;
    }
    first[k + 1] = total;
  }
  ms_error err;
  ms_error_clear(&err);
  of->gate =
      ms_replica_gate_new(&of->setting, REPLICAS, all ? NULL : first, all ? NULL : reads, &err);
  CHECK(of->gate != NULL);
  for (uint32_t k = 0; k < REPLICAS; k++) ms_replica_gate_post(of->counts, k, 1);
}

/* Whether a count is behind what is asked of it; without a bound nothing is. */
static bool is_behind(int64_t count, int64_t round, int64_t lag) {
  return lag != MS_GATE_UNBOUNDED && count < round - lag;
}

/* How many of those whom a replica asks, or who ask it, keep it from going on. */
static uint32_t missing(const scene *of, uint32_t k, int64_t last) {
  bool global = of->setting.scope == MS_GATE_GLOBAL;
  uint32_t number = 0;
  for (uint32_t j = 0; j < REPLICAS; j++) {
    bool late =
        (global || of->hears[k][j]) && is_behind(count_of(of, j), last, of->setting.read_lag);
    bool reads =
        (global || of->hears[j][k]) && is_behind(count_of(of, j), last + 1, of->setting.write_lag);
    number += j != k && (late || reads);
  }
  return number;
}

static void check_seen(const scene *of, uint32_t k, int64_t last) {
  const ms_gate_setting *setting = &of->setting;
  for (uint32_t j = 0; j < REPLICAS; j++) {
    if (!of->hears[k][j]) continue;
    int64_t version = ms_replica_gate_sees(of->gate, of->counts, k, j, last);
    CHECK(version <= count_of(of, j));
    bool excused = setting->backup > 0;
    if (setting->read_lag != MS_GATE_UNBOUNDED && !excused)
      CHECK(version >= last - setting->read_lag);
    if (setting->read_ahead != MS_GATE_UNBOUNDED) CHECK(version <= last + setting->read_ahead);
    /* The sender may be at its next one, if it may go on. */
    int64_t at = count_of(of, j);
    bool bounded = setting->write_lag != MS_GATE_UNBOUNDED;
    if (bounded && j != k && missing(of, j, at) > 0) at--;
    bool intact = at + 1 < version + setting->depth;
    CHECK(ms_replica_gate_intact(of->gate, of->counts, j, version) == (bounded || intact));
    CHECK(intact || !bounded || j == k);
  }
}

/* All go on in random order until they have had all rounds. */
static void run(scene *of) {
  bool moves = true;
  while (moves) {
    moves = false;
    uint32_t from = draw(REPLICAS), times = draw(4);
    for (uint32_t i = 0; i < REPLICAS; i++) {
      uint32_t k = (from + i) % REPLICAS;
      for (uint32_t n = 0; n <= times && count_of(of, k) < ROUNDS; n++) {
        int64_t last = count_of(of, k);
        bool open = missing(of, k, last) <= of->setting.backup;
        CHECK(ms_replica_gate_open(of->gate, of->counts, k, last) == open);
        bool settled = true;
        for (uint32_t j = 0; j < REPLICAS; j++) {
          settled = settled && (!of->hears[k][j] || count_of(of, j) >= last);
        }
        CHECK(ms_replica_gate_settled(of->gate, of->counts, k, last) == settled);
        if (!open) break;
        check_seen(of, k, last);
        ms_replica_gate_post(of->counts, k, last + 1);
        moves = true;
      }
    }
  }
  for (uint32_t k = 0; k < REPLICAS; k++) CHECK(count_of(of, k) == ROUNDS);
}

static void test_random(void) {
  static const char *const names[] = {NULL, "notify-ack", "pd-delay", "ssp", "async", "barrier"};
  for (int i = 0; i < SCENES; i++) {
    scene of = {0};
    const char *name = names[draw(6)];
    bool bounded = name == NULL || name[0] == 'p' || name[0] == 's';
    ms_error err;
    ms_error_clear(&err);
    int64_t staleness = bounded ? (int64_t)draw(4) : MS_GATE_UNSAID;
    CHECK(ms_gate_setting_find(name, staleness, MS_GATE_UNSAID, &of.setting, &err) == 0);
    ms_gate_setting_rename(&of.setting, REPLICAS);
    if (name == NULL) ms_gate_setting_excuse(&of.setting, draw(2) * draw(3), 0, REPLICAS);
    make_gate(&of, draw(4) == 0);
    run(&of);
    ms_replica_gate_free(of.gate);
  }
}

static void test_refused(void) {
  scene of = {0};
  uint64_t first[REPLICAS + 1] = {0, 1, 1, 1, 1, 1, 1};
  uint32_t reads[] = {REPLICAS}; /* no replica */
  ms_error err;
  ms_error_clear(&err);
  CHECK(ms_gate_setting_find(NULL, 1, MS_GATE_UNSAID, &of.setting, &err) == 0);
  CHECK(ms_replica_gate_new(&of.setting, REPLICAS, first, reads, &err) == NULL);
  CHECK(err.code == MS_BUG);
  ms_replica_gate_free(NULL);
}

int main(void) {
  ms_test_limit(60);
  const char *seed = getenv("MEISSA_TEST_SEED");
  random_state = seed != NULL ? strtoull(seed, NULL, 10) : 7;
  test_random();
  test_refused();
  return ms_test_end();
}
