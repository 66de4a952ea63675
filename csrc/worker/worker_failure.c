/* SPDX-License-Identifier: MIT
 *
 * Failures from a worker's side: what it tells of them, and which blocks are run all the same
 * (failure.h). A block is told of before it counts as finished. */
#include "worker/worker_failure.h"

#include <string.h>

#include "base/history.h"
#include "base/trace.h"
#include "worker/block_history.h"
#include "worker/handover.h"
#include "worker/worker_job.h"

uint32_t ms_worker_failure_last_turn(const ms_worker *worker) {
  uint64_t limit = ms_worker_status(worker, MS_STATUS_LIMIT);
  uint32_t told = ms_status_value(limit, worker->job.number, UINT32_MAX);
  return told < worker->job.last_turn ? told : worker->job.last_turn;
}

bool ms_worker_failure_needs(ms_worker *worker, uint32_t block) {
  uint32_t last = ms_worker_failure_last_turn(worker);
  return last == UINT32_MAX || ms_schedule_turn(worker->schedule, block) <= last;
}

/* Tells the driver of an error, and where in the loop's order it was. */
static int send_failure(ms_worker *worker, ms_code code, const ms_body_error *error,
                        ms_error *err) {
  ms_worker_job *job = &worker->job;
  uint32_t block = job->running ? job->block : UINT32_MAX;
  ms_frame frame = {
      .kind = MS_SAY_FAILED, .job = job->number, .a = {block, code, error->order_size}};
  ms_message message;
  job->failed = true;
  char *room =
      ms_link_begin(&worker->control, frame, error->order_size + error->size, &message, err);
  if (room == NULL) return -1;
  if (error->order_size > 0) memcpy(room, error->order, error->order_size);
  if (error->size > 0) memcpy(room + error->order_size, error->bytes, error->size);
  return ms_link_commit(&worker->control, &message, err);
}

int ms_worker_failure_stop(ms_worker *worker, ms_code code, const char *text, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (job->stopped) return 0;
  job->running = false;
  job->stopped = true;
  ms_body_error error = {.bytes = text, .size = strlen(text)};
  return send_failure(worker, code, &error, err);
}

int ms_worker_failure_give_up(ms_worker *worker, ms_error *trouble, ms_error *err) {
  worker->job.running = false;
  if (worker->gone) return 0;
  if (ms_worker_failure_stop(worker, (ms_code)trouble->code, trouble->message, err) != 0) return -1;
  return ms_worker_job_end(worker, err);
}

int ms_worker_failure_publish(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  ms_worker_show(worker, MS_STATUS_PROGRESS, ms_status_of(job->number, job->position));
  ms_worker_show(worker, MS_STATUS_RUNNING, 0); /* it was finished before */
  return ms_handover_send(worker, job->last, err);
}

/* Tells of the error of the present block, if that is one that counts. */
static int fail_block(ms_worker *worker, const ms_body_error *error, ms_error *err) {
  ms_worker_job *job = &worker->job;
  uint32_t block = job->block;
  ms_trace(MS_TRACE_BLOCKS, "fail job=%llu block=%u", (unsigned long long)job->number, block);
  static const char text[] = "the error of a loop body is too large to be sent";
  static const ms_body_error oversize = {.bytes = text, .size = sizeof text - 1};
  if (!ms_worker_failure_needs(worker, block) || !ms_worker_job_room(worker, err)) return 0;
  ms_worker_show(worker, MS_STATUS_FAILURES, ms_status_of(job->number, ++job->failures));
  bool fits = error->size + error->order_size <= ms_link_limit(&worker->control);
  int failed = send_failure(worker, fits ? MS_OK : MS_BDY, fits ? error : &oversize, err);
  job->last_turn = ms_schedule_turn(worker->schedule, block);
  return failed;
}

int ms_worker_fail(ms_worker *worker, const ms_body_error *error, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (!job->open) return 0;
  if (job->memory != NULL) ms_block_local_discard(job->memory);
  job->failed = true;
  if (!job->running) {
    bool told = job->stopped;
    job->stopped = true;
    return told ? 0 : send_failure(worker, MS_OK, error, err);
  }
  if (fail_block(worker, error, err) != 0) return -1;
  if (job->versions != NULL) ms_versions_carry(job->versions, job->block);
  if (ms_history_wanted) ms_block_history_leave(worker, job->block);
  job->running = false;
  ms_worker_job_advance(worker);
  ms_error trouble;
  ms_error_clear(&trouble);
  if (ms_worker_failure_publish(worker, &trouble) != 0)
    return ms_worker_failure_give_up(worker, &trouble, err);
  return 0;
}
