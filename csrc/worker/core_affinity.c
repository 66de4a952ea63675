/* SPDX-License-Identifier: MIT
 *
 * Core affinity: see core_affinity.h. */
#include "worker/core_affinity.h"

#include <sched.h>
#include <stdbool.h>

/* Moves this thread to one of its cores that is not among `taken`, if there is one. */
static void step_aside(const cpu_set_t *taken) {
  cpu_set_t allowed, others;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_AND(&others, &allowed, taken);
  CPU_XOR(&others, &allowed, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof allowed, &allowed); /* it stays where it is, but may be moved */
}

void ms_core_affinity_spread(ms_status_page *page, uint32_t workers, uint32_t own, uint64_t job,
                             ms_spin *moves) {
  int core = sched_getcpu();
  if (core < 0 || core >= CPU_SETSIZE) return;
  uint64_t number = (uint64_t)(uint32_t)job << 32;
  atomic_store(&page[own].place, number | (uint32_t)core);
  cpu_set_t taken;
  CPU_ZERO(&taken);
  for (uint32_t w = 0; w < workers; w++) {
    uint64_t place = atomic_load_explicit(&page[w].place, memory_order_relaxed);
    if (w == own || (place & ~(uint64_t)UINT32_MAX) != number) continue;
    uint32_t other = (uint32_t)place;
    if (other < CPU_SETSIZE) CPU_SET(other, &taken);
  }
  if (!CPU_ISSET((size_t)core, &taken)) {
    ms_spin_learn(moves, true);
  } else if (ms_spin_worthwhile(moves)) {
    ms_spin_learn(moves, false); /* until the next job tells better */
    step_aside(&taken);
  }
}
