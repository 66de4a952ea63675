/* SPDX-License-Identifier: MIT
 *
 * Spin: when to look for something again and again before sleeping until it comes.
 *
 * Being woken takes 20 to 50 us, and a core that has slept is slow at first: its caches and those
 * of a virtual machine's host have served others. Looking takes a core, which only pays while
 * nobody else needs it and what is looked for does come. After each failure fewer waits begin with
 * looking, after a success all do. Each ms_spin is of one kind of wait of one thread, or of another
 * attempt that may be in vain (core_affinity.h). */
#ifndef MS_JOB_SPIN_H
#define MS_JOB_SPIN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ms_spin {
  uint32_t lost;    /* failures in a row, as the number of waits to skip */
  uint32_t skipped; /* waits since the last look */
} ms_spin;

/* Whether this wait is to begin with looking. */
bool ms_spin_worthwhile(ms_spin *spin);

/* Whether what was looked for came in time. */
void ms_spin_learn(ms_spin *spin, bool found);

/* True when so many threads may run at the same time on cores of this process's: looking takes
 * nothing from the others then. */
bool ms_spin_room(uint32_t threads);

/* A moment of looking. */
void ms_spin_pause(void);

#endif
