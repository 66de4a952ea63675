/* SPDX-License-Identifier: MIT
 *
 * Elements: random lists of overlapping sections against a bitmap; sequences, changes and logs of
 * operands that consist of some against element by element copies. */
#include "job/elements.h"

#include <stdint.h>
#include <string.h>

#include "base/test.h"
#include "job/report.h"
#include "job/undo.h"

#define MOST   8 /* rows of a dimension */
#define MEMORY (MOST * MOST * MOST * 2)
#define GIVEN  6

static uint64_t state = 88172645463325252u;

static int64_t pick(int64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int64_t)(state % (uint64_t)below);
}

/* An operand of sections that were made of overlapping ones. */
typedef struct scene {
  ms_operand operand;
  ms_section given[GIVEN], apart[MS_MOST_SECTIONS];
  uint32_t given_count;
} scene;

static bool contains(const ms_section *section, const int64_t *at, uint32_t dims) {
  for (uint32_t d = 0; d < dims; d++) {
    if (at[d] < section->low[d] || at[d] >= section->high[d]) return false;
  }
  return true;
}

static void make_scene(scene *s) {
  ms_operand *operand = &s->operand;
  *operand = (ms_operand){.element = 4, .dim_count = 1 + (uint32_t)pick(3)};
  int64_t stride = 1 + pick(2);
  for (uint32_t d = operand->dim_count; d-- > 0; stride *= operand->dims[d]) {
    operand->dims[d] = 1 + pick(MOST);
    operand->strides[d] = stride;
  }
  s->given_count = 1 + (uint32_t)pick(GIVEN);
  for (uint32_t k = 0; k < s->given_count; k++) {
    for (uint32_t d = 0; d < operand->dim_count; d++) {
      s->given[k].low[d] = pick(operand->dims[d]);
      s->given[k].high[d] = s->given[k].low[d] + pick(operand->dims[d] - s->given[k].low[d] + 1);
    }
  }
  operand->section_count =
      ms_sections_disjoin(s->given, s->given_count, operand->dim_count, s->apart);
  operand->sections = s->apart;
}

/* The subscripts of element `number` of the whole operand. */
static void locate(const ms_operand *operand, int64_t number, int64_t *at) {
  for (uint32_t d = operand->dim_count; d-- > 0; number /= operand->dims[d]) {
    at[d] = number % operand->dims[d];
  }
}

static int64_t place_of(const ms_operand *operand, const int64_t *at, bool dense) {
  int64_t place = 0;
  for (uint32_t d = 0; d < operand->dim_count; d++) {
    place = dense ? place * operand->dims[d] + at[d] : place + at[d] * operand->strides[d];
  }
  return place;
}

/* Sections have no common elements, and together those of the given ones. */
static void check_sections(const scene *s, int64_t *count) {
  const ms_operand *operand = &s->operand;
  bool good = true;
  *count = 0;
  for (int64_t number = 0; number < (int64_t)(ms_operand_bytes(operand) / 4); number++) {
    int64_t at[MS_ARRAY_DIMS], in = 0;
    bool given = false;
    locate(operand, number, at);
    for (uint32_t k = 0; k < s->given_count; k++) {
      given = given || contains(&s->given[k], at, operand->dim_count);
    }
    for (uint32_t k = 0; k < operand->section_count; k++) {
      in += contains(&s->apart[k], at, operand->dim_count);
    }
    good = good && in == given;
    *count += in;
  }
  CHECK(good);
}

static int32_t driver[MEMORY], worker[MEMORY], packed[MEMORY], before[MEMORY];

/* Elements get from one memory to the other, in pieces, and nothing else does. */
static void check_travel(const scene *s, int64_t count) {
  const ms_operand *operand = &s->operand;
  for (int k = 0; k < MEMORY; k++) driver[k] = k, worker[k] = -1;
  ms_elements from = ms_elements_of(operand, driver, false),
              to = ms_elements_of(operand, worker, true);
  CHECK(ms_elements_count(&from) == count && ms_operand_elements(operand) == count);
  uint32_t dim = (uint32_t)pick(operand->dim_count);
  int64_t lo = pick(operand->dims[dim] + 1), hi = pick(operand->dims[dim] + 1);
  if (pick(2) == 0) lo = 0, hi = operand->dims[dim];
  ms_elements some = ms_elements_rows(&from, dim, lo, hi),
              there = ms_elements_rows(&to, dim, lo, hi);
  int64_t total = ms_elements_count(&some);
  for (int64_t first = 0; first < total;) {
    int64_t take = 1 + pick(total - first);
    ms_elements_gather(&some, first, take, packed);
    ms_elements_scatter(&there, first, take, packed);
    ms_strided_run run = ms_elements_run_at(&some, first);
    int32_t second;
    if (run.count > 1 && first + 1 < total) {
      ms_elements_gather(&some, first + 1, 1, &second);
      CHECK(memcmp(run.data + run.stride * 4, &second, 4) == 0);
    }
    CHECK(memcmp(run.data, packed, 4) == 0 && run.count >= 1);
    first += take;
  }
  bool good = true;
  for (int64_t number = 0; number < (int64_t)(ms_operand_bytes(operand) / 4); number++) {
    int64_t at[MS_ARRAY_DIMS];
    bool in = false;
    locate(operand, number, at);
    for (uint32_t k = 0; k < s->given_count; k++) {
      in = in || contains(&s->given[k], at, operand->dim_count);
    }
    in = in && at[dim] >= lo && at[dim] < hi;
    int32_t want = in ? driver[place_of(operand, at, false)] : -1;
    good = good && worker[place_of(operand, at, true)] == want;
  }
  CHECK(good);
}

/* What changes in a copy gets into the array that it is of. */
static void check_changes(const scene *s, int64_t count) {
  const ms_operand *operand = &s->operand;
  ms_elements here = ms_elements_of(operand, worker, true),
              there = ms_elements_of(operand, driver, false);
  for (int k = 0; k < MEMORY; k++) worker[k] = (int32_t)pick(9), driver[k] = -5;
  ms_elements_gather(&here, 0, count, before);
  ms_elements_scatter(&there, 0, count, before);
  for (int k = 0; k < MEMORY; k++) {
    if (pick(3) == 0) worker[k] = (int32_t)pick(9); /* also what is none of the elements */
  }
  ms_change_runs runs = {.now = here, .before = (unsigned char *)before, .count = count};
  char bytes[100];
  size_t size;
  while ((size = ms_change_runs_pack(&runs, bytes, sizeof bytes)) > 0) {
    CHECK(ms_change_runs_apply(bytes, size, &there) == 0);
  }
  static int32_t got[MEMORY];
  ms_elements_gather(&here, 0, count, packed);
  ms_elements_gather(&there, 0, count, got);
  CHECK(memcmp(packed, got, (size_t)count * 4) == 0);
}

/* A log of what a job may write of the operand has that, and no more of it. */
static void check_log(scene *s) {
  ms_operand *operand = &s->operand;
  static const ms_range_starts none;
  ms_grid grid = {.strategy = MS_INDEPENDENT, .count = 1, .ranges = {1}};
  operand->written = 1;
  operand->movement = MS_MOVE_SCATTERED;
  for (uint32_t d = 0; d < operand->dim_count; d++) {
    operand->writes.low[d] = pick(operand->dims[d]);
    operand->writes.high[d] =
        operand->writes.low[d] + pick(operand->dims[d] - operand->writes.low[d] + 1);
  }
  ms_error err = {0};
  CHECK(ms_operand_check(operand, 0, &grid, false, &err) == 0);
  ms_undo undo;
  void *data = driver;
  CHECK(ms_undo_divide(&undo, &grid, &none, operand, 1, &err) == 0);
  static _Alignas(64) unsigned char log[1 << 20];
  CHECK(undo.size <= sizeof log);
  ms_undo_attach(&undo, log, &data);
  ms_undo_clear(&undo);
  for (int k = 0; k < MEMORY; k++) driver[k] = k;
  ms_undo_log_operand(&undo, 0);
  for (int k = 0; k < MEMORY; k++) driver[k] = -1;
  ms_undo_restore(&undo);
  int64_t logged = 0;
  for (int64_t number = 0; number < (int64_t)(ms_operand_bytes(operand) / 4); number++) {
    int64_t at[MS_ARRAY_DIMS];
    locate(operand, number, at);
    ms_section writes;
    memcpy(writes.low, operand->writes.low, sizeof writes.low);
    memcpy(writes.high, operand->writes.high, sizeof writes.high);
    bool in = false;
    for (uint32_t k = 0; k < s->given_count; k++) {
      in = in || contains(&s->given[k], at, operand->dim_count);
    }
    in = in && contains(&writes, at, operand->dim_count);
    int64_t place = place_of(operand, at, false);
    CHECK(driver[place] == (in ? place : -1));
    logged += in;
  }
  for (uint32_t p = 0; p < undo.part_count; p++) logged -= undo.parts[p].total;
  CHECK(logged == 0);
  ms_undo_free(&undo);
}

/* Of what may be written the elements of a job that is one block are all, in the same order. */
static void check_written(const scene *s) {
  const ms_operand *operand = &s->operand;
  static const ms_range_starts none;
  ms_grid grid = {.strategy = MS_INDEPENDENT, .count = 1, .ranges = {1}};
  ms_elements written = ms_elements_written(operand, driver, false), all = written;
  all.written = false;
  int64_t first, end, count = ms_elements_count(&written), next = 0;
  ms_operand_writes_span(operand, &grid, &none, 0, &first, &end);
  CHECK(first == 0 && end == count);
  for (int k = 0; k < MEMORY; k++) driver[k] = k;
  ms_elements_gather(&all, 0, ms_elements_count(&all), before);
  ms_elements_gather(&written, 0, count, packed);
  for (int64_t k = 0; k < ms_elements_count(&all); k++) {
    int64_t at[MS_ARRAY_DIMS], rest = before[k];
    bool in = true;
    for (uint32_t d = 0; d < operand->dim_count; d++) {
      int64_t row = rest / operand->strides[d];
      at[d] = row < operand->dims[d] ? row : operand->dims[d] - 1;
      rest -= at[d] * operand->strides[d];
      in = in && at[d] >= operand->writes.low[d] && at[d] < operand->writes.high[d];
    }
    if (in) CHECK(next < count && packed[next++] == before[k]);
  }
  CHECK(next == count);
}

/* What a worker is sent is believed only as far as it fits. */
static void test_refused(void) {
  ms_grid grid = {.strategy = MS_INDEPENDENT, .count = 1, .ranges = {1}};
  const ms_section bad[][2] = {{{{0}, {5}}, {{0}, {9}}},
                               {{{-1}, {5}}, {{5}, {6}}},
                               {{{0}, {11}}, {{5}, {6}}},
                               {{{3}, {2}}, {{5}, {6}}},
                               {{{0}, {INT64_MAX}}, {{0}, {0}}}};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    ms_error err = {0};
    ms_operand operand = {.element = 8, .dim_count = 1, .dims = {10}, .strides = {1}};
    operand.section_count = 2;
    operand.sections = bad[k];
    CHECK(ms_operand_check(&operand, 0, &grid, false, &err) != 0 && err.code == MS_ARR);
    operand.section_count = MS_MOST_SECTIONS + 1;
    CHECK(ms_operand_check(&operand, 0, &grid, false, &err) != 0);
    operand.sections = NULL;
    CHECK(ms_operand_check(&operand, 0, &grid, false, &err) != 0);
  }
}

/* A cross is its row and what its column has beside it. */
static void test_cross(void) {
  static const ms_section cross[] = {{{0, 699}, {1000, 700}}, {{499, 0}, {500, 2000}}};
  ms_section apart[MS_MOST_SECTIONS];
  CHECK(ms_sections_disjoin(cross, 2, 2, apart) == 3);
  CHECK(memcmp(&apart[0], &cross[1], sizeof apart[0]) == 0);
  CHECK(ms_section_count(&apart[1], 2) + ms_section_count(&apart[2], 2) == 999);
}

/* Beyond a number of sections nothing is told apart. */
static void test_many(void) {
  ms_section given[80], apart[MS_MOST_SECTIONS];
  memset(given, 0, sizeof given);
  for (int64_t k = 0; k < 80; k++) {
    given[k] = k < 40 ? (ms_section){{2 * k, 0}, {2 * k + 1, 79}}
                      : (ms_section){{0, 2 * k - 80}, {79, 2 * k - 79}};
  }
  CHECK(ms_sections_disjoin(given, 80, 2, apart) == 0);
  CHECK(ms_sections_disjoin(given, 41, 2, apart) == 40 + 39);
}

int main(void) {
  for (int round = 0; round < 3000; round++) {
    scene s;
    int64_t count;
    make_scene(&s);
    check_sections(&s, &count);
    if (s.operand.section_count == 0) continue;
    check_travel(&s, count);
    check_changes(&s, count);
    check_log(&s);
    check_written(&s);
  }
  test_refused();
  test_cross();
  test_many();
  return ms_test_end();
}
