/* SPDX-License-Identifier: MIT
 *
 * Threads: see threads.h. */
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

typedef struct call {
  void (*work)(void *context);
  void *context;
} call;

static int limit = MS_THREADS_MOST;

void ms_threads_limit(int most) {
  limit = most;
}

int ms_threads_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  int count = CPU_COUNT(&set);
  if (count < 1) return 1;
  return count < limit ? count : limit;
}

static void *start(void *argument) {
  const call *each = argument;
  each->work(each->context);
  return NULL;
}

void ms_threads_run(int threads, void (*work)(void *context), void *context) {
  pthread_t others[MS_THREADS_MOST];
  call each = {work, context};
  int started = 0;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (started < threads - 1 && started < MS_THREADS_MOST - 1) {
    if (pthread_create(&others[started], NULL, start, &each) != 0) break;
    started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  work(context);
  for (int t = 0; t < started; t++) pthread_join(others[t], NULL);
}

typedef struct range {
  atomic_llong next;
  int64_t count;
  void (*work)(void *context, int64_t k);
  void *context;
} range;

static void work_range(void *context) {
  range *r = context;
  int64_t k;
  while ((k = atomic_fetch_add(&r->next, 1)) < r->count) r->work(r->context, k);
}

void ms_threads_each(int threads, int64_t count, void (*work)(void *context, int64_t k),
                     void *context) {
  range r = {0, count, work, context};
  ms_threads_run(threads < count ? threads : (int)count, work_range, &r);
}
