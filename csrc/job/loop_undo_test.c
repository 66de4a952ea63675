/* SPDX-License-Identifier: MIT
 *
 * Loop undo: random loops of several stages, each of blocks that log and write, some of which are
 * undone and run again, and of merging into arrays that may lie in the same memory; whenever the
 * loop ends, all that was written is put back. The seed is printed; MEISSA_TEST_SEED replays it. */
#include "job/loop_undo.h"

#include "job/undo_scene.h"

#define ARRAYS    3
#define LOOP_SIZE ((size_t)4 << 20)

static unsigned char before[MEMORY], began[MEMORY];

/* Runs blocks of a stage in random order; the stage's log is left. */
static void run_some(scene *s, ms_undo *undo, uint32_t most) {
  uint32_t blocks = ms_grid_blocks(&s->grid);
  for (uint32_t step = 0; undo->size > 0 && step < most; step++) {
    uint32_t block = (uint32_t)draw(blocks);
    CHECK(ms_undo_log(undo, block, always, NULL) == 0);
    run_block(s, block);
  }
}

/* An array of any type, anywhere in the memory: it may share elements with operands and others. */
static ms_array *make_array(unsigned char *memory) {
  static const int types[] = {MS_FLOAT, MS_DOUBLE, MS_INT32, MS_INT64};
  ms_error err = {0};
  int64_t dims[] = {1 + draw(300), 1 + draw(200)}, strides[] = {dims[1] + draw(3), 1};
  unsigned char *data = memory + (size_t)draw((int64_t)(MEMORY - SPREAD) / 8) * 8;
  ms_array *array =
      ms_array_foreign(types[draw(4)], 1 + (int)draw(2), dims, strides, data, NULL, 0, &err);
  if (array == NULL) abort();
  if (array->dim_count == 1) array->strides[0] = 1 + draw(2);
  return array;
}

/* Writes some elements of an array, having told of them, or of more. */
static void merge_into(ms_array *array, const ms_merge_log *log) {
  ms_operand operand = {.element = (uint32_t)ms_type_of(array->type)->size,
                        .dim_count = (uint32_t)array->dim_count};
  memcpy(operand.dims, array->dims, sizeof operand.dims);
  memcpy(operand.strides, array->strides, sizeof operand.strides);
  ms_strided box = ms_operand_box(&operand, array->data, false);
  for (int64_t times = draw(4); times-- > 0;) {
    int64_t first = draw(array->count), count = 1 + draw(array->count - first);
    log->note(log->context, array, first, count);
    for (int64_t k = first; k < first + count; k++) {
      uint64_t value = (uint64_t)draw(INT32_MAX);
      if (draw(3) > 0) ms_strided_scatter(&box, k, 1, &value);
    }
  }
}

/* One stage; false when it is the one that fails. */
static bool run_stage(scene *s, void *log, ms_loop_undo *loop, ms_array **arrays,
                      const unsigned char *memory, bool fails) {
  ms_undo undo;
  ms_error err = {0};
  ms_merge_log merging;
  memcpy(began, memory, MEMORY);
  CHECK(ms_undo_divide(&undo, &s->grid, &s->bounds, s->operands, s->count, &err) == 0);
  ms_undo_attach(&undo, log, s->data);
  ms_undo_clear(&undo);
  run_some(s, &undo, (uint32_t)draw(8));
  if (fails || draw(3) == 0) { /* it is undone, and run again if the loop goes on */
    ms_undo_restore(&undo);
    CHECK(memcmp(began, memory, MEMORY) == 0);
    ms_undo_clear(&undo);
    for (uint32_t p = 0; p < undo.part_count; p++) undo.parts[p].logged = false;
    if (!fails) run_some(s, &undo, (uint32_t)draw(8));
  }
  if (!fails && loop->undo.size > 0) ms_undo_fold(&loop->undo, &undo);
  ms_undo_free(&undo);
  for (int a = 0; !fails && a < ARRAYS; a++) {
    merge_into(arrays[a], ms_loop_undo_merging(loop, &merging));
  }
  return !fails;
}

/* Whether all comes back. `forget`: one image is left out of the log. */
static bool comes_back(unsigned char *memory, void *log, void *loop_log, bool forget) {
  scene s;
  ms_loop_undo loop;
  ms_error err = {0};
  ms_array *arrays[ARRAYS], *listed[ARRAYS + 1];
  make_scene(&s, draw(2) == 0, memory);
  for (size_t w = 0; w < MEMORY / 8; w++) {
    ((uint64_t *)(void *)memory)[w] = (uint64_t)draw(INT32_MAX);
  }
  memcpy(before, memory, MEMORY);
  for (int a = 0; a < ARRAYS; a++) listed[a] = arrays[a] = make_array(memory);
  listed[ARRAYS] = arrays[0]; /* told of twice */
  CHECK(ms_loop_undo_divide(&loop, &s.grid, &s.bounds, s.operands, s.data, s.count, listed,
                            ARRAYS + 1, &err) == 0);
  CHECK(loop.undo.size <= LOOP_SIZE && loop.array_count == ARRAYS);
  ms_loop_undo_attach(&loop, loop_log);
  int64_t stages = 1 + draw(4), failing = draw(8);
  for (int64_t stage = 0; stage < stages; stage++) {
    if (!run_stage(&s, log, &loop, arrays, memory, stage == failing)) break;
  }
  if (forget) atomic_store(&loop.undo.order[0], 0);
  ms_undo_restore(&loop.undo);
  ms_loop_undo_free(&loop);
  for (int a = 0; a < ARRAYS; a++) ms_array_release(arrays[a]);
  return memcmp(before, memory, MEMORY) == 0;
}

static void test_random_loops(void) {
  unsigned char *memory = shared(MEMORY);
  void *log = shared(LOG_SIZE), *loop_log = shared(LOOP_SIZE);
  int forgotten = 0;
  for (int round = 0; round < 250; round++) CHECK(comes_back(memory, log, loop_log, false));
  for (int round = 0; round < 60; round++) {
    forgotten += !comes_back(memory, log, loop_log, true);
  }
  CHECK(forgotten > 10); /* a log that forgets is found out */
  munmap(memory, MEMORY);
  munmap(log, LOG_SIZE);
  munmap(loop_log, LOOP_SIZE);
}

/* Where nothing is logged, merging has nobody to tell. */
static void test_absent(void) {
  ms_merge_log merging;
  CHECK(ms_loop_undo_merging(NULL, &merging) == NULL);
}

int main(void) {
  seed();
  ms_test_limit(100);
  test_random_loops();
  test_absent();
  return ms_test_end();
}
