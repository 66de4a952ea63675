/* SPDX-License-Identifier: MIT
 *
 * Undo: random items on random grids, blocks that log and then write, in one process or in several
 * that are killed at random moments; whatever was written is put back, and nothing else is logged.
 * The seed is printed; MEISSA_TEST_SEED replays it. */
#include "runtime/undo.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "base/test.h"

#define SPREAD    ((size_t)512 << 10) /* bytes that an item's elements lie in */
#define MEMORY    (MOST * SPREAD)
#define LOG_SIZE  ((size_t)2 << 20)
#define LARGE     512 /* bytes of elements that make an item large: its regions are ranges */
#define MOST      3   /* items, dimensions */
#define PROCESSES 3

static uint64_t state;

static int64_t draw(int64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)below);
}

/* A job: items in one memory, a grid with bounds, and where each item lies. */
typedef struct scene {
  ms_grid grid;
  int64_t starts[2][32];
  ms_bounds bounds;
  ms_item items[MOST];
  void *data[MOST];
  uint32_t count;
} scene;

/* `low` .. `high` of the rows that the item's writes follow hold all that its ranges reach. */
static void follow(scene *s, ms_item *item) {
  ms_follow *writes = &item->writes.follow[0];
  item->writes.follows = 1;
  writes->dim = (uint32_t)draw(item->dim_count);
  writes->axis = (uint32_t)draw(s->grid.count);
  int64_t rows = item->dims[writes->dim];
  int64_t least = INT64_MAX, most = INT64_MIN;
  for (uint32_t r = 0; r <= s->grid.ranges[writes->axis]; r++) {
    int64_t start = s->starts[writes->axis][r];
    if (start < least) least = start;
    if (start > most) most = start;
  }
  int64_t room = (rows - 1) / (most - least + 1);
  writes->scale = room < 1 ? 1 : 1 + draw(room < 3 ? room : 3);
  if (draw(3) == 0) writes->scale = -writes->scale;
  int64_t first = writes->scale * (writes->scale > 0 ? least : most);
  writes->offset = 1 - first + draw(2);
}

static void make_item(scene *s, uint32_t number, bool apart, unsigned char *memory) {
  ms_item *item = &s->items[number];
  *item = (ms_item){.movement = MS_MOVE_SCATTERED, .written = 1};
  static const uint32_t elements[] = {4, 8, LARGE, LARGE};
  item->element = elements[draw(4)];
  item->dim_count = 1 + (uint32_t)draw(MOST);
  int64_t stride = 1;
  for (uint32_t d = item->dim_count; d-- > 0;) {
    item->dims[d] = 1 + draw(item->dim_count == 1 ? 400 : item->dim_count == 2 ? 20 : 7);
    item->strides[d] = stride;
    stride *= item->dims[d] + draw(2); /* rows may be padded */
    item->writes.low[d] = draw(item->dims[d]);
    item->writes.high[d] = item->writes.low[d] + draw(item->dims[d] - item->writes.low[d] + 1);
  }
  if (draw(2)) {
    follow(s, item);
    uint32_t d = item->writes.follow[0].dim;
    item->writes.low[d] = 0;
    item->writes.high[d] = item->dims[d];
  }
  s->data[number] = memory + (apart ? number * SPREAD : (size_t)draw(20000) * 8);
}

static void make_scene(scene *s, bool apart, unsigned char *memory) {
  memset(s, 0, sizeof *s);
  s->grid = (ms_grid){.strategy = MS_ROTATE, .count = 2};
  for (uint32_t axis = 0; axis < 2; axis++) {
    s->grid.ranges[axis] = 1 + (uint32_t)draw(6);
    bool down = draw(4) == 0;
    int64_t at = draw(10) - 5;
    for (uint32_t r = 0; r <= s->grid.ranges[axis]; r++) {
      s->starts[axis][r] = at;
      at += (down ? -1 : 1) * draw(4); /* ranges may be empty */
    }
    s->bounds.start[axis] = s->starts[axis];
  }
  s->count = 1 + (uint32_t)draw(MOST);
  for (uint32_t i = 0; i < s->count; i++) make_item(s, i, apart, memory);
}

/* What a block may write of an item: by the definition, element by element. */
static bool may_write(const scene *s, const ms_item *item, uint32_t block, const int64_t *at) {
  const ms_writes *writes = &item->writes;
  for (uint32_t d = 0; d < item->dim_count; d++) {
    if (at[d] < writes->low[d] || at[d] >= writes->high[d]) return false;
  }
  if (!writes->follows) return true;
  const ms_follow *follow = &writes->follow[0];
  uint32_t range = ms_grid_range(&s->grid, block, follow->axis);
  int64_t index = s->starts[follow->axis][range], end = s->starts[follow->axis][range + 1];
  for (; index != end; index += end > index ? 1 : -1) {
    if (follow->scale * index + follow->offset == at[follow->dim] + 1) return true;
  }
  return false;
}

/* Writes most of what a block may write. */
static void run_block(const scene *s, uint32_t block) {
  for (uint32_t i = 0; i < s->count; i++) {
    const ms_item *item = &s->items[i];
    ms_box box = ms_item_box(item, s->data[i], false);
    int64_t count = ms_box_count(&box);
    for (int64_t k = 0; k < count; k++) {
      int64_t at[MS_ARRAY_DIMS], rest = k;
      for (uint32_t d = item->dim_count; d-- > 0;) {
        at[d] = rest % item->dims[d];
        rest /= item->dims[d];
      }
      uint64_t value[LARGE / 8] = {(uint64_t)draw(INT32_MAX)};
      if (!may_write(s, item, block, at) || draw(4) == 0) continue;
      ms_box_scatter(&box, k, 1, value);
    }
  }
}

static void *shared(size_t size) {
  return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static bool always(void *context) {
  (void)context;
  return true;
}

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
  CHECK(ms_undo_divide(&undo, &s.grid, &s.bounds, s.items, s.count, &err) == 0);
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
  if (ms_undo_divide(&undo, &s->grid, &s->bounds, s->items, s->count, &err) != 0) _exit(1);
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
  s.items[0] = (ms_item){.movement = MS_MOVE_SCATTERED, .written = 1, .element = 8, .dim_count = 1};
  s.items[0].dims[0] = s.items[0].writes.high[0] = (int64_t)(size / 8);
  s.items[0].strides[0] = 1;
  s.data[0] = memory;
  s.count = 1;
  unsigned char *before = shared(size);
  for (size_t w = 0; w < size / 8; w++) ((uint64_t *)(void *)memory)[w] = (uint64_t)draw(INT32_MAX);
  memcpy(before, memory, size);
  CHECK(ms_undo_divide(&undo, &s.grid, &s.bounds, s.items, s.count, &err) == 0);
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
  ms_bounds bounds = {.start = {starts}};
  ms_item item = {.written = 1, .element = 8, .dim_count = 2};
  item.dims[0] = item.strides[0] = (int64_t)1 << 20;
  item.dims[1] = (int64_t)1 << 20;
  item.strides[1] = 1;
  item.writes = (ms_writes){.low = {0, 0}, .high = {1, 100}};
  ms_undo undo;
  ms_error err = {0};
  CHECK(ms_undo_divide(&undo, &grid, &bounds, &item, 1, &err) == 0);
  CHECK(undo.size < 2000);
  ms_undo_free(&undo);
  item.writes.high[0] = item.writes.high[1] = (int64_t)1 << 20;
  item.dims[0] = item.writes.high[0] = (int64_t)1 << 40;
  CHECK(ms_undo_divide(&undo, &grid, &bounds, &item, 1, &err) != 0 && err.code == MS_ARR);
  ms_undo_free(&undo);
}

static bool never(void *context) {
  ++*(int *)context;
  return false;
}

/* Who waits for a copy that nobody finishes is asked whether to go on. */
static void test_wait(void) {
  ms_grid grid = {.strategy = MS_INDEPENDENT, .count = 1, .ranges = {4}};
  ms_bounds bounds = {0};
  double data[10] = {0};
  ms_item item = {.written = 1, .element = 8, .dim_count = 1, .dims = {10}, .strides = {1}};
  item.writes.high[0] = 10;
  ms_undo undo;
  ms_error err = {0};
  void *log = shared(4096), *place = data;
  int asked = 0;
  CHECK(ms_undo_divide(&undo, &grid, &bounds, &item, 1, &err) == 0);
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
  const char *given = getenv("MEISSA_TEST_SEED");
  state = given != NULL ? (uint64_t)atoll(given) : (uint64_t)time(NULL);
  printf("seed %llu\n", (unsigned long long)state);
  ms_test_limit(100);
  test_alone();
  test_row_of_many();
  test_wait();
  if (!MS_UNDER_TSAN) test_deaths(); /* it cannot follow forks */
  return ms_test_end();
}
