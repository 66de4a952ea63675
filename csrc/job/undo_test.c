/* SPDX-License-Identifier: MIT
 *
 * Undo: random operands on random grids, blocks that log and then write, in one process or in
 * several that are killed at random moments; whatever was written is put back, and nothing else is
 * logged. The seed is printed; MEISSA_TEST_SEED replays it. */
#include <signal.h>
#include <sys/wait.h>

#include "job/undo_scene.h"

#define PROCESSES 3

/* Blocks in random order, up to a random one; views may overlap. `forget` leaves one image out of
 * the log: then what comes back must be wrong if that block's writes changed anything. */
static int undone_alone(unsigned char *memory, void *log, bool forget) {
  static unsigned char before[MEMORY];
  scene s;
  ms_undo undo;
  ms_error err = {0};
  make_scene(&s, draw(2) == 0, memory);
  for (size_t w = 0; w < MEMORY / 8; w++)
    ((uint64_t *)(void *)memory)[w] = (uint64_t)draw(INT32_MAX);
  memcpy(before, memory, sizeof before);
  CHECK(ms_undo_divide(&undo, &s.grid, &s.bounds, s.operands, s.count, &err) == 0);
  CHECK(undo.size <= LOG_SIZE);
  ms_undo_attach(&undo, log, s.data);
  ms_undo_clear(&undo);
  uint32_t blocks = ms_grid_blocks(&s.grid), steps = 1 + (uint32_t)draw(blocks + 3);
  for (uint32_t step = 0; undo.size > 0 && step < steps; step++) {
    uint32_t block = (uint32_t)draw(blocks);
    CHECK(ms_undo_log(&undo, block, always, NULL) == 0);
    run_block(&s, block);
  }
  if (forget && undo.size > 0) atomic_store(&undo.order[0], 0);
  ms_undo_restore(&undo);
  ms_undo_free(&undo);
  return memcmp(before, memory, sizeof before) == 0;
}

static void test_alone(void) {
  unsigned char *memory = shared(MEMORY);
  void *log = shared(LOG_SIZE);
  int good = 1, forgotten = 0;
  for (int round = 0; round < 500; round++) good &= undone_alone(memory, log, false);
  CHECK(good);
  for (int round = 0; round < 200; round++) forgotten += !undone_alone(memory, log, true);
  CHECK(forgotten > 50); /* a log that forgets is found out */
  munmap(memory, MEMORY);
  munmap(log, LOG_SIZE);
}

/* A worker: runs every block whose number leaves `number`, until it is killed. */
static void work(scene *s, void *log, uint32_t number) {
  ms_undo undo;
  ms_error err = {0};
  if (ms_undo_divide(&undo, &s->grid, &s->bounds, s->operands, s->count, &err) != 0) _exit(1);
  ms_undo_attach(&undo, log, s->data);
  for (uint32_t block = number; block < ms_grid_blocks(&s->grid); block += PROCESSES) {
    if (undo.size == 0) break;
    if (ms_undo_log(&undo, block, always, NULL) != 0) _exit(2);
    run_block(s, block);
  }
  _exit(0);
}

/* Large pieces that several processes log together; all are killed at one moment. */
static int undone_after_death(unsigned char *memory, size_t size, void *log, size_t room) {
  static scene s;
  pid_t pid[PROCESSES];
  ms_undo undo;
  ms_error err = {0};
  make_scene(&s, true, memory);
  s.operands[0] =
      (ms_operand){.movement = MS_MOVE_SCATTERED, .written = 1, .element = 8, .dim_count = 1};
  s.operands[0].dims[0] = s.operands[0].writes.high[0] = (int64_t)(size / 8);
  s.operands[0].strides[0] = 1;
  s.data[0] = memory;
  s.count = 1;
  unsigned char *before = shared(size);
  for (size_t w = 0; w < size / 8; w++) ((uint64_t *)(void *)memory)[w] = (uint64_t)draw(INT32_MAX);
  memcpy(before, memory, size);
  CHECK(ms_undo_divide(&undo, &s.grid, &s.bounds, s.operands, s.count, &err) == 0);
  CHECK(undo.size <= room && undo.region_count > 1);
  ms_undo_attach(&undo, log, s.data);
  ms_undo_clear(&undo);
  for (uint32_t p = 0; p < PROCESSES; p++) {
    pid[p] = fork();
    if (pid[p] == 0) {
      ms_test_limit(60);
      work(&s, log, p);
    }
  }
  const struct timespec moment = {.tv_nsec = draw(4000000)};
  nanosleep(&moment, NULL);
  for (uint32_t p = 0; p < PROCESSES; p++) kill(pid[p], SIGKILL);
  for (uint32_t p = 0; p < PROCESSES; p++) waitpid(pid[p], NULL, 0);
  ms_undo_restore(&undo);
  ms_undo_free(&undo);
  int same = memcmp(before, memory, size) == 0;
  munmap(before, size);
  return same;
}

static void test_deaths(void) {
  size_t size = (size_t)1 << 20, room = size + ((size_t)64 << 10);
  unsigned char *memory = shared(size);
  void *log = shared(room);
  int good = 1;
  for (int round = 0; round < 60; round++) good &= undone_after_death(memory, size, log, room);
  CHECK(good);
  munmap(memory, size);
  munmap(log, room);
}

/* One row of a huge array: its image alone, without a look at the rest (which is not there). */
static void test_row_of_many(void) {
  ms_grid grid = {.strategy = MS_INDEPENDENT, .count = 1, .ranges = {4}};
  const int64_t starts[] = {1, 26, 51, 76, 101};
  ms_range_starts bounds = {.start = {starts}};
  ms_operand operand = {.written = 1, .element = 8, .dim_count = 2};
  operand.dims[0] = operand.strides[0] = (int64_t)1 << 20;
  operand.dims[1] = (int64_t)1 << 20;
  operand.strides[1] = 1;
  operand.writes = (ms_writes){.low = {0, 0}, .high = {1, 100}};
  ms_undo undo;
  ms_error err = {0};
  CHECK(ms_undo_divide(&undo, &grid, &bounds, &operand, 1, &err) == 0);
  CHECK(undo.size < 2000);
  ms_undo_free(&undo);
  operand.writes.high[0] = operand.writes.high[1] = (int64_t)1 << 20;
  operand.dims[0] = operand.writes.high[0] = (int64_t)1 << 40;
  CHECK(ms_undo_divide(&undo, &grid, &bounds, &operand, 1, &err) != 0 && err.code == MS_ARR);
  ms_undo_free(&undo);
}

static bool never(void *context) {
  ++*(int *)context;
  return false;
}

/* Who waits for a copy that nobody finishes is asked whether to go on. */
static void test_wait(void) {
  ms_grid grid = {.strategy = MS_INDEPENDENT, .count = 1, .ranges = {4}};
  ms_range_starts bounds = {0};
  double data[10] = {0};
  ms_operand operand = {.written = 1, .element = 8, .dim_count = 1, .dims = {10}, .strides = {1}};
  operand.writes.high[0] = 10;
  ms_undo undo;
  ms_error err = {0};
  void *log = shared(4096), *place = data;
  int asked = 0;
  CHECK(ms_undo_divide(&undo, &grid, &bounds, &operand, 1, &err) == 0);
  ms_undo_attach(&undo, log, &place);
  ms_undo_clear(&undo);
  atomic_store(&undo.state[0], 2);
  CHECK(ms_undo_log(&undo, 0, never, &asked) == -1 && asked == 1);
  ms_undo_clear(&undo);
  CHECK(ms_undo_log(&undo, 0, never, &asked) == 0 && asked == 1);
  atomic_store(undo.clock, UINT32_MAX); /* scribbled upon: believed as far as it fits */
  atomic_store(&undo.order[0], 77);
  ms_undo_restore(&undo);
  ms_undo_free(&undo);
  munmap(log, 4096);
}

int main(void) {
  seed();
  ms_test_limit(100);
  test_alone();
  test_row_of_many();
  test_wait();
  if (!MS_UNDER_TSAN) test_deaths(); /* it cannot follow forks */
  return ms_test_end();
}
