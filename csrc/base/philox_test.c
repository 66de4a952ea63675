/* SPDX-License-Identifier: MIT
 *
 * Philox against the known answers that come with the authors' reference (Random123, kat_vectors,
 * lines "philox4x32 10"). */
#include "base/philox.h"

#include "base/test.h"

typedef struct known {
  uint64_t key, low, high;
  uint32_t word[4];
} known;

static const known answers[] = {
    {0, 0, 0, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}},
    {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}},
    {0x299f31d0a4093822u,
     0x85a308d3243f6a88u,
     0x0370734413198a2eu,
     {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}},
};

static void test_known_answers(void) {
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    ms_philox got = ms_philox_at(answers[i].key, answers[i].low, answers[i].high);
    for (int w = 0; w < 4; w++) CHECK(got.word[w] == answers[i].word[w]);
  }
}

static void test_units(void) {
  CHECK(ms_philox_unit(0) == 0.0);
  CHECK(ms_philox_unit(UINT64_MAX) < 1.0);
  CHECK(ms_philox_unit(UINT64_MAX) == 1.0 - 0x1p-53);
  ms_philox block = {{1, 2, 3, 4}};
  CHECK(ms_philox_half(&block, 0) == 0x0000000200000001u);
  CHECK(ms_philox_half(&block, 1) == 0x0000000400000003u);
}

int main(void) {
  test_known_answers();
  test_units();
  return ms_test_end();
}
