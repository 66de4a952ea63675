/* SPDX-License-Identifier: MIT
 *
 * Posts: workers as threads over a road of registers. Each goes on as soon as the others have
 * posted all but so many of its own; who leaves, dies, is cancelled, meets, or waits with all
 * others holds up nobody. */
#include <sched.h>

#include "base/clock.h"
#include "worker/register_road.h"

#define POSTS 3000u
#define AHEAD 2u

static uint32_t left[WORKERS][POSTS + 1]; /* plain memory: it is seen because posts are */
static _Atomic uint32_t posted[WORKERS];

static int wait_a_little(void *end, const ms_awaited *what, ms_error *err) {
  (void)end, (void)err;
  CHECK(what->posts);
  sched_yield();
  return 0;
}

static const ms_road road = {
    .publish = publish, .status = status, .wait = wait_a_little, .wake = wake, .now = ms_clock_now};

static void make_crew(void) {
  ms_owner owner[WORKERS];
  for (uint32_t b = 0; b < WORKERS; b++) owner[b] = (ms_owner){b, MS_WHOLE};
  for (uint32_t w = 0; w < WORKERS; w++) atomic_store(&posted[w], 0);
  employ(&road, WORKERS, owner);
}

static int await(ms_worker *worker, uint64_t seen) {
  ms_error err;
  ms_error_clear(&err);
  return ms_worker_await_posts(worker, seen, &err);
}

/* Whether all have posted as many as a worker needs for its next. */
static bool may_go_on(uint32_t next) {
  for (uint32_t w = 0; w < WORKERS; w++) {
    uint32_t has = atomic_load_explicit(&posted[w], memory_order_acquire);
    if (has + AHEAD < next) return false;
  }
  return true;
}

/* Posts all; how much of what it reads is not there, or that it waits in vain. */
static void *post_all(void *arg) {
  ms_worker *worker = arg;
  uint32_t own = worker->setup.worker;
  uintptr_t wrong = 0;
  for (uint32_t n = 1; n <= POSTS; n++) {
    uint64_t seen = 0;
    for (;;) {
      wrong += !ms_worker_posts(worker, &seen);
      if (wrong > 0 || may_go_on(n)) break;
      wrong += await(worker, seen) != 1;
    }
    if (wrong > 0) break;
    for (uint32_t w = 0; w < WORKERS && n > AHEAD; w++) wrong += left[w][n - AHEAD] != n - AHEAD;
    left[own][n] = n;
    atomic_store_explicit(&posted[own], n, memory_order_release);
    ms_worker_post(worker, true);
  }
  return (void *)wrong;
}

static void test_all_post(void) {
  make_crew();
  pthread_t threads[WORKERS];
  for (uint32_t w = 0; w < WORKERS; w++) {
    CHECK(pthread_create(&threads[w], NULL, post_all, &crew[w]) == 0);
  }
  for (uint32_t w = 0; w < WORKERS; w++) CHECK(result_of(threads[w]) == 0);
}

/* Waits until nothing comes any more. */
static void *wait_on(void *arg) {
  ms_worker *worker = arg;
  uint64_t seen = 0;
  uintptr_t times = 1;
  while (ms_worker_posts(worker, &seen) && await(worker, seen) == 1) times++;
  ms_worker_post(worker, false); /* who finds that out leaves */
  return (void *)times;
}

typedef enum cause { LEAVES, DIES, CANCELLED, MEETS, ALSO_WAITS, CAUSES } cause;

/* Two wait; of the third one nothing comes. */
static void test_nothing_comes(cause why) {
  make_crew();
  pthread_t threads[WORKERS - 1];
  ms_worker *last = &crew[WORKERS - 1];
  ms_error err;
  ms_error_clear(&err);
  for (uint32_t w = 0; w < WORKERS - 1; w++) {
    CHECK(pthread_create(&threads[w], NULL, wait_on, &crew[w]) == 0);
  }
  ms_worker_post(last, true);
  if (why == LEAVES) ms_worker_post(last, false);
  if (why == DIES) ms_worker_leave(last);
  if (why == CANCELLED) {
    for (uint32_t w = 0; w < WORKERS; w++) atomic_store(&registers[w][MS_STATUS_CANCEL], JOB);
  }
  if (why == MEETS) CHECK(ms_worker_meet(last, 1, false, &err) == 1);
  if (why == ALSO_WAITS) wait_on(last);
  for (uint32_t w = 0; w < WORKERS - 1; w++) CHECK(result_of(threads[w]) <= 3);
}

static void test_alone(void) {
  make_crew();
  uint64_t seen = 0;
  CHECK(ms_worker_posts(&crew[0], &seen) && seen == 0);
  ms_worker_post(&crew[1], true);
  CHECK(await(&crew[0], 0) == 1); /* it has come already */
  CHECK(ms_worker_posts(&crew[0], &seen) && seen == 1);
  atomic_store(&registers[2][MS_STATUS_POSTS], ms_status_of(JOB - 1, 7)); /* of another job */
  CHECK(ms_worker_posts(&crew[0], &seen) && seen == 1);
  crew[0].road = &frames;
  CHECK(!ms_worker_posts(&crew[0], &seen));
  ms_worker_post(&crew[0], true);
  CHECK(atomic_load(&registers[0][MS_STATUS_POSTS]) == 0);
}

int main(void) {
  ms_test_limit(60);
  test_all_post();
  for (cause why = 0; why < CAUSES; why++) test_nothing_comes(why);
  test_alone();
  for (uint32_t w = 0; w < WORKERS; w++) ms_schedule_destroy(&crew[w].schedule);
  return ms_test_end();
}
