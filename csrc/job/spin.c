/* SPDX-License-Identifier: MIT
 *
 * Spin: see spin.h. */
#include "job/spin.h"

#include <sched.h>

#define MOST_SKIPPED 63u

bool ms_spin_worthwhile(ms_spin *spin) {
  if (spin->skipped < spin->lost) {
    spin->skipped++;
    return false;
  }
  return true;
}

void ms_spin_learn(ms_spin *spin, bool found) {
  spin->skipped = 0;
  spin->lost = found ? 0 : spin->lost * 2 + 1;
  if (spin->lost > MOST_SKIPPED) spin->lost = MOST_SKIPPED;
}

bool ms_spin_room(uint32_t threads) {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return false;
  return (uint32_t)CPU_COUNT(&cores) >= threads;
}

void ms_spin_pause(void) {
  __builtin_ia32_pause();
}
