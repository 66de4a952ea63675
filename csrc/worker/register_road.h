/* SPDX-License-Identifier: MIT
 *
 * A road of registers alone (net/road.h), for tests whose workers are threads that see each other's
 * status and are sent nothing. Include it in one *_test.c a program. */
#ifndef MS_WORKER_REGISTER_ROAD_H
#define MS_WORKER_REGISTER_ROAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/test.h"
#include "worker/worker_state.h"

#define WORKERS 3u
#define JOB     ((uint64_t)5)

static _Atomic uint64_t registers[WORKERS][MS_STATUS_COUNT];
static ms_worker crew[WORKERS];

static void publish(void *end, uint32_t number, ms_status which, uint64_t value) {
  (void)end;
  atomic_store(&registers[number][which], value);
}

static uint64_t status(const void *end, uint32_t number, ms_status which) {
  (void)end;
  return atomic_load(&registers[number][which]);
}

static void wake(void *end, uint32_t number) {
  (void)end, (void)number;
}

static const ms_road frames = {.by_frames = true, .publish = publish, .status = status};

/* Begins a job of all workers with blocks of such owners. */
static void employ(const ms_road *road, uint32_t blocks, const ms_owner *owner) {
  ms_grid grid = {.strategy = MS_INDEPENDENT, .count = 1, .ranges = {blocks}};
  ms_error err;
  ms_error_clear(&err);
  for (uint32_t w = 0; w < WORKERS; w++) {
    for (uint32_t s = 0; s < MS_STATUS_COUNT; s++) atomic_store(&registers[w][s], 0);
    ms_schedule_destroy(&crew[w].schedule);
    crew[w] = (ms_worker){.road = road, .may_spin = w == 0};
    crew[w].setup.worker = w;
    crew[w].job.number = JOB;
    crew[w].schedule = ms_schedule_new(&grid, owner, WORKERS, &err);
    CHECK(crew[w].schedule != NULL);
  }
}

static uintptr_t result_of(pthread_t thread) {
  void *result;
  CHECK(pthread_join(thread, &result) == 0);
  return (uintptr_t)result;
}

#endif
