/* SPDX-License-Identifier: MIT
 *
 * Spin: how many waits begin with looking, after successes and failures. */
#include "job/spin.h"

#include "base/test.h"

/* How many waits pass without a look until the next one that begins with it. */
static uint32_t skipped(ms_spin *spin) {
  uint32_t count = 0;
  while (!ms_spin_worthwhile(spin)) count++;
  return count;
}

int main(void) {
  ms_spin spin = {0};
  for (uint32_t i = 0; i < 5; i++) {
    CHECK(skipped(&spin) == 0);
    ms_spin_learn(&spin, true);
  }
  const uint32_t expected[] = {0, 1, 3, 7, 15, 31, 63, 63, 63};
  for (uint32_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    CHECK(skipped(&spin) == expected[i]);
    ms_spin_learn(&spin, false);
  }
  CHECK(skipped(&spin) == 63);
  ms_spin_learn(&spin, true);
  CHECK(skipped(&spin) == 0);
  CHECK(ms_spin_room(1) && !ms_spin_room(100000));
  return ms_test_end();
}
