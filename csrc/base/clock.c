/* SPDX-License-Identifier: MIT
 *
 * Clock: see clock.h. */
#include "base/clock.h"

#include <time.h>

uint64_t ms_clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * MS_SECOND + (uint64_t)now.tv_nsec;
}

void ms_clock_condition(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
}

int ms_clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until) {
  struct timespec time = {.tv_sec = (time_t)(until / MS_SECOND),
                          .tv_nsec = (long)(until % MS_SECOND)};
  return pthread_cond_timedwait(condition, lock, &time);
}
