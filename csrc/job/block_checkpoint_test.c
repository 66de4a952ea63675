/* SPDX-License-Identifier: MIT
 *
 * Checkpoints of blocks: random jobs whose workers die in the middle of a block, while others
 * write. What the block may have written is as at its beginning, what the others wrote stays; and
 * of what dead workers reported nothing is lost or there twice. The seed is printed;
 * MEISSA_TEST_SEED replays it. */
#include "job/block_checkpoint.h"

#include "job/undo_scene.h"
#include "net/road.h"

#define WORKERS 3
#define SLOTS   ((size_t)4 << 20)

static unsigned char *memory, *room;
static char *shelf;

/* A job on a random grid, its log and its slots; NULL-safe to close. */
typedef struct job {
  scene s;
  ms_undo undo;
  ms_block_checkpoint checkpoint;
} job;

static void open_job(job *j) {
  static const ms_strategy strategies[] = {MS_ROTATE, MS_INDEPENDENT, MS_SERIALLY};
  ms_error err = {0};
  make_scene(&j->s, true, memory);
  j->s.grid.strategy = strategies[draw(3)];
  for (uint32_t i = 0; i < j->s.count; i++) {
    ms_operand *operand = &j->s.operands[i];
    operand->writes.blind = draw(4) == 0;
    uint32_t dim = operand->writes.follow[0].dim;
    if (operand->writes.follows == 0 || operand->dim_count < 2 || draw(2) == 0) continue;
    operand->writes.follow[1] = (ms_follow){.dim = (dim + 1) % operand->dim_count,
                                            .axis = 1 - operand->writes.follow[0].axis,
                                            .scale = 1,
                                            .offset = draw(3)};
    operand->writes.follows = 2;
  }
  for (size_t w = 0; w < MEMORY / 8; w++)
    ((uint64_t *)(void *)memory)[w] = (uint64_t)draw(INT32_MAX);
  CHECK(ms_undo_divide(&j->undo, &j->s.grid, &j->s.bounds, j->s.operands, j->s.count, &err) == 0);
  CHECK(ms_block_checkpoint_divide(&j->checkpoint, &j->undo, WORKERS, &err) == 0);
  CHECK(j->undo.size <= LOG_SIZE && j->checkpoint.size <= SLOTS);
  ms_undo_attach(&j->undo, room, j->s.data);
  ms_block_checkpoint_attach(&j->checkpoint, room + j->undo.size);
  ms_undo_clear(&j->undo);
  for (uint32_t w = 0; w < WORKERS; w++) ms_block_checkpoint_clear(&j->checkpoint, w);
}

static void close_job(job *j) {
  ms_block_checkpoint_free(&j->checkpoint);
  ms_undo_free(&j->undo);
}

/* Whether the schedule may let two blocks run at the same time. */
static bool may_meet(const ms_grid *grid, uint32_t a, uint32_t b) {
  if (grid->strategy == MS_SERIALLY) return false;
  uint32_t axes = grid->strategy == MS_ROTATE ? grid->count : 1;
  for (uint32_t axis = 0; axis < axes; axis++) {
    if (ms_grid_range(grid, a, axis) == ms_grid_range(grid, b, axis)) return false;
  }
  return true;
}

/* What the job never reads need not be put back. */
static bool matters(const job *j, size_t at) {
  for (uint32_t i = 0; i < j->s.count; i++) {
    size_t first = (size_t)((unsigned char *)j->s.data[i] - memory);
    if (at >= first && at < first + SPREAD) return j->s.operands[i].writes.blind == 0;
  }
  return true;
}

/* Blocks of a job with lists run once. */
static bool has_lists(const job *j) {
  bool any = false;
  for (uint32_t i = 0; i < j->s.count; i++) any = any || j->s.operands[i].lists != NULL;
  return any;
}

/* A block dies while another runs: false when memory is not as it should be. `forget`: its image
 * is scribbled upon. *undone says whether it could be undone. */
static bool dies_alone(bool forget, bool *undone) {
  static unsigned char before[MEMORY], after[MEMORY];
  job j;
  open_job(&j);
  uint32_t blocks = ms_grid_blocks(&j.s.grid), block = (uint32_t)draw(blocks);
  for (uint32_t earlier = 0; earlier < (uint32_t)draw(blocks + 1); earlier++) {
    uint32_t one = (uint32_t)draw(blocks);
    if (one == block && has_lists(&j)) continue;
    CHECK(ms_undo_log(&j.undo, one, always, NULL) == 0);
    run_block(&j.s, one);
  }
  CHECK(ms_undo_log(&j.undo, block, always, NULL) == 0);
  size_t bytes = ms_block_checkpoint_bytes(&j.checkpoint);
  if (j.checkpoint.possible) ms_block_checkpoint_keep(&j.checkpoint, 1, block);
  memcpy(before, memory, sizeof before);
  run_block(&j.s, block);
  for (uint32_t other = 0; other < blocks; other++) { /* they begin and end meanwhile */
    if (!may_meet(&j.s.grid, block, other) || draw(2) == 0) continue;
    CHECK(ms_undo_log(&j.undo, other, always, NULL) == 0);
    memcpy(after, memory, sizeof after);
    run_block(&j.s, other);
    for (size_t k = 0; k < MEMORY; k++) {
      if (memory[k] != after[k]) before[k] = memory[k];
    }
  }
  if (forget && j.checkpoint.possible)
    memset(room + j.undo.size + j.checkpoint.slot_size, 7, j.checkpoint.slot_size);
  if (forget && j.checkpoint.possible) {
    atomic_store(&ms_block_checkpoint_at(&j.checkpoint, 1)->kept, (uint64_t)block + 1);
  }
  *undone = ms_block_checkpoint_undo(&j.checkpoint, 1, block);
  CHECK(*undone == j.checkpoint.possible);
  CHECK(!ms_block_checkpoint_undo(&j.checkpoint, 1, block + 1) &&
        !ms_block_checkpoint_undo(&j.checkpoint, 0, block));
  bool same = true;
  for (size_t k = 0; *undone && k < MEMORY; k++) {
    same = same && (memory[k] == before[k] || !matters(&j, k));
  }
  CHECK(!j.checkpoint.possible || bytes <= j.checkpoint.slot_size);
  close_job(&j);
  return same;
}

static void test_blocks(void) {
  int undone = 0, good = 1, forgotten = 0;
  bool was;
  for (int round = 0; round < 400; round++) {
    good &= dies_alone(false, &was);
    undone += was;
  }
  CHECK(good);
  CHECK(undone > 40 && undone < 400); /* both kinds are met */
  for (int round = 0; round < 200; round++) forgotten += !dies_alone(true, &was);
  CHECK(forgotten > 5); /* an image that is wrong is found out */
}

/* Workers report in pieces, send now and then, and die: what came and what is in the journal are
 * all, once. */
static bool reported(void) {
  static char said[1 << 20], heard[1 << 20];
  job j;
  open_job(&j);
  size_t length = 0, came = 0, noted = 0, size;
  for (int64_t piece = draw(40); piece > 0; piece--) {
    size_t more = (size_t)draw(draw(8) == 0 ? 200000 : 9000);
    if (length + more > sizeof said) break;
    for (size_t k = 0; k < more; k++) said[length + k] = (char)draw(256);
    length += more;
    bool prints = draw(6) == 0;
    if (!prints &&
        ms_block_checkpoint_note(&j.checkpoint, 2, shelf, said + noted, length - noted)) {
      noted = length;
      continue;
    }
    size_t part = draw(8) == 0 ? (size_t)draw((int64_t)(length - came) + 1) : length - came;
    memcpy(heard + came, said + came, part);
    came += part;
    if (came < length) break; /* it died while it sent */
    if (draw(8) == 0) break;  /* or right after */
    ms_block_checkpoint_sent(
        &j.checkpoint, 2,
        length - (size_t)atomic_load(&ms_block_checkpoint_at(&j.checkpoint, 2)->sent));
    noted = length;
  }
  /* of three blocks nothing was told */
  CHECK(ms_block_checkpoint_rest(&j.checkpoint, 2, 3, came, &size) < 0);
  ms_block_checkpoint_finish(&j.checkpoint, 2, 3, 10, 20);
  int64_t rest = ms_block_checkpoint_rest(&j.checkpoint, 2, 3, came, &size);
  bool good = rest >= 0 && came + size >= noted && came + size <= length;
  if (good) memcpy(heard + came, shelf + rest, size);
  good = good && memcmp(heard, said, came + size) == 0;
  close_job(&j);
  return good;
}

static void test_journal(void) {
  int good = 1;
  for (int round = 0; round < 500; round++) good &= reported();
  CHECK(good);
  job j;
  size_t size;
  open_job(&j);
  ms_block_checkpoint_slot *slot = ms_block_checkpoint_at(&j.checkpoint, 0);
  CHECK(ms_block_checkpoint_note(&j.checkpoint, 0, shelf, "12345", 5));
  atomic_store(&slot->sent, 3); /* more went than came */
  CHECK(ms_block_checkpoint_rest(&j.checkpoint, 0, 0, 2, &size) < 0);
  atomic_store(&slot->end, UINT64_MAX); /* scribbled upon */
  CHECK(ms_block_checkpoint_rest(&j.checkpoint, 0, 0, 4, &size) < 0);
  CHECK(!ms_block_checkpoint_note(&j.checkpoint, 0, shelf, "6", 1));
  ms_block_checkpoint_inherit(&j.checkpoint, 0);
  CHECK(ms_block_checkpoint_rest(&j.checkpoint, 0, 0, 0, &size) >= 0 && size == 0);
  close_job(&j);
}

/* A process that died while it copied a region: another one copies it, and all can be undone. */
static void test_release(void) {
  job j;
  int64_t before;
  for (int round = 0; round < 100; round++) {
    open_job(&j);
    uint32_t blocks = ms_grid_blocks(&j.s.grid), region;
    if (j.undo.region_count > 0) {
      static unsigned char all[MEMORY];
      memcpy(all, memory, sizeof all);
      region = (uint32_t)draw(j.undo.region_count);
      atomic_store(&j.undo.state[region], 2 + 5); /* copying, number 5 */
      atomic_fetch_add(j.undo.clock, (uint32_t)draw(2));
      ms_undo_release(&j.undo, 4);
      CHECK(atomic_load(&j.undo.state[region]) == 7);
      ms_undo_release(&j.undo, 5);
      for (uint32_t block = 0; block < blocks; block++) {
        CHECK(ms_undo_log(&j.undo, block, always, NULL) == 0);
        run_block(&j.s, block);
      }
      ms_undo_restore(&j.undo);
      before = memcmp(all, memory, sizeof all);
      CHECK(before == 0);
    }
    close_job(&j);
  }
}

int main(void) {
  seed();
  ms_test_limit(100);
  memory = shared(MEMORY);
  room = shared(LOG_SIZE + SLOTS);
  shelf = shared(MS_SHELF_SIZE);
  test_blocks();
  test_journal();
  test_release();
  return ms_test_end();
}
