/* SPDX-License-Identifier: MIT
 *
 * Prefault: see prefault.h. */
#include "array/prefault.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Below this the thread costs more than the faults. */
#define WORTH_A_THREAD ((size_t)1 << 20)
#define PIECE          ((size_t)1 << 20)
#define PAGE           ((uintptr_t)4096)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older kernels refuse it, which is all right */
#endif

static void *populate(void *argument) {
  const ms_prefault *prefault = argument;
  uintptr_t base = ((uintptr_t)prefault->base + PAGE - 1) / PAGE * PAGE;
  uintptr_t end = ((uintptr_t)prefault->base + prefault->size) / PAGE * PAGE;
  for (; base < end; base += PIECE) {
    size_t size = end - base < PIECE ? end - base : PIECE;
    if (madvise((char *)prefault->base + (base - (uintptr_t)prefault->base), size,
                MADV_POPULATE_WRITE) != 0) {
      break;
    }
  }
  return NULL;
}

void ms_prefault_start(ms_prefault *prefault, void *base, size_t size) {
  *prefault = (ms_prefault){.base = base, .size = size};
  if (size < WORTH_A_THREAD || sysconf(_SC_NPROCESSORS_ONLN) < 2) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  prefault->running = pthread_create(&prefault->thread, NULL, populate, prefault) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ms_prefault_finish(ms_prefault *prefault) {
  if (prefault->running) pthread_join(prefault->thread, NULL);
  prefault->running = false;
}
