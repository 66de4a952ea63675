/* SPDX-License-Identifier: MIT
 *
 * What a worker's blocks leave for the driver, on its way: in frames, on the shelf (net/road.h),
 * which also keeps it if this process dies, or at the end with DONE. */
#include "worker/worker_report.h"

#include <string.h>

/* Lays the report onto the shelf, where it is worth that: its size, else 0. The beginning may lie
 * there already. */
static size_t shelve(ms_worker *worker) {
  ms_worker_job *job = &worker->job;
  ms_text *report = &job->report;
  size_t size = report->length;
  if (worker->road->by_frames || size <= ms_link_piece(&worker->control)) return 0;
  if (size > MS_SHELF_SIZE) return 0;
  char *shelf = worker->road->shelf(worker, worker->setup.worker);
  memcpy(shelf + job->noted, report->bytes + job->noted, size - job->noted);
  report->length = 0;
  return size;
}

/* Sends the report, its end as the payload of `last`; also of a job that was cancelled. */
static int send_report(ms_worker *worker, ms_frame last, ms_error *err) {
  ms_text *report = &worker->job.report;
  for (size_t at = 0;;) {
    while (!worker->gone && !ms_link_open(&worker->control)) {
      if (worker->road->wait(worker, NULL, err) != 0) return -1;
    }
    size_t rest = report->length - at;
    size_t piece_size = ms_link_piece(&worker->control);
    bool whole = rest <= piece_size;
    ms_frame piece = {.kind = MS_SAY_REPORT, .job = worker->job.number};
    if (whole) report->length = 0; /* the bytes stay until more is added */
    if (worker->gone) return 0;
    if (ms_link_send(&worker->control, whole ? last : piece, rest > 0 ? report->bytes + at : NULL,
                     whole ? rest : piece_size, err) != 0) {
      return -1;
    }
    if (whole) return 0;
    at += piece_size;
  }
}

/* Sends what is there of the report while the job goes on. */
static int send_part(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  size_t total = job->report.length;
  ms_frame piece = {.kind = MS_SAY_REPORT, .job = job->number};
  job->printed = false;
  if (send_report(worker, piece, err) != 0) return -1;
  if (job->checkpoint.size > 0)
    ms_block_checkpoint_sent(&job->checkpoint, worker->setup.worker, total);
  job->noted = 0;
  return 0;
}

/* Lays what is new of the report onto the shelf; false when there is no room. */
static bool note(ms_worker *worker) {
  ms_worker_job *job = &worker->job;
  const ms_text *report = &job->report;
  size_t fresh = report->length - job->noted;
  if (job->checkpoint.size == 0 || fresh == 0 || report->failed) return true;
  uint32_t self = worker->setup.worker;
  char *shelf = worker->road->shelf(worker, self);
  const char *bytes = report->bytes + job->noted;
  if (!ms_block_checkpoint_note(&job->checkpoint, self, shelf, bytes, fresh)) return false;
  job->noted = report->length;
  return true;
}

int ms_worker_report_keep(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if ((job->printed || !note(worker)) && send_part(worker, err) != 0) return -1;
  if (job->checkpoint.size == 0 || job->defers) return 0;
  ms_block_checkpoint_finish(&job->checkpoint, worker->setup.worker, job->position, job->busy,
                             job->waited);
  return 0;
}

int ms_worker_report_done(ms_worker *worker, ms_frame done, ms_error *err) {
  done.a[3] = MS_DONE_MAKE(worker->job.position, shelve(worker));
  return send_report(worker, done, err);
}

bool ms_worker_may_defer(const ms_worker *worker) {
  const ms_worker_job *job = &worker->job;
  if (!job->running || job->position + 1 >= job->share || job->failed) return false;
  for (uint32_t i = 0; i < job->task.operand_count; i++) {
    if (job->task.operands[i].written) return false;
  }
  return true;
}

void ms_worker_defer(ms_worker *worker) {
  worker->job.defers = true;
}
