/* SPDX-License-Identifier: MIT
 *
 * Hand-overs and exchanges under every order in which frames can arrive.
 *
 * Workers as they are run small jobs in one process, over a simulated road (simulated_road.h):
 * whenever nobody can go on, the test decides whose next frame arrives. All such decisions are
 * tried, one run after the other. How long blocks take is covered, since to take long is to hear
 * late. Each run is checked: a block begins after all that it depends on, has what these wrote,
 * nobody waits for ever, and what comes back to the driver is what one worker computes. */
#include <string.h>

#include "base/test.h"
#include "worker/simulated_road.h"
#include "worker/worker_job.h"

#define BLOCKS    12
#define DECISIONS 400  /* of a run */
#define MOST_RUNS 1000 /* of a case; with more orders than that the last ones are left out */

/* What is run: all of it the same for each run of a case. */
typedef struct scene {
  ms_grid grid;
  const ms_owner *owner;
  uint32_t workers;
  bool rotates;  /* an array of which rows go along with the ranges of axis 1 */
  uint64_t cost; /* ns that a look at the clock takes: long blocks are told of at once, short ones
                    together */
} scene;

static scene now_playing;
static ms_schedule *plan;

/* What blocks did: each sets its own cell to what all that it depends on make of it. */
static uint64_t cell[BLOCKS], row[BLOCKS], returned_cell[BLOCKS], returned_row[BLOCKS];
static bool depends[BLOCKS][BLOCKS], ended[BLOCKS];
static uint32_t faults; /* of the run */

static uint64_t mix(uint64_t a, uint64_t b) {
  return (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
}

/* ---- the driver ---- */

static ms_operand cells_operand(void) {
  int64_t blocks = (int64_t)ms_grid_blocks(&now_playing.grid);
  return (ms_operand){.id = 1,
                      .movement = MS_MOVE_EXCHANGED,
                      .written = 1,
                      .element = 8,
                      .dim_count = 1,
                      .dims = {blocks},
                      .strides = {1},
                      .writes = {.high = {blocks}}};
}

static ms_operand rows_operand(void) {
  int64_t rows = now_playing.grid.ranges[1];
  return (ms_operand){.id = 2,
                      .movement = MS_MOVE_ROTATED,
                      .written = 1,
                      .element = 8,
                      .dim_count = 1,
                      .cut = 1,
                      .scale = 1,
                      .dims = {rows},
                      .strides = {1},
                      .writes = {.high = {rows}}};
}

/* What a worker returns to the driver. */
static int carry_to_driver(ms_link *link, ms_message *message, ms_error *err) {
  (void)err;
  ms_frame frame;
  const char *bytes = ms_message_data(message);
  memcpy(&frame, bytes, sizeof frame);
  if (frame.kind == MS_SAY_FAILED) faults++;
  if (frame.kind == MS_SAY_DATA) {
    uint32_t number = (uint32_t)frame.a[0];
    ms_operand operand = number == 0 ? cells_operand() : rows_operand();
    ms_elements all = ms_elements_of(&operand, number == 0 ? returned_cell : returned_row, true);
    ms_transfer_accept(&frame, bytes + sizeof frame, &all);
  }
  ms_message_close(message);
  link->acknowledged = link->sent;
  return 0;
}

static void write_task(ms_text *text) {
  int64_t starts[MS_CUTS][BLOCKS + 1];
  ms_operand operands[2] = {cells_operand(), {0}};
  ms_task task = {.grid = now_playing.grid,
                  .workers = now_playing.workers,
                  .range_owner = now_playing.owner,
                  .operand_count = 1,
                  .operands = operands,
                  .key = "k",
                  .key_size = 1};
  if (now_playing.rotates) operands[task.operand_count++] = rows_operand();
  for (uint32_t axis = 0; axis < now_playing.grid.count; axis++) {
    for (int64_t r = 0; r <= now_playing.grid.ranges[axis]; r++) starts[axis][r] = r + 1;
    task.bounds.start[axis] = starts[axis];
  }
  ms_task_write(&task, text);
}

/* ---- workers ---- */

/* Block `block` on a worker whose arrays are these: looks whether it may run, and runs. */
static void run_block(uint32_t block, uint64_t *cells, uint64_t *rows) {
  uint64_t made = block + 1;
  for (uint32_t other = 0; other < ms_grid_blocks(&now_playing.grid); other++) {
    if (!depends[block][other]) continue;
    if (!ended[other] || cells[other] != cell[other]) faults++;
    made = mix(made, cells[other]);
  }
  cells[block] = made;
  if (rows == NULL) return;
  uint64_t *mine = &rows[ms_grid_range(&now_playing.grid, block, 1)];
  *mine = mix(*mine, block);
}

static int work(ms_worker *worker) {
  ms_error err = {0};
  uint32_t block;
  int got;
  bool dense;
  if (ms_worker_job_begin(worker, &err) != 0) return -1;
  while ((got = ms_worker_next_block(worker, &block, &err)) > 0) {
    uint64_t *cells = ms_worker_operand(worker, 0, &dense);
    run_block(block, cells, now_playing.rotates ? ms_worker_operand(worker, 1, &dense) : NULL);
    if (cells[block] != cell[block]) faults++;
    ended[block] = true;
    if (ms_worker_block_done(worker, NULL, 0, &err) != 0) return -1;
  }
  return got;
}

static void make_worker(uint32_t number) {
  ms_worker *worker = ms_simulation_worker(number);
  worker->setup.workers = now_playing.workers;
  worker->control = (ms_link){.sender = number, .peer = MS_DRIVER, .carry = carry_to_driver};
  worker->neighbours = calloc(now_playing.workers, sizeof *worker->neighbours);
  worker->neighbour_count = now_playing.workers;
  worker->incoming_job = 1;
  write_task(&worker->incoming);
}

static void free_worker(uint32_t number) {
  ms_worker *worker = &ms_simulation.actor[number].worker;
  ms_exchange_close(worker);
  ms_mapped_memory_release(&worker->mapped);
  ms_schedule_destroy(&worker->schedule);
  ms_arena_destroy(&worker->job.arena);
  ms_text_free(&worker->job.report);
  ms_text_free(&worker->incoming);
  free(worker->neighbours);
}

/* ---- orders ---- */

/* The decisions of a run: which of `options` queues was served. The next run differs in the last
 * one that can be taken otherwise. */
typedef struct script {
  uint32_t choice[DECISIONS], options[DECISIONS], length;
} script;

/* Lets a frame arrive; false when there is none. */
static bool deliver(script *s, uint32_t step) {
  uint32_t ways[MS_SIMULATED_ENDS * MS_SIMULATED_ENDS], count = ms_simulation_ways(ways);
  if (count == 0 || step >= DECISIONS) return false;
  if (step >= s->length) s->choice[s->length++] = 0;
  s->options[step] = count;
  ms_simulation_deliver(ways[s->choice[step]]);
  return true;
}

/* The next run's decisions; false when all have been tried. */
static bool advance(script *s) {
  while (s->length > 0 && s->choice[s->length - 1] + 1 >= s->options[s->length - 1]) s->length--;
  if (s->length == 0) return false;
  s->choice[s->length - 1]++;
  return true;
}

/* One run. Workers go on until each waits or is done; then a frame arrives. */
static void play(script *s) {
  uint32_t workers = now_playing.workers, step = 0;
  faults = 0;
  memset(ended, 0, sizeof ended);
  memset(returned_cell, 0, sizeof returned_cell);
  memset(returned_row, 0, sizeof returned_row);
  ms_simulation_begin(now_playing.cost);
  for (uint32_t w = 0; w < workers; w++) {
    make_worker(w);
    ms_simulation_start(w, work);
  }
  do ms_simulation_run(workers);
  while (deliver(s, step++));
  faults += ms_simulation_end(workers);
  for (uint32_t w = 0; w < workers; w++) free_worker(w);
}

/* What one worker computes: the plan's order, one block after the other. */
static void run_serially(void) {
  uint32_t blocks = ms_grid_blocks(&now_playing.grid);
  memset(depends, 0, sizeof depends);
  memset(ended, 0, sizeof ended);
  memset(row, 0, sizeof row);
  for (uint32_t at = 0; at < blocks; at++) {
    uint32_t block = 0;
    while (ms_schedule_position(plan, block) != at) block++;
    for (uint32_t e = 0; e < ms_schedule_edges(plan); e++) {
      uint32_t before = ms_schedule_before(plan, block, e);
      if (before == MS_NO_BLOCK) continue;
      depends[block][before] = true;
      for (uint32_t other = 0; other < blocks; other++)
        depends[block][other] = depends[block][other] || depends[before][other];
    }
    run_block(block, cell, now_playing.rotates ? row : NULL);
    ended[block] = true;
  }
}

static void try_all(const char *name, const scene *tried) {
  ms_error err = {0};
  now_playing = *tried;
  plan = ms_schedule_new(&tried->grid, tried->owner, tried->workers, &err);
  CHECK(plan != NULL);
  if (plan == NULL) return;
  uint32_t blocks = ms_grid_blocks(&tried->grid), runs = 0, wrong = 0;
  run_serially();
  CHECK(faults == 0);
  script s = {.length = 0};
  bool more = true;
  for (; more && runs < MOST_RUNS && wrong == 0; runs++) {
    play(&s);
    bool same = memcmp(returned_cell, cell, blocks * sizeof *cell) == 0;
    if (tried->rotates)
      same = same && memcmp(returned_row, row, tried->grid.ranges[1] * sizeof *row) == 0;
    wrong += faults > 0 || !same;
    CHECK(faults == 0 && same);
    more = advance(&s);
  }
  printf("%s: %u orders%s\n", name, runs, more ? ", of more" : ", which are all");
  ms_schedule_destroy(&plan);
}

int main(void) {
  static const ms_owner three[] = {{0, MS_WHOLE}, {1, MS_WHOLE}, {2, MS_WHOLE}};
  static const ms_owner two[] = {{0, MS_WHOLE}, {1, MS_WHOLE}};
  static const ms_owner shared[] = {{0, 2}, {1, MS_WHOLE}, {1, MS_WHOLE}};
  static const ms_owner around[] = {{0, MS_WHOLE}, {1, MS_WHOLE}, {0, MS_WHOLE}};
  static const struct {
    const char *name;
    scene scene;
  } cases[] = {
      {"rotation, 2 workers", {{MS_ROTATE, .count = 2, .ranges = {2, 2}}, two, 2, true, 0}},
      {"rotation, 3 workers", {{MS_ROTATE, .count = 2, .ranges = {3, 3}}, three, 3, true, 0}},
      {"rotation, a range of two", {{MS_ROTATE, .count = 2, .ranges = {3, 3}}, shared, 2, true, 0}},
      {"wavefront, at once", {{MS_WAVEFRONT, .count = 2, .ranges = {2, 3}}, two, 2, true, 9000000}},
      {"wavefront, together", {{MS_WAVEFRONT, .count = 2, .ranges = {2, 4}}, two, 2, true, 1}},
      {"wavefront, 3 workers",
       {{MS_WAVEFRONT, .count = 2, .ranges = {3, 3}}, three, 3, true, 9000}},
      {"wavefront, and back", {{MS_WAVEFRONT, .count = 2, .ranges = {3, 3}}, around, 2, true, 1}},
      {"hyperplane",
       {{MS_HYPERPLANE, .count = 2, .sequential = 1, .ranges = {3, 2}}, two, 2, false, 0}},
  };
  ms_test_limit(100);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) try_all(cases[c].name, &cases[c].scene);
  return ms_test_end();
}
