/* SPDX-License-Identifier: MIT
 *
 * Prefault: makes the pages of fresh shared memory present from a second thread, while the first
 * one computes what will be written there. Of a large copy half the time is page faults.
 *
 * The thread touches no contents, blocks all signals, and ends before ms_prefault_finish returns.
 * Whatever goes wrong only means that the pages are faulted in later. */
#ifndef MS_ARRAY_PREFAULT_H
#define MS_ARRAY_PREFAULT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct ms_prefault {
  pthread_t thread;
  bool running;
  void *base;
  size_t size;
} ms_prefault;

/* Starts on [base, base + size), all of which is about to be written. */
void ms_prefault_start(ms_prefault *prefault, void *base, size_t size);

/* Waits for the thread. */
void ms_prefault_finish(ms_prefault *prefault);

#endif
