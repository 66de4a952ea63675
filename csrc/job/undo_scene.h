/* SPDX-License-Identifier: MIT
 *
 * Random jobs for the tests of undo and checkpoints: operands in one memory, written along the
 * ranges of a grid or anywhere, and blocks that write by the definition, element by element. */
#ifndef MS_JOB_UNDO_SCENE_H
#define MS_JOB_UNDO_SCENE_H

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/test.h"
#include "job/undo.h"

#define SPREAD   ((size_t)512 << 10) /* bytes that an operand's elements lie in */
#define MEMORY   (MOST * SPREAD)
#define LOG_SIZE ((size_t)2 << 20)
#define LARGE    512 /* bytes of elements that make an operand large: its regions are ranges */
#define MOST     3   /* operands, dimensions */
#define BLOCKS   36
#define ELEMENTS 400 /* of an operand */

static uint64_t state;

static int64_t draw(int64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)below);
}

/* A job: operands in one memory, a grid with bounds, and where each operand lies. */
typedef struct scene {
  ms_grid grid;
  int64_t starts[2][32];
  ms_range_starts bounds;
  ms_operand operands[MOST];
  ms_section sections[MOST][64];  /* more than three boxes make */
  uint32_t owner[MOST][ELEMENTS]; /* with lists: the block that may write an element, or more */
  int64_t head[MOST][2 * (BLOCKS + 1)];
  char bytes[MOST][ELEMENTS * MS_RUN_BYTES];
  ms_element_lists lists[MOST];
  void *data[MOST];
  uint32_t count;
} scene;

/* `low` .. `high` of the rows that the operand's writes follow hold all that its ranges reach. */
static void follow(scene *s, ms_operand *operand) {
  ms_follow *writes = &operand->writes.follow[0];
  operand->writes.follows = 1;
  writes->dim = (uint32_t)draw(operand->dim_count);
  writes->axis = (uint32_t)draw(s->grid.count);
  int64_t rows = operand->dims[writes->dim];
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

/* Leaves the operand a few boxes. */
static void cut(scene *s, ms_operand *operand, uint32_t number) {
  ms_section given[3];
  uint32_t count = 1 + (uint32_t)draw(3);
  for (uint32_t k = 0; k < count; k++) {
    for (uint32_t d = 0; d < operand->dim_count; d++) {
      given[k].low[d] = draw(operand->dims[d]);
      given[k].high[d] = given[k].low[d] + 1 + draw(operand->dims[d] - given[k].low[d]);
    }
  }
  static ms_section apart[MS_MOST_SECTIONS];
  operand->section_count = ms_sections_disjoin(given, count, operand->dim_count, apart);
  operand->sections = memcpy(s->sections[number], apart, sizeof s->sections[number]);
}

/* Gives an operand lists: each element may be written by one block, or by none. */
static void list(scene *s, uint32_t number) {
  ms_operand *operand = &s->operands[number];
  uint32_t blocks = ms_grid_blocks(&s->grid), density = 1 + (uint32_t)draw(6);
  int64_t count = ms_operand_elements(operand), *at = s->head[number], *before = at + blocks + 1;
  char *out = s->bytes[number];
  for (int64_t e = 0; e < count; e++) s->owner[number][e] = (uint32_t)draw(blocks * density);
  for (uint32_t b = 0; b < blocks; b++) {
    int64_t last = 0, end;
    at[b] = out - s->bytes[number];
    before[b + 1] = before[b];
    for (int64_t e = 0; e < count; e = end + (end == e)) {
      for (end = e; end < count && s->owner[number][end] == b;) end++;
      if (end == e) continue;
      out = ms_element_lists_write_run(out, last, e, end - e);
      before[b + 1] += end - e;
      last = end;
    }
  }
  at[blocks] = out - s->bytes[number];
  CHECK(ms_element_lists_open(&s->lists[number], at, s->bytes[number], (uint64_t)at[blocks], blocks,
                              count));
  operand->lists = &s->lists[number];
  operand->writes.follows = 0;
  for (uint32_t d = 0; d < operand->dim_count; d++) {
    operand->writes.low[d] = 0;
    operand->writes.high[d] = operand->dims[d];
  }
}

static void make_operand(scene *s, uint32_t number, bool apart, unsigned char *memory) {
  ms_operand *operand = &s->operands[number];
  *operand = (ms_operand){.movement = MS_MOVE_SCATTERED, .written = 1};
  static const uint32_t elements[] = {4, 8, LARGE, LARGE};
  operand->element = elements[draw(4)];
  operand->dim_count = 1 + (uint32_t)draw(MOST);
  int64_t stride = 1;
  for (uint32_t d = operand->dim_count; d-- > 0;) {
    operand->dims[d] = 1 + draw(operand->dim_count == 1 ? 400 : operand->dim_count == 2 ? 20 : 7);
    operand->strides[d] = stride;
    stride *= operand->dims[d] + draw(2); /* rows may be padded */
    operand->writes.low[d] = draw(operand->dims[d]);
    operand->writes.high[d] =
        operand->writes.low[d] + draw(operand->dims[d] - operand->writes.low[d] + 1);
  }
  if (draw(2)) {
    follow(s, operand);
    uint32_t d = operand->writes.follow[0].dim;
    operand->writes.low[d] = 0;
    operand->writes.high[d] = operand->dims[d];
  }
  if (draw(2)) cut(s, operand, number);
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
  for (uint32_t i = 0; i < s->count; i++) {
    make_operand(s, i, apart, memory);
    if (draw(3) == 0 && s->operands[i].sections == NULL) list(s, i);
  }
}

/* Whether an index of the block's range of the followed axis leads to the row `at`. */
static bool leads_to(const scene *s, const ms_follow *follow, uint32_t block, int64_t at) {
  uint32_t range = ms_grid_range(&s->grid, block, follow->axis);
  int64_t index = s->starts[follow->axis][range], end = s->starts[follow->axis][range + 1];
  for (; index != end; index += end > index ? 1 : -1) {
    if (follow->scale * index + follow->offset == at + 1) return true;
  }
  return false;
}

/* What a block may write of an operand: by the definition, element by element. */
static bool may_write(const scene *s, const ms_operand *operand, uint32_t block,
                      const int64_t *at) {
  const ms_writes *writes = &operand->writes;
  for (uint32_t d = 0; d < operand->dim_count; d++) {
    if (at[d] < writes->low[d] || at[d] >= writes->high[d]) return false;
  }
  bool inside = operand->sections == NULL;
  for (uint32_t n = 0; n < operand->section_count; n++) {
    bool in = true;
    for (uint32_t d = 0; d < operand->dim_count; d++) {
      in = in && at[d] >= operand->sections[n].low[d] && at[d] < operand->sections[n].high[d];
    }
    inside = inside || in;
  }
  if (!inside) return false;
  for (uint32_t k = 0; k < writes->follows; k++) {
    if (!leads_to(s, &writes->follow[k], block, at[writes->follow[k].dim])) return false;
  }
  return true;
}

/* Writes most of what a block may write. */
static void run_block(const scene *s, uint32_t block) {
  for (uint32_t i = 0; i < s->count; i++) {
    const ms_operand *operand = &s->operands[i];
    ms_strided box = ms_operand_box(operand, s->data[i], false);
    int64_t count = ms_strided_count(&box);
    for (int64_t k = 0; k < count; k++) {
      int64_t at[MS_ARRAY_DIMS], rest = k;
      for (uint32_t d = operand->dim_count; d-- > 0;) {
        at[d] = rest % operand->dims[d];
        rest /= operand->dims[d];
      }
      uint64_t value[LARGE / 8] = {(uint64_t)draw(INT32_MAX)};
      if (!may_write(s, operand, block, at) || draw(4) == 0) continue;
      if (operand->lists != NULL && s->owner[i][k] != block) continue;
      ms_strided_scatter(&box, k, 1, value);
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

/* Takes the seed from MEISSA_TEST_SEED or the clock, and prints it. */
static void seed(void) {
  const char *given = getenv("MEISSA_TEST_SEED");
  state = given != NULL ? (uint64_t)atoll(given) : (uint64_t)time(NULL);
  printf("seed %llu\n", (unsigned long long)state);
}

#endif
