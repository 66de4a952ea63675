/* SPDX-License-Identifier: MIT
 *
 * Gate: against the server of the Parameter Database paper, in lock step over random schedules.
 *
 * The server is as printed (Goel et al., sections 5 and 7.1): a chunk has the number of the
 * iteration that wrote it last and, without delay, a bit for each worker that has read it since,
 * with a delay the last iteration in which each worker has read it. A read in iteration a + 1 is
 * executed if the chunk's number is a (a - delay or later); a write in iteration a if all bits are
 * set (all readers' iterations are a - delay or later). Its workers are the gate's blocks. */
#include "sync/gate_scene.h"

#define SCHEDULES  10000
#define MOST_DELAY 3

static uint64_t state;

static uint32_t draw(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % below;
}

/* ---- the server ---- */

typedef struct chunk {
  int64_t iteration;         /* that wrote it last */
  bool bit[MOST_BLOCKS];     /* who has read it since */
  int64_t last[MOST_BLOCKS]; /* in which iteration each has read it */
} chunk;

typedef struct server {
  int64_t delay;
  chunk chunks[MOST_RANGES];
} server;

static bool server_reads(const server *s, uint32_t x, int64_t iteration) {
  if (s->delay == 0) return iteration == s->chunks[x].iteration + 1;
  return s->chunks[x].iteration >= iteration - s->delay - 1;
}

static bool server_writes(const server *s, const cast *who, uint32_t x, int64_t iteration,
                          uint32_t writer) {
  bool all = true;
  for (uint32_t k = 0; k < who->blocks; k++) {
    if (who->reads[k][x] == 0 || k == writer) continue; /* its own read is behind it */
    all &= s->delay == 0 ? s->chunks[x].bit[k] : s->chunks[x].last[k] >= iteration - s->delay;
  }
  return all;
}

static void server_read(server *s, uint32_t x, uint32_t reader, int64_t iteration) {
  s->chunks[x].bit[reader] = true;
  s->chunks[x].last[reader] = iteration;
}

static void server_write(server *s, uint32_t x, int64_t iteration) {
  s->chunks[x].iteration = iteration;
  memset(s->chunks[x].bit, 0, sizeof s->chunks[x].bit);
}

/* ---- lock step ---- */

static int64_t behind[MOST_DELAY + 1], ahead[MOST_DELAY + 1]; /* furthest seen, by delay */

/* Blocks that each write a range of their own, on some workers, and read some. */
static cast draw_cast(void) {
  cast who = {.name = "random", .workers = 1 + draw(MOST_WORKERS)};
  who.blocks = who.ranges = who.workers + draw(MOST_BLOCKS - who.workers + 1);
  uint32_t dense = 1 + draw(3);
  for (uint32_t b = 0; b < who.blocks; b++) {
    uint32_t at = draw(b + 1);
    who.owner[b] = b < who.workers ? b : draw(who.workers);
    who.writes[b][b] = 1;
    for (uint32_t x = 0; x < who.ranges; x++) who.reads[b][x] = draw(dense) == 0;
    who.order[b] = who.order[at]; /* a random order, as it grows */
    who.order[at] = b;
  }
  who.ordered = true;
  return who;
}

/* Whether the server lets a block read all that it reads, and write, if it does both at once. */
static bool server_lets(const server *db, const scene *s, const event *next) {
  bool lets = true, reads = next->kind == READ_BEGINS;
  for (uint32_t x = 0; x < s->who->ranges && reads; x++) {
    if (s->who->reads[next->block][x] != 0) lets &= server_reads(db, x, next->round);
  }
  if (!reads || !s->setting.two_phase) {
    lets &= server_writes(db, s->who, next->block, next->round, next->block);
  }
  return lets;
}

static bool gate_lets(const scene *s, const moment *now, const event *next) {
  uint64_t done[MOST_WORKERS], seen[MOST_WORKERS];
  bool reads = next->kind == READ_BEGINS, both = reads && !s->setting.two_phase, open = true;
  count_finished(s, now, MS_GATE_READ, done);
  count_finished(s, now, MS_GATE_WRITE, seen);
  if (reads) open = ms_gate_open(s->gate, MS_GATE_READ, next->block, next->round, done);
  if (reads && !both) return open;
  return open && ms_gate_open(s->gate, MS_GATE_WRITE, next->block, next->round, seen);
}

/* Reads at some moment of the block's reading: the version must be of the gate's window. */
static int execute_reads(server *db, const scene *s, const event *next) {
  int wrong = 0;
  for (uint32_t x = 0; x < s->who->ranges; x++) {
    if (s->who->reads[next->block][x] == 0) continue;
    ms_gate_window window = ms_gate_versions(s->gate, next->block, x, next->round);
    int64_t version = db->chunks[x].iteration, age = next->round - 1 - version;
    wrong += version < window.lo || version > window.hi;
    wrong += !server_reads(db, x, next->round);
    if (x != next->block && age > behind[db->delay]) behind[db->delay] = age;
    if (x != next->block && -age > ahead[db->delay]) ahead[db->delay] = -age;
    server_read(db, x, next->block, next->round);
  }
  return wrong;
}

/* One event at the server: a block in one phase reads when it begins or when it ends. */
static int execute(server *db, const scene *s, const event *next, bool *late) {
  bool one_phase = !s->setting.two_phase;
  int wrong = 0;
  if (next->kind == READ_BEGINS) *late = !one_phase || draw(2) == 0;
  if (next->kind == READ_BEGINS && !*late) wrong += execute_reads(db, s, next);
  if (next->kind == READ_ENDS) wrong += execute_reads(db, s, next);
  if (next->kind == WRITE_ENDS) {
    if (one_phase && *late) wrong += execute_reads(db, s, next);
    wrong += !server_writes(db, s->who, next->block, next->round, next->block);
    server_write(db, next->block, next->round);
  }
  return wrong;
}

/* Whether gate and server differ. In one phase the gate knows of a read when its block has ended,
 * and may be later than the server, never earlier. */
static bool differ(const server *db, const scene *s, const event *next, bool gate) {
  bool lets = server_lets(db, s, next);
  return s->setting.two_phase ? gate != lets : gate && !lets;
}

/* The events that the gate lets in; returns how many there are, and how many workers are left. */
static uint32_t find_open(const server *db, const scene *s, const moment *now, event *open,
                          uint32_t *left, int *wrong) {
  uint32_t count = 0;
  *left = 0;
  for (uint32_t w = 0; w < s->who->workers; w++) {
    if (is_through(s, now, w)) continue;
    event mine = next_event(s, now, w);
    bool begins = mine.kind == READ_BEGINS || mine.kind == WRITE_BEGINS;
    bool lets = !begins || gate_lets(s, now, &mine);
    (*left)++;
    if (begins) *wrong += differ(db, s, &mine, lets);
    if (lets) open[count++] = mine;
  }
  return count;
}

/* Runs a random schedule; returns how often something was wrong, a standstill included. */
static int run(const scene *s, int64_t delay) {
  server db = {.delay = delay};
  moment now = {0};
  bool late[MOST_BLOCKS] = {false};
  int wrong = 0;
  uint32_t slow = draw(s->who->workers + 1), left; /* one that is held up, mostly */
  for (;;) {
    event open[MOST_WORKERS];
    uint32_t count = find_open(&db, s, &now, open, &left, &wrong);
    if (left == 0 || count == 0) return wrong + (left > 0);
    event chosen = open[draw(count)];
    if (chosen.worker == slow && draw(8) != 0) chosen = open[draw(count)];
    wrong += execute(&db, s, &chosen, &late[chosen.block]);
    now.at[chosen.worker]++;
  }
}

static void test_lock_step(void) {
  int wrong = 0;
  for (uint32_t n = 0; n < SCHEDULES && wrong == 0; n++) {
    int64_t delay = draw(MOST_DELAY + 1);
    cast who = draw_cast();
    ms_gate_setting setting;
    ms_error err = {0};
    CHECK(ms_gate_setting_find("pd-delay", delay, 1, &setting, &err) == 0);
    setting.two_phase = setting.two_phase || draw(3) > 0; /* as the paper has it */
    scene made = make_scene(&who, &setting, 3 + draw(6));
    wrong = run(&made, delay);
    CHECK(wrong == 0);
    if (wrong != 0) fprintf(stderr, "schedule %u, delay %d\n", n, (int)delay);
    ms_gate_destroy(&made.gate);
  }
  for (int64_t delay = 0; delay <= MOST_DELAY; delay++) {
    CHECK(behind[delay] == delay && ahead[delay] == delay); /* reached, and never left */
  }
}

int main(void) {
  const char *seed = getenv("MEISSA_TEST_SEED");
  state = seed != NULL ? strtoull(seed, NULL, 10) : 20150621u;
  printf("MEISSA_TEST_SEED=%llu\n", (unsigned long long)state);
  ms_test_limit(60);
  test_lock_step();
  return ms_test_end();
}
