/* SPDX-License-Identifier: MIT
 *
 * Block-local memory: blocks in any order leave the same; what is left is what was put there;
 * memory that runs out, and blocks that fail, leave nothing to the next one. */
#include "job/block_local.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/test.h"
#include "job/report.h"
#include "plan/needs.h"
#include "sync/pending.h"

enum { BLOCKS = 40, SUMS = 200, MARKS = 90, WORKING = 17 };

static double sums[SUMS], rows[SUMS], marks[MARKS], none[1];
static uint8_t touched[MS_TOUCHED_BYTES(SUMS)];
static float working[WORKING];
static double wide[WORKING];

static const ms_pending_space pending[] = {
    {.elements = sums, .count = SUMS},
    {.elements = none, .count = 0},
    {.elements = marks, .count = MARKS, .marks = 1},
    {.elements = rows, .count = SUMS, .touched = touched},
};

static unsigned next_random(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/* Puts into the buffers what block `block` does; adds it to `into`, if given. */
static void run_block(unsigned start, uint32_t block, double *into, bool *marked) {
  unsigned seed = start + 77 * block;
  for (unsigned k = next_random(&seed) % 60; k > 0; k--) {
    unsigned at = next_random(&seed) % SUMS;
    double value = (double)(next_random(&seed) % 1000) - 500;
    sums[at] += value;
    rows[at] += value; /* the same, marked */
    ms_touch(touched, at);
    if (into != NULL) into[at] += value;
    unsigned place = next_random(&seed) % MARKS;
    marks[place] = 1;
    if (marked != NULL) marked[place] = true;
  }
}

static bool all_zero(const double *vector, int count) {
  static const double zero[SUMS];
  return memcmp(vector, zero, (size_t)count * sizeof *vector) == 0;
}

/* Checks a record against what its block has put there. */
static void check_record(unsigned seed, const ms_record *record) {
  double sum[SUMS] = {0}, expected[SUMS] = {0};
  bool marked[MARKS] = {false};
  ms_error err = {0};
  run_block(seed, record->block, expected, marked);
  memset(sums, 0, sizeof sums);
  memset(rows, 0, sizeof rows);
  memset(touched, 0, sizeof touched);
  memset(marks, 0, sizeof marks);
  if (record->kind == MS_REPORT_PENDING || record->kind == MS_REPORT_PENDING + 3) {
    ms_pending_part part = {record->bytes, (size_t)record->size};
    ms_pending_cursor cursor = {0};
    while (ms_pending_next(&part, SUMS, &cursor, &err) > 0) {
      ms_pending_add(&part, &cursor, SUMS, sum);
    }
    CHECK(err.code == MS_OK);
    for (int k = 0; k < SUMS; k++) CHECK(sum[k] == expected[k]);
    return;
  }
  CHECK(record->kind == MS_REPORT_PENDING + 2);
  ms_needs *needs = ms_needs_new(1, MARKS, &err);
  CHECK(needs != NULL);
  if (needs == NULL) return;
  CHECK(ms_needs_add(needs, record->bytes, (size_t)record->size, &err) == 0);
  bool listed[MARKS] = {false};
  ms_element_walk walk = ms_element_lists_walk(&needs->lists, 0);
  for (ms_span run; ms_element_walk_next(&walk, &run);) {
    for (uint32_t k = 0; k < run.count; k++) listed[run.first + k] = true;
  }
  CHECK(memcmp(listed, marked, sizeof marked) == 0);
  ms_needs_free(needs);
}

static void test_records(unsigned seed) {
  const ms_block_local memory = {.pending = pending, .pending_count = 4};
  ms_text report = {0};
  static const char result[] = "result";
  for (uint32_t b = 0; b < BLOCKS; b++) {
    uint32_t block = b * 7 % BLOCKS;
    ms_block_local_begin(&memory, 0);
    run_block(seed, block, NULL, NULL);
    ms_report_add(&report, block, MS_REPORT_RESULT, result, sizeof result);
    ms_block_local_take(&memory, block, &report);
    CHECK(all_zero(sums, SUMS) && all_zero(rows, SUMS) && all_zero(marks, MARKS));
  }
  size_t at = 0;
  ms_record record;
  uint32_t results = 0, found = 0;
  while (ms_report_next(report.bytes, report.length, &at, &record) > 0) {
    CHECK(record.block < BLOCKS);
    results += record.kind == MS_REPORT_RESULT;
    if (record.kind == MS_REPORT_RESULT) continue;
    found++;
    check_record(seed, &record);
  }
  CHECK(at == report.length && results == BLOCKS && found > BLOCKS);
  ms_report_keep_printed(&report);
  CHECK(report.length == 0);
  ms_text_free(&report);
}

/* What was put there by a block that failed, or that there is no memory for, is gone. */
static void test_nothing_stays(unsigned seed) {
  const ms_block_local memory = {.pending = pending, .pending_count = 4};
  run_block(seed, 1, NULL, NULL);
  sums[3] = NAN;
  sums[5] = -0.0;
  ms_block_local_discard(&memory);
  CHECK(all_zero(sums, SUMS) && all_zero(rows, SUMS) && all_zero(marks, MARKS));
  ms_text full = {.failed = true};
  run_block(seed, 2, NULL, NULL);
  ms_block_local_take(&memory, 2, &full);
  CHECK(full.length == 0 && all_zero(sums, SUMS) && all_zero(rows, SUMS) && all_zero(marks, MARKS));
  ms_text report = {0};
  ms_block_local_take(&memory, 3, &report); /* a block that has put nothing there */
  CHECK(report.length == 0 && !report.failed);
  ms_text_free(&report);
}

static void test_scratch(void) {
  ms_scratch_space spaces[] = {
      {.elements = working, .count = WORKING, .size = 4},
      {.elements = wide, .count = WORKING - 1, .size = 8},
  };
  const float low = -1.5f;
  const double high = 1e300;
  memcpy(&spaces[0].content, &low, sizeof low);
  memcpy(&spaces[1].content, &high, sizeof high);
  const ms_block_local memory = {.scratch = spaces, .scratch_count = 2};
  for (int round = 0; round < 3; round++) {
    for (int k = 0; k < WORKING; k++) working[k] = (float)k, wide[k] = k;
    ms_block_local_begin(&memory, 0);
    for (int k = 0; k < WORKING; k++) CHECK(working[k] == low);
    for (int k = 0; k < WORKING - 1; k++) CHECK(wide[k] == high);
    CHECK(wide[WORKING - 1] == WORKING - 1); /* behind the space */
  }
  ms_text report = {0};
  ms_block_local_take(&memory, 0, &report);
  ms_block_local_discard(&memory);
  CHECK(report.length == 0);
}

/* A block's replica is its own, and what it holds at the end is reported. */
static void test_replicas(void) {
  double all[3][4], copy[4];
  for (int k = 0; k < 12; k++) all[k / 4][k % 4] = k;
  const ms_replica_space space = {
      .elements = copy, .rows = (const char *)all, .size = sizeof all[0], .count = 3, .number = 2};
  const ms_block_local memory = {.replicas = &space, .replica_count = 1};
  ms_text report = {0};
  for (uint32_t block = 0; block < 3; block++) {
    ms_block_local_begin(&memory, block);
    CHECK(memcmp(copy, all[block], sizeof copy) == 0);
    copy[block] = -1;
    ms_block_local_take(&memory, block, &report);
  }
  size_t at = 0;
  ms_record record;
  for (uint32_t block = 0; block < 3; block++) {
    CHECK(ms_report_next(report.bytes, report.length, &at, &record) == 1);
    CHECK(record.block == block && record.kind == MS_REPORT_PENDING + 2);
    memcpy(copy, record.bytes, sizeof copy);
    for (uint32_t k = 0; k < 4; k++) CHECK(copy[k] == (k == block ? -1 : all[block][k]));
  }
  CHECK(at == report.length);
  ms_text_free(&report);
}

int main(void) {
  const char *given = getenv("MEISSA_TEST_SEED");
  unsigned seed = given != NULL ? (unsigned)atol(given) : (unsigned)time(NULL);
  fprintf(stderr, "seed %u\n", seed);
  for (unsigned round = 0; round < 50; round++) test_records(seed + 1000 * round);
  test_nothing_stays(seed);
  test_scratch();
  test_replicas();
  return ms_test_end();
}
