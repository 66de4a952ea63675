/* SPDX-License-Identifier: MIT
 *
 * Meetings: all workers of a job wait for each other in the midst of their blocks, each of which
 * has one.
 *
 * A worker says to how many it has come (MS_STATUS_MEETING), rings for the others, and waits until
 * all have come to as many; what it had written before, they see then. Who leaves comes to no more:
 * all that wait for it, or will, are told so. A process that takes the place of one that had come
 * to a meeting of the job leaves: the others are ahead of it. */
#include "worker/meeting.h"

#include "base/trace.h"
#include "worker/handover.h"

#define LEFT UINT32_MAX /* meetings of one that comes to no more */

uint32_t ms_meeting_count(const ms_worker *worker, uint32_t number) {
  uint64_t status = worker->road->status(worker, number, MS_STATUS_MEETING);
  return ms_status_value(status, worker->job.number, 0);
}

static void tell(ms_worker *worker, uint32_t count) {
  ms_worker_show(worker, MS_STATUS_MEETING, ms_status_of(worker->job.number, count));
  for (uint32_t w = 0; w < worker->schedule->workers; w++) {
    if (w != worker->setup.worker) worker->road->wake(worker, w);
  }
}

bool ms_meeting_possible(const ms_worker *worker) {
  const ms_schedule *schedule = worker->schedule;
  if (worker->road->by_frames || schedule->count != schedule->workers) return false;
  for (uint32_t w = 0; w < schedule->workers; w++) {
    if (ms_schedule_share(schedule, w) != 1) return false;
  }
  return true;
}

/* 1: all have come; 0: one never will; -1: broken. */
static int wait_for_all(ms_worker *worker, uint32_t count, ms_error *err) {
  bool all = true;
  for (uint32_t w = 0; w < worker->schedule->workers && all; w++) {
    ms_awaited what = {.worker = w,
                       .count = count,
                       .block = ms_schedule_own(worker->schedule, w, 0),
                       .meeting = true};
    if (ms_handover_await(worker, &what, err) != 0) return -1;
    uint32_t come = ms_meeting_count(worker, w);
    all = come >= count && come != LEFT;
  }
  atomic_thread_fence(memory_order_acquire); /* what the others wrote to shared memory */
  return all;
}

int ms_worker_meet(ms_worker *worker, uint32_t count, bool stays, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (!ms_meeting_possible(worker)) return 2;
  if (ms_meeting_count(worker, worker->setup.worker) > job->met) {
    ms_worker_leave(worker);
    return 0;
  }
  job->met = count;
  tell(worker, count);
  if (!stays) return 1;
  unsigned long long number = job->number;
  ms_trace(MS_TRACE_WAITS, "begin for=meeting job=%llu meeting=%u", number, count);
  int come = wait_for_all(worker, count, err);
  ms_trace(MS_TRACE_WAITS, "end for=meeting job=%llu meeting=%u", number, count);
  if (come == 0) ms_worker_leave(worker); /* somebody may have seen the one that left before */
  return come;
}

void ms_worker_leave(ms_worker *worker) {
  worker->job.met = LEFT;
  if (!worker->road->by_frames) tell(worker, LEFT);
}
