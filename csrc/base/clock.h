/* SPDX-License-Identifier: MIT
 *
 * Clock: the one that all of Meissa's processes on a host share. It only goes forward. */
#ifndef MS_BASE_CLOCK_H
#define MS_BASE_CLOCK_H

#include <pthread.h>
#include <stdint.h>

#define MS_SECOND      1000000000u /* in ns */
#define MS_MILLISECOND 1000000u

/* Nanoseconds since some moment before the host's processes started. */
uint64_t ms_clock_now(void);

/* A condition for ms_clock_wait. */
void ms_clock_condition(pthread_cond_t *condition);

/* Waits on a condition until it is signalled or the clock shows `until`: 0 or ETIMEDOUT. */
int ms_clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until);

#endif
