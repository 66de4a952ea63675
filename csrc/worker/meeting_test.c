/* SPDX-License-Identifier: MIT
 *
 * Meetings: workers as threads over a road of registers. All find what the others wrote before, as
 * often as they meet; who leaves, dies or is cancelled holds up nobody. */
#include <sched.h>

#include "base/clock.h"
#include "worker/register_road.h"

#define MEETINGS   3000u
#define MOST_WAITS 3000000u

static uint32_t boards[2][WORKERS];

/* Waits in the present meeting. */
static _Thread_local uint32_t waits;

/* Who waits for ever is ended. */
static int wait_a_little(void *end, const ms_awaited *what, ms_error *err) {
  (void)err;
  CHECK(what->meeting);
  if (++waits == MOST_WAITS) ((ms_worker *)end)->gone = true;
  sched_yield();
  return 0;
}

static const ms_road road = {
    .publish = publish, .status = status, .wait = wait_a_little, .wake = wake, .now = ms_clock_now};

/* Workers with so many blocks: in turns, or, `together`, two each. */
static void make_crew_of(uint32_t blocks, bool together) {
  ms_owner owner[WORKERS + 1] = {0};
  for (uint32_t b = 0; b < blocks; b++) {
    owner[b] = (ms_owner){together ? b / 2 : b % WORKERS, MS_WHOLE};
  }
  employ(&road, blocks, owner);
}

static void make_crew(uint32_t blocks) {
  make_crew_of(blocks, false);
}

static int meet(ms_worker *worker, uint32_t count, bool stays) {
  ms_error err;
  ms_error_clear(&err);
  waits = 0;
  int come = ms_worker_meet(worker, count, stays, &err);
  CHECK(waits < MOST_WAITS);
  return come;
}

/* How many meetings of a worker found something else than all others had written. */
static void *go_to_meetings(void *arg) {
  ms_worker *worker = arg;
  uintptr_t wrong = 0;
  for (uint32_t m = 1; m <= MEETINGS; m++) {
    uint32_t *board = boards[m % 2];
    board[worker->setup.worker] = m;
    wrong += meet(worker, m, true) != 1;
    for (uint32_t w = 0; w < WORKERS; w++) wrong += board[w] != m;
  }
  return (void *)wrong;
}

/* Comes to meetings until the others are not there; to which. */
static void *go_until_alone(void *arg) {
  uintptr_t m = 1;
  while (meet(arg, (uint32_t)m, true) == 1) m++;
  return (void *)m;
}

static void test_all_meet(void) {
  make_crew(WORKERS);
  pthread_t threads[WORKERS];
  for (uint32_t w = 0; w < WORKERS; w++) {
    CHECK(pthread_create(&threads[w], NULL, go_to_meetings, &crew[w]) == 0);
  }
  for (uint32_t w = 0; w < WORKERS; w++) CHECK(result_of(threads[w]) == 0);
}

/* The last worker comes to one meeting, and then to no more; or is cancelled with all others. */
static void test_one_leaves(bool cancelled) {
  make_crew(WORKERS);
  pthread_t threads[WORKERS - 1];
  for (uint32_t w = 0; w < WORKERS - 1; w++) {
    CHECK(pthread_create(&threads[w], NULL, go_until_alone, &crew[w]) == 0);
  }
  CHECK(meet(&crew[WORKERS - 1], 1, true) == 1);
  if (cancelled) {
    for (uint32_t w = 0; w < WORKERS; w++) atomic_store(&registers[w][MS_STATUS_CANCEL], JOB);
  } else {
    ms_worker_leave(&crew[WORKERS - 1]);
  }
  for (uint32_t w = 0; w < WORKERS - 1; w++) {
    CHECK(result_of(threads[w]) <= 2);
    uint64_t now = atomic_load(&registers[w][MS_STATUS_MEETING]);
    CHECK(ms_status_value(now, JOB, 0) == UINT32_MAX); /* who waits for it is told, too */
  }
  CHECK(meet(&crew[WORKERS - 1], 2, true) == 0);
}

/* Who only says that it has come does not wait, and is waited for no more. */
static void test_one_passes(void) {
  make_crew(WORKERS);
  CHECK(meet(&crew[0], 1, false) == 1 && meet(&crew[1], 1, false) == 1);
  CHECK(meet(&crew[2], 1, true) == 1);
}

/* Another process in the place of one that had come: the others are ahead. */
static void test_replaced(void) {
  make_crew(WORKERS);
  CHECK(meet(&crew[0], 1, false) == 1);
  crew[0].job.met = 0;
  CHECK(meet(&crew[0], 1, true) == 0);
  CHECK(meet(&crew[1], 1, true) == 0);
  make_crew(WORKERS); /* registers of another job say nothing */
  atomic_store(&registers[0][MS_STATUS_MEETING], ms_status_of(JOB - 1, 7));
  CHECK(meet(&crew[0], 1, false) == 1);
}

static void test_cannot_meet(void) {
  make_crew(WORKERS - 1); /* one has no block */
  CHECK(meet(&crew[0], 1, true) == 2);
  make_crew(WORKERS + 1); /* one has two */
  CHECK(meet(&crew[0], 1, true) == 2);
  make_crew_of(WORKERS, true); /* one has two, another one none */
  CHECK(meet(&crew[0], 1, true) == 2);
  make_crew(WORKERS);
  crew[0].road = &frames;
  CHECK(meet(&crew[0], 1, true) == 2);
  ms_worker_leave(&crew[0]);
}

int main(void) {
  test_all_meet();
  test_one_leaves(false);
  test_one_leaves(true);
  test_one_passes();
  test_replaced();
  test_cannot_meet();
  for (uint32_t w = 0; w < WORKERS; w++) ms_schedule_destroy(&crew[w].schedule);
  return ms_test_end();
}
