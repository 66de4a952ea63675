/* SPDX-License-Identifier: MIT
 *
 * Merging: random blocks, rows, slices, threads, types and rules against one block after the
 * other, element by element; logs; failures. */
#include "sync/merge.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array/arith.h"
#include "base/test.h"

#define MOST_PARTS 24

static uint64_t state = 1;

static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

static void *room_for(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  if (memory == NULL) abort();
  return memory;
}

/* What the blocks of a stage have put into a buffer of `count` elements: as vectors, and taken. */
typedef struct stage {
  int64_t count;
  size_t parts;
  double *vectors[MOST_PARTS];
  ms_pending_part taken[MOST_PARTS];
} stage;

/* Blocks that touch some rows, of some length, and some elements of each; a few touch nothing. */
static stage make_stage(int64_t count, bool whole_numbers) {
  stage made = {.count = count, .parts = 1 + draw(MOST_PARTS - 1)};
  size_t kept = 0;
  for (size_t p = 0; p < made.parts; p++) {
    double *vector = room_for((size_t)count, sizeof *vector);
    double *copy = room_for((size_t)count, sizeof *copy);
    char *bytes = room_for(MS_PENDING_ROOM(count), 1);
    int64_t row = 1 + (int64_t)draw(40);
    uint64_t rare = 1 + draw(30), dense = 1 + draw(4);
    uint8_t *touched = room_for((size_t)MS_TOUCHED_BYTES(count), 1);
    for (int64_t first = 0; first < count; first += row) {
      if (draw(rare) != 0) continue;
      ms_touch_row(touched, first, count - first < row ? count - first : row);
      for (int64_t k = first; k < first + row && k < count; k++) {
        if (draw(dense) != 0) continue;
        vector[k] = whole_numbers ? (double)draw(9) - 4 : ((double)draw(2000) - 1000) / 7;
        if (draw(50) == 0) vector[k] = -0.0;
      }
    }
    memcpy(copy, vector, (size_t)count * sizeof *copy);
    size_t size = p % 2 == 0 ? ms_pending_take(copy, count, bytes)
                             : ms_pending_take_touched(copy, count, touched, bytes);
    free(copy);
    free(touched);
    made.vectors[kept] = vector;
    made.taken[kept++] = (ms_pending_part){bytes, size};
  }
  made.parts = kept;
  return made;
}

static void free_stage(stage *made) {
  for (size_t p = 0; p < made->parts; p++) {
    free(made->vectors[p]);
    free((void *)(size_t)made->taken[p].bytes);
  }
}

/* Blocks enough for more than one thread. */
static stage make_large(int64_t count) {
  for (;;) {
    stage made = make_stage(count, false);
    size_t taken = 0;
    for (size_t p = 0; p < made.parts; p++) taken += made.taken[p].size;
    if (taken > (size_t)4 << 20) return made;
    free_stage(&made);
  }
}

/* The definition. */
static void add_plainly(const stage *made, double *sum) {
  for (size_t p = 0; p < made->parts; p++) {
    for (int64_t k = 0; k < made->count; k++) {
      if (made->vectors[p][k] != 0) sum[k] += made->vectors[p][k];
    }
  }
}

/* ------------------------------------------------------------------------------------- logs */

/* Images of the elements that a log was told of. */
typedef struct images {
  const ms_array *array;
  double *image;
  bool *noted;
} images;

static void keep_image(void *context, const ms_array *array, int64_t first, int64_t count) {
  images *log = context;
  if (array != log->array) return;
  const double *data = array->data;
  for (int64_t k = first; k < first + count; k++) {
    if (log->noted[k]) continue;
    log->noted[k] = true;
    log->image[k] = data[k];
  }
}

/* Whether the log can undo everything, and was told of less than all where little is touched. */
static void check_images(const images *log, const double *before) {
  const double *now = log->array->data;
  for (int64_t k = 0; k < log->array->count; k++) {
    double undone = log->noted[k] ? log->image[k] : now[k];
    CHECK(memcmp(&undone, &before[k], sizeof undone) == 0);
  }
}

static ms_array *vector_of(int64_t count) {
  ms_error err = {0};
  ms_array *array = ms_array_dense(MS_DOUBLE, 1, &count, &err);
  if (array == NULL) abort();
  double *data = array->data;
  for (int64_t k = 0; k < count; k++) data[k] = draw(9) == 0 ? -0.0 : ((double)draw(999) - 500) / 3;
  return array;
}

/* A stage to be merged into one vector, what must come out, and a log of what was there before. */
typedef struct scene {
  stage made;
  ms_array *array;
  double *before, *expected;
  images log;
  ms_merge_log told;
  ms_merge merge;
} scene;

/* The stage is the scene's from here on; its parts stay where they are. */
static void set_up(scene *s, stage made) {
  size_t elements = (size_t)made.count;
  *s = (scene){.made = made, .array = vector_of(made.count)};
  s->before = room_for(elements, sizeof *s->before);
  s->expected = room_for(elements, sizeof *s->expected);
  memcpy(s->before, s->array->data, elements * sizeof *s->before);
  memcpy(s->expected, s->array->data, elements * sizeof *s->expected);
  add_plainly(&s->made, s->expected);
  s->log = (images){s->array, room_for(elements, sizeof(double)), room_for(elements, 1)};
  s->told = (ms_merge_log){keep_image, &s->log};
  s->merge = (ms_merge){
      .arrays = &s->array, .array_count = 1, .parts = s->made.taken, .part_count = s->made.parts};
}

/* What was merged is right, and the log, if it was told, can undo it. */
static void finish(scene *s, bool logged) {
  CHECK(memcmp(s->array->data, s->expected, (size_t)s->array->count * sizeof(double)) == 0);
  if (logged) check_images(&s->log, s->before);
  free(s->log.image);
  free(s->log.noted);
  free(s->before);
  free(s->expected);
  ms_array_release(s->array);
  free_stage(&s->made);
}

/* ------------------------------------------------------------------------------------- sums */

/* Slices of any size, by ranges that come in any order. */
static void test_slices(void) {
  for (int round = 0; round < 150; round++) {
    int64_t count = 1 + (int64_t)draw(3000), cuts[5] = {0};
    scene s;
    set_up(&s, make_stage(count, false));
    for (int c = 1; c < 4; c++)
      cuts[c] = cuts[c - 1] + (int64_t)draw((uint64_t)(count - cuts[c - 1]) + 1);
    cuts[4] = count;
    for (int c = 4; c-- > 0;) {
      ms_error err = {0};
      CHECK(ms_merge_range(s.array->data, count, &s.merge, cuts[c], cuts[c + 1],
                           1 + (int64_t)draw(700), &s.told, &err) == 0);
    }
    finish(&s, true);
  }
}

/* Vectors that are large enough for several threads, and the log then. */
static void test_threads(void) {
  int64_t count = 400000;
  for (int round = 0; round < 3; round++) {
    scene s;
    ms_error err = {0};
    set_up(&s, make_large(count));
    CHECK(ms_merge_all(&s.merge, 1, round == 0 ? NULL : &s.told, &err) == 0);
    finish(&s, round > 0);
  }
}

/* An untouched slice is no business of the log's. */
static void count_elements(void *context, const ms_array *array, int64_t first, int64_t count) {
  (void)array;
  (void)first;
  *(int64_t *)context += count;
}

static void test_untouched(void) {
  int64_t count = 100000, told = 0;
  ms_array *array = vector_of(count);
  double *pending = room_for((size_t)count, sizeof *pending);
  char *bytes = room_for(MS_PENDING_ROOM(count), 1);
  pending[77777] = 1;
  ms_pending_part part = {bytes, ms_pending_take(pending, count, bytes)};
  ms_merge_log log = {count_elements, &told};
  ms_merge merge = {.arrays = &array, .array_count = 1, .parts = &part, .part_count = 1};
  ms_error err = {0};
  CHECK(ms_merge_all(&merge, 1, &log, &err) == 0 && told > 0 && told < count / 10);
  free(bytes);
  free(pending);
  ms_array_release(array);
}

/* ------------------------------------------------------------------------------------ types */

/* Targets of other types and of any strides. */
static void test_types(void) {
  static const int types[] = {MS_FLOAT, MS_INT32, MS_INT64, MS_DOUBLE};
  for (int round = 0; round < 80; round++) {
    ms_error err = {0};
    int64_t dims[] = {1 + (int64_t)draw(9), 2 + (int64_t)draw(9)};
    ms_array *base = ms_array_dense(types[round % 4], 2, dims, &err);
    ms_array *target = ms_array_transpose(base, 0, 1, &err);
    int64_t count = target->count;
    stage made = make_stage(count, true);
    double *expected = room_for((size_t)count, sizeof *expected);
    for (int64_t k = 0; k < count; k++) expected[k] = (double)draw(50);
    ms_array *start = ms_array_foreign(MS_DOUBLE, 2, target->dims, NULL, expected, NULL, 0, &err);
    CHECK(ms_arith_array(MS_ARITH_COPY, target, start, 0, &err) == 0);
    add_plainly(&made, expected);
    ms_merge merge = {
        .arrays = &target, .array_count = 1, .parts = made.taken, .part_count = made.parts};
    CHECK(ms_merge_all(&merge, 1, NULL, &err) == 0);
    ms_array *wide = ms_array_dense(MS_DOUBLE, 2, target->dims, &err);
    CHECK(ms_arith_array(MS_ARITH_COPY, wide, target, 0, &err) == 0);
    const double *got = wide->data;
    for (int64_t k = 0; k < count; k++) CHECK(got[k] == expected[k]);
    ms_array_release(wide);
    ms_array_release(start);
    ms_array_release(target);
    ms_array_release(base);
    free(expected);
    free_stage(&made);
  }
}

/* A value that the type cannot hold changes nothing. */
static void test_unfit(void) {
  ms_error err = {0};
  int64_t count = 5;
  ms_array *array = ms_array_dense(MS_INT32, 1, &count, &err);
  double pending[] = {1, 0, 0, 0.5, 0};
  char bytes[MS_PENDING_ROOM(5)];
  ms_pending_part part = {bytes, ms_pending_take(pending, 5, bytes)};
  ms_merge merge = {.arrays = &array, .array_count = 1, .parts = &part, .part_count = 1};
  CHECK(ms_merge_all(&merge, 1, NULL, &err) == -1 && err.code == MS_ARR);
  const int32_t *data = array->data;
  for (int k = 0; k < 5; k++) CHECK(data[k] == 0);
  ms_array_release(array);
}

static void test_malformed(void) {
  ms_error err = {0};
  ms_array *array = vector_of(20);
  char bytes[7] = {0};
  ms_pending_part part = {bytes, sizeof bytes};
  ms_merge merge = {.arrays = &array, .array_count = 1, .parts = &part, .part_count = 1};
  CHECK(ms_merge_all(&merge, 1, NULL, &err) == -1 && err.code == MS_BUG);
  ms_array_release(array);
}

/* ------------------------------------------------------------------------------------ rules */

/* A rule that remembers: what it makes of an element depends on all that it was given before. */
typedef struct memory {
  double before;
  int64_t calls, fails; /* at that element; -1: never */
} memory;

static int remember(void *context, const int64_t *at, const double *pending, int64_t count,
                    double *const *vectors) {
  memory *rule = context;
  for (int64_t k = 0; k < count; k++) {
    if (rule->calls++ == rule->fails) return -1;
    double old = vectors[0][at[k]], help = vectors[1][at[k]];
    rule->before = 0.5 * rule->before + pending[k];
    vectors[0][at[k]] = old + help * rule->before;
    vectors[1][at[k]] = help + 1;
  }
  return 0;
}

static void apply_plainly(const stage *made, memory *rule, double *target, double *helper) {
  double *vectors[] = {target, helper};
  for (size_t p = 0; p < made->parts; p++) {
    for (int64_t k = 0; k < made->count; k++) {
      if (made->vectors[p][k] != 0) remember(rule, &k, &made->vectors[p][k], 1, vectors);
    }
  }
}

static void test_rules(void) {
  for (int round = 0; round < 60; round++) {
    int64_t count = 1 + (int64_t)draw(round < 50 ? 500 : 30000);
    stage made = make_stage(count, false);
    ms_array *arrays[] = {vector_of(count), vector_of(made.count)};
    size_t size = (size_t)count * sizeof(double);
    double *target = room_for((size_t)count, sizeof *target);
    double *helper = room_for((size_t)count, sizeof *helper);
    double *before = room_for((size_t)count, sizeof *before);
    memcpy(target, arrays[0]->data, size);
    memcpy(before, target, size);
    memcpy(helper, arrays[1]->data, size);
    memory rule = {.fails = -1}, plain = {.fails = -1};
    apply_plainly(&made, &plain, target, helper);
    images log = {arrays[0], room_for((size_t)count, sizeof(double)), room_for((size_t)count, 1)};
    ms_merge_log told = {keep_image, &log};
    ms_merge merge = {.arrays = arrays,
                      .array_count = 2,
                      .apply = remember,
                      .context = &rule,
                      .parts = made.taken,
                      .part_count = made.parts};
    ms_error err = {0};
    bool fails = round % 3 == 0 && plain.calls > 0;
    if (fails) rule.fails = (int64_t)draw((uint64_t)plain.calls);
    CHECK(ms_merge_all(&merge, 1, &told, &err) == (fails ? -1 : 0) && err.code == MS_OK);
    CHECK(fails || memcmp(arrays[0]->data, target, size) == 0);
    CHECK(fails || memcmp(arrays[1]->data, helper, size) == 0);
    CHECK(fails || rule.calls == plain.calls);
    check_images(&log, before);
    free(log.image);
    free(log.noted);
    free(before);
    free(helper);
    free(target);
    for (int a = 0; a < 2; a++) ms_array_release(arrays[a]);
    free_stage(&made);
  }
}

/* A helper that is the target itself gets its own results last. */
static void test_shared_memory(void) {
  ms_error err = {0};
  ms_array *arrays[] = {vector_of(10), NULL};
  arrays[1] = ms_array_narrow(arrays[0], 0, 0, 10, &err);
  double expected[10], helper[10], pending[10] = {0, 2, 0, 0, 5};
  memcpy(helper, arrays[0]->data, sizeof helper);
  memcpy(expected, helper, sizeof helper);
  char bytes[MS_PENDING_ROOM(10)];
  ms_pending_part part = {bytes, ms_pending_take(pending, 10, bytes)};
  memory rule = {.fails = -1};
  ms_merge merge = {.arrays = arrays,
                    .array_count = 2,
                    .apply = remember,
                    .context = &rule,
                    .parts = &part,
                    .part_count = 1};
  CHECK(ms_merge_all(&merge, 1, NULL, &err) == 0);
  expected[1] = helper[1] + 1;
  expected[4] = helper[4] + 1;
  CHECK(memcmp(arrays[0]->data, expected, sizeof expected) == 0);
  ms_array_release(arrays[1]);
  ms_array_release(arrays[0]);
}

int main(void) {
  ms_test_limit(120);
  test_slices();
  test_threads();
  test_untouched();
  test_types();
  test_unfit();
  test_malformed();
  test_rules();
  test_shared_memory();
  return ms_test_end();
}
