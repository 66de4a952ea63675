/* SPDX-License-Identifier: MIT
 *
 * Stages: random blocks, cut as the definition says: each stage takes blocks while they fit. */
#include "sync/stage.h"

#include <string.h>

#include "base/test.h"

#define BLOCKS 40

static uint64_t state = 7;

static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

static void shuffle(uint32_t *order, uint32_t count) {
  for (uint32_t k = 0; k < count; k++) order[k] = k;
  for (uint32_t k = count; k-- > 1;) {
    uint32_t other = (uint32_t)draw(k + 1), kept = order[k];
    order[k] = order[other];
    order[other] = kept;
  }
}

/* Every block is in one stage, no stage has too much, and none could have taken the next block. */
static void check_cut(const ms_stages *stages, uint32_t count, uint64_t most) {
  uint32_t end = 0;
  for (uint32_t s = 0; s < stages->count; s++) {
    uint32_t first = ms_stages_first(stages, s);
    uint64_t sum = 0;
    CHECK(first == end && stages->ends[s] >= first);
    end = stages->ends[s];
    for (uint32_t p = first; p < end; p++) sum += stages->sizes[stages->order[p]];
    CHECK(sum <= most);
    CHECK(end == count || sum + stages->sizes[stages->order[end]] > most);
  }
  CHECK(end == count);
}

static void test_cut(void) {
  for (int round = 0; round < 500; round++) {
    uint32_t count = 1 + (uint32_t)draw(BLOCKS), order[BLOCKS], ends[BLOCKS];
    uint64_t sizes[BLOCKS], largest = 0, weights[BLOCKS] = {0};
    shuffle(order, count);
    for (uint32_t b = 0; b < count; b++) {
      sizes[b] = draw(4) == 0 ? 0 : draw(100);
      if (sizes[b] > largest) largest = sizes[b];
    }
    ms_error err = {0};
    uint64_t most = largest + draw(300);
    int64_t got = ms_stages_cut(order, count, sizes, most, ends, &err);
    ms_stages stages = {(uint32_t)got, ends, order, sizes};
    CHECK(got > 0 && err.code == MS_OK);
    check_cut(&stages, count, most);
    for (uint32_t s = 0; s < stages.count; s++) {
      uint64_t expected[BLOCKS] = {0};
      for (uint32_t p = ms_stages_first(&stages, s); p < ends[s]; p++) {
        expected[order[p]] = sizes[order[p]];
      }
      ms_stages_weigh(&stages, s, weights);
      CHECK(memcmp(weights, expected, sizeof weights) == 0);
    }
    if (largest == 0) continue;
    CHECK(ms_stages_cut(order, count, sizes, largest - 1, ends, &err) == -1);
    CHECK(err.code == MS_OPT && strstr(err.message, "raise the option 'grid'") != NULL);
  }
}

/* Numbers that are as large as they can be do not wrap. */
static void test_large(void) {
  uint64_t sizes[] = {UINT64_MAX, UINT64_MAX, 1};
  uint32_t order[] = {0, 1, 2}, ends[3];
  ms_error err = {0};
  CHECK(ms_stages_cut(order, 3, sizes, UINT64_MAX, ends, &err) == 3);
}

int main(void) {
  test_cut();
  test_large();
  return ms_test_end();
}
