/* SPDX-License-Identifier: MIT
 *
 * Posts: workers of a job that tell each other in the midst of their blocks what they have left in
 * shared memory, and wait until there is more, without a meeting.
 *
 * A worker counts what it has posted (MS_STATUS_POSTS) and rings for the others. Who waits has
 * taken the sum of all counts before it looked at what is there: what comes after that is a change
 * of the sum. It is not waited for what cannot come: once each of the others has come to the next
 * meeting, or waits knowing the same sum (MS_STATUS_SEEN), or one has left, or the job ends. Who
 * waits has looked at all that is there, so if all do, with one sum, nobody posts any more; the
 * last one that begins to wait finds that out, and leaves, which the others see. */
#include "worker/posting.h"

#include "base/clock.h"
#include "base/trace.h"
#include "worker/handover.h"
#include "worker/meeting.h"
#include "worker/worker_job.h"

#define LEFT UINT32_MAX /* as the posts of a worker: it wants all to leave */

static uint32_t posts_of(const ms_worker *worker, uint32_t number) {
  uint64_t status = worker->road->status(worker, number, MS_STATUS_POSTS);
  return ms_status_value(status, worker->job.number, 0);
}

static uint64_t count_all(const ms_worker *worker) {
  uint64_t sum = 0;
  for (uint32_t w = 0; w < worker->schedule->workers; w++) sum += posts_of(worker, w);
  return sum;
}

/* Whether some worker has left, or wants all to. */
static bool is_over(const ms_worker *worker) {
  bool over = worker->gone || ms_worker_job_cancelled(worker);
  for (uint32_t w = 0; w < worker->schedule->workers; w++) {
    over = over || posts_of(worker, w) == LEFT || ms_meeting_count(worker, w) == LEFT;
  }
  return over;
}

/* Whether none can come: all others are at the next meeting, or know of no more posts and wait. */
static bool is_stuck(const ms_worker *worker, uint32_t seen) {
  for (uint32_t w = 0; w < worker->schedule->workers; w++) {
    if (w == worker->setup.worker || ms_meeting_count(worker, w) > worker->job.met) continue;
    uint64_t status = worker->road->status(worker, w, MS_STATUS_SEEN);
    if (ms_status_value(status, worker->job.number, ~seen) != seen) return false;
  }
  return true;
}

bool ms_posting_changed(const ms_worker *worker, uint32_t seen) {
  return (uint32_t)count_all(worker) != seen || is_stuck(worker, seen) || is_over(worker);
}

void ms_worker_post(ms_worker *worker, bool stays) {
  ms_worker_job *job = &worker->job;
  if (worker->road->by_frames) return;
  job->posted = stays ? (job->posted + 1) % LEFT : LEFT;
  ms_worker_show(worker, MS_STATUS_POSTS, ms_status_of(job->number, job->posted));
  for (uint32_t w = 0; w < worker->schedule->workers; w++) {
    if (w != worker->setup.worker) worker->road->wake(worker, w);
  }
}

bool ms_worker_posts(ms_worker *worker, uint64_t *posts) {
  if (!ms_meeting_possible(worker)) return false;
  *posts = count_all(worker);
  return !is_over(worker);
}

int ms_worker_await_posts(ms_worker *worker, uint64_t seen, ms_error *err) {
  const ms_worker_job *job = &worker->job;
  unsigned long long number = job->number;
  ms_awaited what = {.worker = worker->setup.worker,
                     .count = (uint32_t)seen,
                     .block = ms_schedule_own(worker->schedule, worker->setup.worker, 0),
                     .posts = true,
                     .until = worker->road->now() + MS_SECOND};
  ms_trace(MS_TRACE_WAITS, "begin for=posts job=%llu posts=%u", number, what.count);
  ms_worker_show(worker, MS_STATUS_SEEN, ms_status_of(number, what.count));
  int failed = ms_handover_await(worker, &what, err);
  bool stuck = is_stuck(worker, what.count);
  ms_worker_show(worker, MS_STATUS_SEEN, 0);
  ms_trace(MS_TRACE_WAITS, "end for=posts job=%llu posts=%u", number, what.count);
  if (failed != 0) return -1;
  bool changed = count_all(worker) != seen; /* after it was looked who waits: posting.pml */
  return !is_over(worker) && (changed || !stuck);
}
