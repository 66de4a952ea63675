/* SPDX-License-Identifier: MIT
 *
 * Jobs of a driver and its workers under all sorts of fates: in which order reports, hellos and
 * ends arrive, who runs when, who dies where, what fails, when Ctrl-C comes.
 *
 * A session as it is runs two jobs in one process (simulated_session.h), again and again: with each
 * moment at which a worker may die, and each at which the driver may be interrupted, several
 * orders, the first ones in turn and others drawn (MEISSA_ORDERS: as many percent of a scene's as
 * that; the seed is printed, MEISSA_TEST_SEED replays it). Whatever happens, a job ends; it has
 * done each block once, as far as one can see, or nothing; what blocks gave and printed is in the
 * plan's order; of several failures the one is told that comes first in that order; the session is
 * good for the next job; and at last its workers end when they are asked to. */
#include <string.h>

#include "base/test.h"
#include "worker/simulated_cells.h"
#include "worker/simulated_session.h"

#define BLOCKS 12
#define ROOM   32 /* numbers of both arrays */
#define JOBS   2

#define LONG_TASK ((MS_LINK_WINDOW + 9) * MS_LANE_PIECE)

typedef struct scene {
  const char *name;
  ms_grid grid;
  uint32_t workers;
  bool shared, rotates, prints;
  bool rounds;      /* its first axis: of blocks that write versions alone */
  uint32_t failing; /* blocks of the first job, as bits */
  uint32_t endless; /* 1 + a block of it that never ends; 0: none */
  bool long_task;   /* that takes more frames than a window has */
  uint32_t orders;  /* for each fate; half of them unless more are asked for */
} scene;

static scene now_playing;
static ms_status_page *page;
static ms_segment_block memory;
static uint64_t *numbers; /* the first array, then the second */
static bool ended[BLOCKS];
static uint32_t job_number, deaths_before, faults;
static uint32_t orders_percent = 50;
static uint64_t seed;
static struct counts {
  uint32_t runs, deaths, replaced, repeated, convicted, failed, interrupted;
} counts;

/* ---- blocks */

static bool fails(uint32_t block) {
  return job_number == 0 && (now_playing.failing >> block & 1) != 0;
}

/* The present block on a worker, in two halves, of which the first one alone is wrong. */
static int run_on(ms_worker *worker, uint32_t block) {
  bool dense;
  ms_error err = {0};
  uint64_t *cells = ms_worker_operand(worker, 0, &dense);
  uint64_t *sums = now_playing.rotates ? ms_worker_operand(worker, 1, &dense) : NULL;
  uint64_t cell = *ms_cells_cell(cells, block), sum = *ms_cells_sum(cells, block),
           other = sums == NULL ? 0 : sums[ms_cells_column(block)];
  for (uint32_t e = 0; e < ms_schedule_edges(worker->schedule); e++) {
    uint32_t before = ms_schedule_before(worker->schedule, block, e);
    if (before != MS_NO_BLOCK && !ended[before]) faults++;
  }
  ended[block] = false;
  *ms_cells_cell(cells, block) = *ms_cells_sum(cells, block) = 7;
  if (sums != NULL) sums[ms_cells_column(block)] = 7;
  ms_host_point(worker, block);
  if (job_number == 0 && now_playing.endless == block + 1) ms_host_stay(worker);
  ms_host_yield(worker);
  ms_host_point(worker, block);
  if (fails(block)) {
    ended[block] = true; /* to those who go on all the same */
    char text[24];
    int size = snprintf(text, sizeof text, "block %u", block);
    return ms_worker_fail(worker, &(ms_body_error){.bytes = text, .size = (size_t)size}, &err);
  }
  *ms_cells_cell(cells, block) = cell;
  *ms_cells_sum(cells, block) = sum;
  if (sums != NULL) sums[ms_cells_column(block)] = other;
  ms_cells_run(worker->schedule, cells, sums, block);
  ended[block] = true;
  char text[16];
  int size = snprintf(text, sizeof text, "%u\n", block);
  if (now_playing.prints && ms_worker_print(worker, text, (size_t)size, &err) != 0) return -1;
  int failed = ms_worker_block_done(worker, &block, sizeof block, &err);
  ms_host_point(worker, MS_NO_BLOCK);
  return failed;
}

/* The same in rounds: what a block that was finished has read, others have gone over, so it is not
 * run again but with all others. */
static int run_in_round(ms_worker *worker, uint32_t block) {
  static uint32_t repeats;
  ms_error err = {0};
  uint32_t width = ms_cells_columns(), round = block / width;
  if (ms_host.session.run->outcome->repeats != repeats) memset(ended, 0, sizeof ended);
  repeats = ms_host.session.run->outcome->repeats;
  for (uint32_t k = 0; round > 0 && k < width; k++)
    if (!ended[(round - 1) * width + k]) faults++;
  if (ended[block]) faults++;
  ms_host_point(worker, block);
  ms_host_yield(worker);
  ended[block] = true;
  int failed = ms_worker_block_done(worker, &block, sizeof block, &err);
  ms_host_point(worker, MS_NO_BLOCK);
  return failed;
}

static int live(ms_worker *worker) {
  ms_error err = {0};
  uint32_t block;
  int got;
  ms_hello hello = {0};
  snprintf(hello.abi, sizeof hello.abi, "%s", ms_frame_abi());
  ms_frame frame = {.kind = MS_SAY_HELLO, .a = {MS_PROTOCOL}};
  ms_link_send(&worker->control, frame, &hello, sizeof hello, &err);
  while ((got = ms_worker_next(worker, &err)) > 0) {
    while ((got = ms_worker_next_block(worker, &block, &err)) > 0)
      if ((now_playing.rounds ? run_in_round : run_on)(worker, block) != 0) faults++;
    if (got < 0) break;
  }
  if (!worker->ended) faults++;
  return got;
}

/* ---- what must be */

/* The block whose failure is to be told of, MS_NO_BLOCK: none. */
static uint32_t first_failing(const ms_schedule *schedule) {
  uint32_t first = MS_NO_BLOCK;
  for (uint32_t block = 0; block < schedule->count; block++) {
    if (!fails(block)) continue;
    if (first == MS_NO_BLOCK ||
        ms_schedule_turn(schedule, block) < ms_schedule_turn(schedule, first))
      first = block;
  }
  return first;
}

/* All blocks one after the other, in the plan's order. */
static void run_serially(const ms_schedule *schedule, uint64_t *cells) {
  for (uint32_t at = 0; at < schedule->count; at++) {
    uint32_t block = 0;
    while (ms_schedule_position(schedule, block) != at) block++;
    ms_cells_run(schedule, cells, now_playing.rotates ? ms_cells_second(cells) : NULL, block);
  }
}

/* Whether each block has given its result, and printed, once and in the plan's order. */
static bool is_in_order(const ms_schedule *schedule, ms_outcome *outcome) {
  char printed[BLOCKS * 4] = "";
  size_t used = 0;
  ms_record record;
  ms_outcome_rewind(outcome, MS_REPORT_RESULT, MS_REPORT_RESULT);
  for (uint32_t at = 0; at < schedule->count; at++) {
    if (!ms_outcome_next(outcome, &record) || record.size != sizeof record.block) return false;
    if (ms_schedule_position(schedule, record.block) != at) return false;
    if (memcmp(record.bytes, &record.block, sizeof record.block) != 0) return false;
    used += (size_t)snprintf(printed + used, sizeof printed - used, "%u\n", record.block);
  }
  if (!now_playing.prints) used = 0;
  return !ms_outcome_next(outcome, &record) && outcome->printed.length == used &&
         (used == 0 || memcmp(outcome->printed.bytes, printed, used) == 0);
}

/* Whether both deaths were in one block of this job: then it is to be named. */
static bool died_twice_in_one(void) {
  return deaths_before == 0 && ms_host.deaths == 2 && ms_host.died_in[0] != MS_NO_BLOCK &&
         ms_host.died_in[0] == ms_host.died_in[1];
}

static void check(const uint64_t *before, ms_outcome *outcome, int failed, const ms_error *err) {
  const ms_schedule *schedule = ms_host.session.schedule;
  uint64_t expected[ROOM];
  memcpy(expected, before, sizeof expected);
  uint32_t told = schedule == NULL ? MS_NO_BLOCK : first_failing(schedule);
  bool good;
  if (failed == 0) {
    if (!now_playing.rounds) run_serially(schedule, expected);
    good = told == MS_NO_BLOCK && outcome->complete && is_in_order(schedule, outcome) &&
           !outcome->lost && !died_twice_in_one();
  } else if (err->code == MS_INT) {
    good = ms_host.interrupted;
    counts.interrupted++;
  } else if (err->code == MS_WRK) {
    good = died_twice_in_one() && outcome->repeated && outcome->block == ms_host.died_in[0];
    counts.convicted++;
  } else {
    char text[24];
    int size = snprintf(text, sizeof text, "block %u", told);
    good = err->code == MS_BDY && told != MS_NO_BLOCK && outcome->block == told &&
           outcome->error.length == (size_t)size &&
           memcmp(outcome->error.bytes, text, (size_t)size) == 0;
    counts.failed++;
  }
  if (memcmp(numbers, expected, sizeof expected) != 0) good = false;
  if (!good) {
    fprintf(stderr, "job %u: %d, error %d: %s\n", job_number, failed, (int)err->code, err->message);
    faults++;
  }
  counts.replaced += outcome->deaths > 0 && outcome->repeats == 0 && failed == 0;
  counts.repeated += outcome->repeats;
}

/* The driver: two jobs, of which only the first one fails. */
static int drive(ms_worker *nobody) {
  (void)nobody;
  int64_t start[MS_CUTS][BLOCKS + 1];
  ms_job_operand operands[2] = {{.operand = ms_cells_operand()},
                                {.operand = ms_cells_of_columns()}};
  operands[0].data = (unsigned char *)numbers;
  operands[1].data = (unsigned char *)ms_cells_second(numbers);
  ms_job job = {.key = "k",
                .key_size = 1,
                .kernel = "k",
                .kernel_size = 1,
                .grid = now_playing.grid,
                .operands = operands,
                .operand_count = now_playing.rotates  ? 2
                                 : now_playing.rounds ? 0
                                                      : 1,
                .transaction = true};
  if (now_playing.rounds) {
    ms_error err;
    ms_gate_setting *setting = &job.rounds.setting;
    CHECK(ms_gate_setting_find("notify-ack", MS_GATE_UNSAID, MS_GATE_UNSAID, setting, &err) == 0);
  }
  static const char captured[LONG_TASK];
  if (now_playing.long_task) job.run = captured, job.run_size = sizeof captured;
  for (uint32_t axis = 0; axis < now_playing.grid.count; axis++) {
    for (int64_t r = 0; r <= now_playing.grid.ranges[axis]; r++) start[axis][r] = r + 1;
    job.bounds.start[axis] = start[axis];
  }
  if (now_playing.shared) operands[0].segment = operands[1].segment = memory.segment;
  for (job_number = 0; job_number < JOBS; job_number++) {
    ms_outcome outcome;
    ms_error err = {0};
    uint64_t before[ROOM];
    memcpy(before, numbers, sizeof before);
    memset(ended, 0, sizeof ended);
    deaths_before = ms_host.deaths;
    int failed = ms_session_run(&ms_host.session, &job, &outcome, &err);
    check(before, &outcome, failed, &err);
    ms_outcome_free(&outcome);
  }
  ms_session_wait_dismiss(&ms_host.session, false);
  for (uint32_t w = 0; w < now_playing.workers; w++)
    if (!ms_host_gone(&ms_host.session.members[w])) faults++;
  return 0;
}

/* ---- fates */

static bool play(ms_choices *choices) {
  faults = 0;
  choices->made = 0;
  ms_host.choices = choices;
  for (uint64_t k = 0; k < ROOM; k++) numbers[k] = k * k + 1;
  ms_host_begin(now_playing.workers, now_playing.shared, page, live, drive);
  bool ends = ms_host_run();
  counts.runs++;
  counts.deaths += ms_host.deaths;
  CHECK(ends && faults == 0);
  if (ends && faults == 0) return true;
  fprintf(stderr, "%s: %s, with deaths at %u and %u, an interrupt at %u, after %u choices\n",
          now_playing.name, ends ? "wrong" : "a hang", ms_host.die_at[0], ms_host.die_at[1],
          ms_host.interrupt_at, choices->made);
  exit(ms_test_end()); /* the others may hang, too */
}

/* Tries one fate in several orders; false when it never came. */
static bool try_orders(uint32_t first, uint32_t second, uint32_t interrupt, uint32_t orders) {
  static ms_choices choices;
  bool came = false;
  ms_host.die_at[0] = first;
  ms_host.die_at[1] = second;
  ms_host.interrupt_at = interrupt;
  uint32_t runs = 0;
  choices.length = 0;
  choices.drawn = 0;
  do {
    play(&choices);
    came = came || ms_host.deaths > (second != NEVER) || ms_host.interrupted;
  } while (++runs < orders / 4 + 1 && ms_choices_advance(&choices));
  for (; runs < orders; runs++) {
    choices.length = 0;
    choices.drawn = 0x9e3779b97f4a7c15u * (seed + runs + 1) + first + 31 * (uint64_t)second;
    play(&choices);
    came = came || ms_host.deaths > (second != NEVER) || ms_host.interrupted;
  }
  return came;
}

static void try_fates(const scene *tried) {
  now_playing = *tried;
  ms_cells_grid = tried->grid;
  ms_cells_shared = tried->shared;
  memset(&counts, 0, sizeof counts);
  uint32_t orders = (tried->orders * orders_percent + 99) / 100;
  try_orders(NEVER, NEVER, NEVER, 4 * orders);
  for (uint32_t wait = 0; try_orders(NEVER, NEVER, wait, orders); wait++) continue;
  for (uint32_t point = 0; try_orders(point, NEVER, NEVER, orders); point++) continue;
  for (uint32_t point = 0; point < 60; point += 4)
    for (uint32_t later = 1; later < 24; later += 3)
      try_orders(point, point + later, NEVER, orders / 8 + 1);
  printf(
      "%s: %u runs, %u deaths, %u jobs with replacements, %u repeats, %u blocks named, %u "
      "failures, %u interrupts\n",
      tried->name, counts.runs, counts.deaths, counts.replaced, counts.repeated, counts.convicted,
      counts.failed, counts.interrupted);
  CHECK(counts.deaths > 0 && counts.interrupted > 0);
  if (tried->failing == 0) CHECK((counts.replaced > 0) == tried->shared);
  CHECK(tried->shared || counts.repeated > 0);
  CHECK((counts.failed > 0) == (tried->failing != 0));
}

static void on_interrupt(int signal) {
  (void)signal; /* one that came too late for the job */
}

int main(void) {
  static const ms_grid line = {MS_PARTITION, .count = 1, .ranges = {6}},
                       square = {MS_WAVEFRONT, .count = 2, .ranges = {3, 3}},
                       rounds = {MS_ROUNDS, .count = 2, .sequential = 1, .ranges = {3, 3}},
                       ring = {MS_ROTATE, .count = 2, .ranges = {2, 2}},
                       larger_ring = {MS_ROTATE, .count = 2, .ranges = {3, 3}};
  static const scene scenes[] = {
      {"partition", line, 2, .shared = true, .orders = 12},
      {"partition, printing", line, 3, .shared = true, .prints = true, .orders = 8},
      {"a long task", line, 2, .shared = true, .long_task = true, .orders = 4},
      {"wavefront", square, 3, .shared = true, .orders = 10},
      {"rotation", ring, 2, .shared = true, .rotates = true, .orders = 10},
      {"rounds", rounds, 2, .shared = true, .rounds = true, .orders = 10},
      {"rotation by frames", larger_ring, 3, .rotates = true, .prints = true, .orders = 8},
      {"two failures", square, 3, .shared = true, .failing = 1u << 5 | 1u << 7, .orders = 8},
      {"two failures by frames", line, 2, .failing = 1u << 1 | 1u << 4, .orders = 8},
      {"a failure, and no end", line, 2, .shared = true, .failing = 1, .endless = 6, .orders = 6},
  };
  ms_test_limit(110);
  const char *percent = getenv("MEISSA_ORDERS");
  seed = ms_test_seed(0);
  if (percent != NULL && atoi(percent) > 0) orders_percent = (uint32_t)atoi(percent);
  ms_error err = {0};
  int fd = -1;
  signal(SIGINT, on_interrupt);
  page = ms_status_page_make(MS_SIMULATED_WORKERS, &fd, &err);
  CHECK(page != NULL && ms_segment_block_take(&memory, ROOM * sizeof *numbers, &err) == 0);
  if (ms_test_failed > 0) return ms_test_end();
  numbers = ms_segment_block_at(&memory);
  for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) try_fates(&scenes[s]);
  ms_segment_block_release(&memory);
  ms_status_page_unmap(page, MS_SIMULATED_WORKERS);
  close(fd);
  return ms_test_end();
}
