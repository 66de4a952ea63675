/* SPDX-License-Identifier: MIT
 *
 * What small runs keep is all there was, whoever has kept it, and comes back. */
#include "job/small_keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/test.h"

enum { SPANS = 3, MOST = 70001 };

static unsigned char memory[SPANS][MOST], before[SPANS][MOST];

static void fill(unsigned seed) {
  for (int s = 0; s < SPANS; s++) {
    for (int k = 0; k < MOST; k++)
      memory[s][k] = (unsigned char)((seed = seed * 1103515245u + 12345u) >> 16);
  }
}

static void test_keep(uint64_t first, uint64_t second, uint32_t count, uint32_t members) {
  ms_small_span spans[SPANS] = {{memory[0], first}, {memory[1], second}, {memory[2], MOST}};
  ms_small_run run = {.written = spans, .own_count = count, .written_count = SPANS};
  for (unsigned round = 1; round < 4; round++) {
    fill(round);
    memcpy(before, memory, sizeof memory);
    CHECK(ms_small_keep(&run, count, members));
    for (uint32_t s = 0; s < count; s++) memset(memory[s], (int)round, (size_t)spans[s].size);
    ms_small_keep_restore(&run, count);
    CHECK(memcmp(before, memory, sizeof memory) == 0);
  }
  ms_small_run_free(&run);
}

static void test_limit(void) {
  ms_small_span span = {memory[0], MS_SMALL_MOST_KEPT + 1};
  ms_small_run run = {.written = &span, .own_count = 1, .written_count = 1};
  CHECK(!ms_small_keep(&run, 1, 2) && run.kept == NULL);
  CHECK(ms_small_keep(&run, 0, 2));
  ms_small_run_free(&run);
}

int main(void) {
  ms_test_limit(60);
  for (uint32_t members = 0; members < 6; members++) {
    for (uint32_t count = 0; count <= SPANS; count++) {
      test_keep(MOST, 40003, count, members);
      test_keep(1, 0, count, members);
      test_keep(3, MOST, count, members);
    }
  }
  test_limit();
  return ms_test_end();
}
