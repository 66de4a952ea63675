/* SPDX-License-Identifier: MIT
 *
 * Gate: all schedules of a few workers, ranges and rounds, for every published setting. In each
 * moment the gate must say what the two conditions say; somebody can always go on; what is pinned
 * is of the setting's window, and stays whole; and some schedule reaches each end of the window. */
#include "sync/gate.h"

#include "base/hash.h"
#include "sync/gate_scene.h"

#define ROUNDS 3

/* ---- versions ---- */

/* The version of a range that all its writers have finished. */
static int64_t newest_version(const scene *s, const moment *now, uint32_t range) {
  int64_t newest = s->rounds;
  for (uint32_t q = 0; q < s->who->blocks; q++) {
    if (s->who->writes[q][range] == 0) continue;
    int64_t done = done_by(s, now, q);
    if (done < newest) newest = done;
  }
  return newest;
}

/* Whether the memory that holds a version of a range has not been written to again. */
static bool is_intact(const scene *s, const moment *now, uint32_t range, int64_t version) {
  bool intact = true;
  for (uint32_t q = 0; q < s->who->blocks; q++) {
    if (s->who->writes[q][range] == 0 || s->setting.depth == 0) continue;
    intact &= last_round(s, now, q, WRITE_BEGINS) < version + s->setting.depth;
  }
  return intact && version <= newest_version(s, now, range);
}

/* Whether readers copy a range at once, in whichever version it is, in place of pinning one. */
static bool is_in_place(const scene *s) {
  return s->setting.depth == 1 && s->setting.read_ahead > 0;
}

/* ---- the two conditions, as gate.h has them ---- */

static bool touches(const scene *s, uint32_t block, const uint8_t sets[][MOST_RANGES]) {
  bool any = false;
  for (uint32_t x = 0; x < s->who->ranges; x++) any |= sets[block][x] != 0;
  return any;
}

/* Whether y is of the scope of a range that a block has in its sets. */
static bool in_scope(const scene *s, uint32_t block, const uint8_t sets[][MOST_RANGES],
                     uint32_t y) {
  if (s->setting.scope == MS_GATE_NOBODY) return false;
  if (s->setting.scope == MS_GATE_GLOBAL) return touches(s, block, sets) || s->setting.clocks;
  return sets[block][y] != 0;
}

static bool may_read(const scene *s, const moment *now, uint32_t p, int64_t round) {
  const cast *who = s->who;
  bool watches = who->observes[p] != 0, may = true;
  int64_t lag = watches ? 0 : s->setting.read_lag;
  for (uint32_t y = 0; y < who->ranges; y++) {
    bool looks = watches ? who->reads[p][y] != 0 : in_scope(s, p, who->reads, y);
    for (uint32_t q = 0; q < who->blocks && looks && lag != MS_GATE_UNBOUNDED; q++) {
      bool counts = s->setting.clocks ? !who->observes[q] : who->writes[q][y] != 0;
      if (counts && q != p) may &= done_by(s, now, q) >= round - 1 - lag;
    }
  }
  return may;
}

static bool may_write(const scene *s, const moment *now, uint32_t q, int64_t round) {
  const cast *who = s->who;
  bool may = true;
  for (uint32_t y = 0; y < who->ranges; y++) {
    uint32_t writers = 0;
    for (uint32_t p = 0; p < who->blocks; p++) writers += who->writes[p][y] != 0;
    for (uint32_t p = 0; p < who->blocks; p++) {
      bool watches = who->observes[p] != 0;
      bool looks = who->writes[q][y] != 0 ||
                   (touches(s, q, who->writes) && s->setting.scope == MS_GATE_GLOBAL);
      bool reads = who->reads[p][y] != 0 || (writers > 1 && who->writes[p][y] != 0);
      int64_t lag = watches ? s->setting.depth - 1 : s->setting.write_lag;
      if (p == q || !looks || !reads || lag < 0 || lag == MS_GATE_UNBOUNDED) continue;
      may &= seen_by(s, now, p) >= round - lag;
    }
  }
  return may;
}

/* ---- all moments of a scene ---- */

typedef struct search {
  const scene *of;
  moment *found; /* all moments that are reached, in a hash table of places in the list */
  uint32_t *table;
  size_t count, room, slots;
  int64_t oldest, newest; /* furthest that a version read was behind, before the last round's */
  int wrong, stuck, torn, outside; /* how often that was so */
} search;

static uint64_t hash_of(const moment *now) {
  return ms_hash_fold(ms_hash_text(MS_HASH_EMPTY, (const char *)now, sizeof *now));
}

static void *room_for(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (memory == NULL) abort();
  return memory;
}

static void insert(search *s, uint32_t number) {
  size_t at = hash_of(&s->found[number]) & (s->slots - 1);
  while (s->table[at] != 0) at = (at + 1) & (s->slots - 1);
  s->table[at] = number + 1;
}

/* Adds a moment that is new. */
static void reach(search *s, const moment *now) {
  size_t at = hash_of(now) & (s->slots - 1);
  for (; s->table[at] != 0; at = (at + 1) & (s->slots - 1)) {
    if (memcmp(&s->found[s->table[at] - 1], now, sizeof *now) == 0) return;
  }
  if (s->count == s->room) {
    s->room *= 2;
    s->found = realloc(s->found, s->room * sizeof *s->found);
    if (s->found == NULL) abort();
    free(s->table);
    s->slots = 4 * s->room;
    s->table = room_for(s->slots, sizeof *s->table);
    for (size_t i = 0; i < s->count; i++) insert(s, (uint32_t)i);
  }
  s->found[s->count++] = *now;
  insert(s, (uint32_t)s->count - 1);
}

/* The version that a block reads: the newest finished one of its window. */
static int64_t version_read(search *s, const moment *now, const event *next, uint32_t range) {
  ms_gate_window window = ms_gate_versions(s->of->gate, next->block, range, next->round);
  int64_t version = newest_version(s->of, now, range);
  if (version > window.hi && !is_in_place(s->of)) version = window.hi;
  if (version < window.lo || version > window.hi) s->outside++;
  if (s->of->who->writes[next->block][range] == 0) {
    int64_t behind = next->round - 1 - version;
    if (behind > s->oldest) s->oldest = behind;
    if (-behind > s->newest) s->newest = -behind;
  }
  return version;
}

/* What a block reads when it begins, or is still reading when it ends. */
static void look(search *s, moment *now, const event *next, bool ends) {
  for (uint32_t x = 0; x < s->of->who->ranges; x++) {
    uint8_t *pinned = &now->pinned[next->block][x];
    if (s->of->who->reads[next->block][x] == 0) continue;
    if (!ends || is_in_place(s->of)) {
      int64_t version = version_read(s, now, next, x);
      *pinned = is_in_place(s->of) ? 0 : (uint8_t)(version + 1);
    }
    if (*pinned != 0 && !is_intact(s->of, now, x, *pinned - 1)) s->torn++;
    if (ends) *pinned = 0;
  }
}

/* Whether the gate lets a worker go on, and whether it should. */
static bool is_let_in(search *s, const moment *now, const event *next) {
  const scene *of = s->of;
  uint64_t finished[MOST_WORKERS];
  bool open = true, right = true;
  if (next->kind == READ_ENDS || next->kind == WRITE_ENDS) return true;
  bool reads = next->kind == READ_BEGINS;
  for (int step = reads ? MS_GATE_READ : MS_GATE_WRITE;
       step <= (reads && of->setting.two_phase ? MS_GATE_READ : MS_GATE_WRITE); step++) {
    count_finished(of, now, step, finished);
    open = open && ms_gate_open(of->gate, step, next->block, next->round, finished);
  }
  if (reads) right = may_read(of, now, next->block, next->round);
  if (!reads || !of->setting.two_phase) {
    right = right && may_write(of, now, next->block, next->round);
  }
  s->wrong += open != right;
  return open;
}

/* One worker's next event, if it may. */
static bool go_on(search *s, const moment *now, uint32_t worker) {
  moment then = *now;
  event next = next_event(s->of, now, worker);
  if (!is_let_in(s, now, &next)) return false;
  bool one_phase = !s->of->setting.two_phase;
  then.at[worker]++;
  if (next.kind == READ_BEGINS) look(s, &then, &next, false);
  if (next.kind == READ_ENDS || (one_phase && next.kind == WRITE_ENDS)) {
    moment before = *now; /* its own end is not what may tear what it reads */
    look(s, &before, &next, true);
    memcpy(then.pinned, before.pinned, sizeof then.pinned);
  }
  reach(s, &then);
  return true;
}

static search search_all(const scene *of) {
  search s = {.of = of, .room = 1024, .slots = 4096};
  s.found = room_for(s.room, sizeof *s.found);
  s.table = room_for(s.slots, sizeof *s.table);
  moment first;
  memset(&first, 0, sizeof first);
  reach(&s, &first);
  for (size_t i = 0; i < s.count; i++) {
    moment now = s.found[i];
    bool goes = false, over = true;
    for (uint32_t w = 0; w < of->who->workers; w++) {
      if (is_through(of, &now, w)) continue;
      over = false;
      goes |= go_on(&s, &now, w);
    }
    s.stuck += !goes && !over;
  }
  free(s.found);
  free(s.table);
  return s;
}

/* ---- the table ---- */

/* Three workers and two ranges, in several ways. */
static const cast CASTS[] = {
    {.name = "two write, one reads",
     .workers = 3,
     .blocks = 3,
     .ranges = 2,
     .owner = {0, 1, 2},
     .reads = {{1, 1}, {1, 1}, {1, 1}},
     .writes = {{1, 0}, {0, 1}, {0, 0}}},
    {.name = "neighbours",
     .workers = 3,
     .blocks = 3,
     .ranges = 2,
     .owner = {0, 1, 2},
     .reads = {{1, 0}, {1, 1}, {0, 1}},
     .writes = {{1, 0}, {0, 1}, {0, 0}}},
    {.name = "two blocks of one",
     .workers = 2,
     .blocks = 3,
     .ranges = 3,
     .owner = {0, 0, 1},
     .reads = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
     .writes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
     .full = true},
    {.name = "an observer",
     .workers = 3,
     .blocks = 3,
     .ranges = 2,
     .owner = {0, 1, 2},
     .reads = {{1, 1}, {1, 1}, {1, 1}},
     .writes = {{1, 0}, {0, 1}, {0, 0}},
     .observes = {0, 0, 1}},
    {.name = "two writers of one range",
     .workers = 3,
     .blocks = 3,
     .ranges = 2,
     .owner = {0, 1, 2},
     .reads = {{1, 1}, {0, 0}, {1, 0}},
     .writes = {{1, 0}, {1, 0}, {0, 1}}},
    {.name = "a directed cycle of edges",
     .workers = 3,
     .blocks = 3,
     .ranges = 3,
     .owner = {0, 1, 2},
     .reads = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
     .writes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
};

/* A row of the table, and how far what is read must get from the round before. */
typedef struct row {
  const char *name;
  int64_t staleness, depth, behind, ahead;
} row;

static const row TABLE[] = {
    {"data-centric", 0, 1, 0, 0}, {"data-centric", 0, 2, 0, 0}, {"data-centric", 0, 3, 0, 0},
    {"data-centric", 1, 2, 1, 0}, {"data-centric", 1, 3, 1, 0}, {"data-centric", 1, 4, 1, 0},
    {"data-centric", 2, 6, 2, 0}, {"pd-delay", 0, -1, 0, 0},    {"pd-delay", 1, -1, 1, 1},
    {"pd-delay", 2, -1, 2, 2},    {"bsp", -1, -1, 0, 0},        {"bsp-2barrier", -1, -1, 0, 0},
    {"ssp", 0, -1, 0, 0},         {"ssp", 1, -1, 1, 1},         {"ssp", 2, -1, 2, 2},
    {"async", -1, -1, 2, 3},      {"notify-ack", -1, 1, 0, 0},  {"notify-ack", -1, 2, 0, 0},
    {"notify-ack", -1, 3, 0, 0},  {"barrier", -1, -1, 0, 1},
};

static void test_table(void) {
  for (size_t r = 0; r < sizeof TABLE / sizeof *TABLE; r++) {
    const row *of = &TABLE[r];
    int64_t oldest = 0, newest = 0;
    ms_gate_setting setting;
    ms_error err = {0};
    CHECK(ms_gate_setting_find(of->name, of->staleness, of->depth, &setting, &err) == 0);
    for (size_t c = 0; c < sizeof CASTS / sizeof *CASTS; c++) {
      scene made = make_scene(&CASTS[c], &setting, ROUNDS);
      search all = search_all(&made);
      CHECK(all.wrong == 0 && all.stuck == 0 && all.torn == 0 && all.outside == 0);
      if (all.wrong + all.stuck + all.torn + all.outside > 0 || getenv("MEISSA_TEST_LINES")) {
        fprintf(stderr,
                "%s, staleness %d, depth %d, %s: %zu moments, wrong %d, stuck %d, torn %d, "
                "outside %d, behind %d, ahead %d\n",
                of->name, (int)of->staleness, (int)of->depth, CASTS[c].name, all.count, all.wrong,
                all.stuck, all.torn, all.outside, (int)all.oldest, (int)all.newest);
      }
      if (all.oldest > oldest) oldest = all.oldest;
      if (all.newest > newest) newest = all.newest;
      ms_gate_destroy(&made.gate);
    }
    CHECK(oldest == of->behind && newest == of->ahead);
    if (oldest != of->behind || newest != of->ahead) {
      fprintf(stderr, "%s %d: behind %d, ahead %d\n", of->name, (int)of->staleness, (int)oldest,
              (int)newest);
    }
  }
}

/* ---- nothing is waited for in vain ---- */

/* Some schedule goes wrong where a term asks for one block less, or none becomes possible: then
 * others' waits imply it, as in a short cycle. */
static void check_needed(const cast *who, const char *name, int64_t staleness, int64_t depth) {
  ms_gate_setting setting;
  ms_error err = {0};
  CHECK(ms_gate_setting_find(name, staleness, depth, &setting, &err) == 0);
  scene made = make_scene(who, &setting, setting.depth + 2);
  size_t end = 0, count = search_all(&made).count, needed = 0;
  for (int step = 0; step < MS_GATE_STEPS; step++) {
    for (uint32_t b = 0; b < who->blocks; b++) {
      ms_gate_slice list = made.gate->lists[step][b];
      if (list.first + list.count > end) end = list.first + list.count;
    }
  }
  CHECK(end > 0);
  for (size_t i = 0; i < end; i++) {
    made.gate->terms[i].offset--;
    search all = search_all(&made);
    made.gate->terms[i].offset++;
    needed += all.torn + all.outside > 0;
    CHECK(all.torn + all.outside > 0 || all.count == count);
  }
  CHECK(needed > 0);
  ms_gate_destroy(&made.gate);
}

/* (Where two workers read from each other with fewer versions than 2d + 2, one's wait to write
 * makes up for the other's: no such settings here.) */
static void test_needed(void) {
  for (size_t c = 0; c < sizeof CASTS / sizeof *CASTS; c++) {
    if (strcmp(CASTS[c].name, "two writers of one range") == 0) continue;
    for (int64_t depth = 1; depth <= 3; depth++) {
      check_needed(&CASTS[c], "data-centric", 0, depth);
      check_needed(&CASTS[c], "notify-ack", 0, depth);
    }
    check_needed(&CASTS[c], "data-centric", 1, 2);
    check_needed(&CASTS[c], "data-centric", 1, 4);
    check_needed(&CASTS[c], "pd-delay", 1, 1);
  }
}

int main(void) {
  ms_test_limit(60);
  test_table();
  test_needed();
  return ms_test_end();
}
