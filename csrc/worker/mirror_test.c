/* SPDX-License-Identifier: MIT
 *
 * Values that another worker's blocks hand over, in as many frames as it likes: they come to the
 * places on its blocks' lists, and frames that do not go on where the one before ended change
 * nothing. */
#include "worker/mirror.h"

#include <stdlib.h>
#include <string.h>

#include "base/test.h"
#include "worker/worker_state.h"

#define BLOCKS  6
#define WORKERS 2
#define PLACES  60 /* elements that a block may have */
#define COUNT   (BLOCKS * PLACES)

static const ms_grid grid = {.strategy = MS_WAVEFRONT, .count = 2, .ranges = {2, 3}};
static const ms_owner owner[] = {{0, MS_WHOLE}, {1, MS_WHOLE}};

/* A worker, its mirror, and by block the numbers of the elements on its list. */
typedef struct scene {
  ms_worker worker;
  ms_mirror mirror;
  ms_operand operand;
  ms_listed_share coming[WORKERS];
  int64_t head[2 * (BLOCKS + 1)], values[COUNT];
  char bytes[COUNT * MS_RUN_BYTES];
  int64_t list[BLOCKS][PLACES], count[BLOCKS];
} scene;

/* Elements of any block may lie anywhere; no two have the same. */
static void draw_lists(scene *s) {
  int64_t *at = s->head, *before = s->head + BLOCKS + 1;
  char *next = s->bytes;
  for (int64_t b = 0; b < BLOCKS; b++) {
    int64_t last = 0;
    at[b] = next - s->bytes;
    for (int64_t i = 0; i < PLACES; i++) {
      int64_t element = i * BLOCKS + b;
      if (rand() % 3 == 0) continue;
      s->list[b][s->count[b]++] = element;
      next = ms_element_lists_write_run(next, last, element, 1);
      last = element + 1;
    }
    before[b + 1] = before[b] + s->count[b];
  }
  at[BLOCKS] = next - s->bytes;
}

static void open_scene(scene *s) {
  ms_error err = {0};
  memset(s, 0, sizeof *s);
  draw_lists(s);
  s->operand = (ms_operand){.element = 8, .dim_count = 1, .dims = {COUNT}, .strides = {1}};
  s->mirror = (ms_mirror){.now = ms_elements_of(&s->operand, s->values, true)};
  s->mirror.coming = s->coming;
  CHECK(ms_element_lists_open(&s->mirror.handed, s->head, s->bytes, (uint64_t)s->head[BLOCKS],
                              BLOCKS, COUNT));
  s->worker.schedule = ms_schedule_new(&grid, owner, WORKERS, &err);
  CHECK(s->worker.schedule != NULL);
}

static uint32_t own(const scene *s, uint32_t worker, uint32_t rank) {
  return ms_schedule_own(s->worker.schedule, worker, rank);
}

/* Values of a worker's blocks of ranks `first` .. `last`: where they belong, and how many. */
static int64_t places_of(const scene *s, uint32_t worker, uint32_t first, uint32_t last,
                         int64_t *places) {
  int64_t count = 0;
  for (uint32_t rank = first; rank <= last; rank++) {
    uint32_t block = own(s, worker, rank);
    for (int64_t i = 0; i < s->count[block]; i++) places[count++] = s->list[block][i];
  }
  return count;
}

static int apply(scene *s, uint32_t from, uint64_t first, uint64_t last, int64_t done,
                 int64_t count, const int64_t *values) {
  ms_frame frame = {
      .kind = MS_SAY_VALUES, .size = (uint64_t)count * 8, .a = {0, last, first, (uint64_t)done}};
  return ms_mirror_apply(&s->worker, &s->mirror, from, &frame, (const char *)values);
}

/* Both workers' shares, cut into frames anyhow, which come one from this and one from that. */
static void check_frames(void) {
  static scene s;
  int64_t expected[COUNT] = {0}, places[WORKERS][COUNT], values[COUNT];
  open_scene(&s);
  for (uint32_t first = 0, last; first < 3; first = last + 1) {
    last = first + (uint32_t)(rand() % (int)(3 - first));
    int64_t done[WORKERS] = {0}, count[WORKERS];
    for (uint32_t w = 0; w < WORKERS; w++) count[w] = places_of(&s, w, first, last, places[w]);
    while (done[0] < count[0] || done[1] < count[1]) {
      uint32_t w = (uint32_t)(rand() % WORKERS);
      int64_t left = count[w] - done[w], take = left < 1 ? 0 : 1 + rand() % left;
      if (take == 0) continue;
      for (int64_t i = 0; i < take; i++) {
        values[i] = 1 + rand();
        expected[places[w][done[w] + i]] = values[i];
      }
      CHECK(apply(&s, w, own(&s, w, first), own(&s, w, last), done[w], take, values) == 0);
      done[w] += take;
    }
  }
  CHECK(memcmp(expected, s.values, sizeof expected) == 0);
  ms_schedule_destroy(&s.worker.schedule);
}

/* What no worker would send. */
static void check_foul(void) {
  static scene s;
  static const int64_t values[COUNT];
  int64_t expected[COUNT], places[COUNT];
  open_scene(&s);
  for (int64_t i = 0; i < COUNT; i++) expected[i] = s.values[i] = 1 + i;
  uint32_t b = own(&s, 1, 0), c = own(&s, 1, 1), d = own(&s, 1, 2);
  int64_t count = places_of(&s, 1, 0, 1, places);
  CHECK(apply(&s, 1, b, c, 4, 1, values) != 0);             /* none before it */
  CHECK(apply(&s, 1, b, c, 0, count + 1, values) != 0);     /* more than there are */
  CHECK(apply(&s, 1, own(&s, 0, 0), c, 0, 1, values) != 0); /* somebody else's block */
  CHECK(apply(&s, 1, UINT64_MAX, c, 0, 1, values) != 0);    /* no block */
  CHECK(apply(&s, 1, c, b, 0, 1, values) != 0);             /* backwards */
  CHECK(apply(&s, 1, b, c, 0, 4, (int64_t[]){-1, -1, -1, -1}) == 0);
  for (int i = 0; i < 4; i++) expected[places[i]] = -1;
  CHECK(apply(&s, 1, b, c, 3, 1, values) != 0);         /* once more */
  CHECK(apply(&s, 1, b, c, 5, 1, values) != 0);         /* one is left out */
  CHECK(apply(&s, 1, b, c, -1, 1, values) != 0);        /* far out */
  CHECK(apply(&s, 1, b, d, 4, 1, values) != 0);         /* of another share */
  CHECK(apply(&s, 0, b, c, 4, 1, values) != 0);         /* by somebody else */
  CHECK(apply(&s, 1, b, c, 4, count - 3, values) != 0); /* beyond its end */
  CHECK(memcmp(expected, s.values, sizeof expected) == 0);
  CHECK(apply(&s, 1, b, c, 4, count - 4, values) == 0);
  CHECK(apply(&s, 1, b, c, count, 1, values) != 0); /* behind its end */
  for (int64_t i = 4; i < count; i++) expected[places[i]] = 0;
  CHECK(memcmp(expected, s.values, sizeof expected) == 0);
  ms_schedule_destroy(&s.worker.schedule);
}

int main(void) {
  ms_test_limit(100);
  srand(5);
  for (int i = 0; i < 200; i++) {
    check_frames();
    check_foul();
  }
  return ms_test_end();
}
