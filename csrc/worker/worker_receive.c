/* SPDX-License-Identifier: MIT
 *
 * What the driver's frames make a worker do. A frame is believed only as far as it agrees with the
 * job that is open: sizes and places are checked before anything is written. */
#include "worker/worker_receive.h"

#include <string.h>

#include "worker/worker_job.h"

/* A piece of a task; the job begins when it is complete. */
static void take_task(ms_worker *worker, const ms_frame *frame, const char *payload) {
  ms_text *incoming = &worker->incoming;
  if (frame->a[0] > MS_TASK_LIMIT || frame->a[1] > frame->a[0] ||
      frame->size > frame->a[0] - frame->a[1]) {
    return;
  }
  if (frame->a[1] == 0) {
    incoming->length = 0;
    worker->incoming_job = frame->job;
    worker->data_due = frame->a[2];
    worker->incoming_from = frame->a[3];
    worker->fed = 0;
  }
  if (frame->job != worker->incoming_job || frame->a[1] != incoming->length) return;
  ms_text_append(incoming, payload, (size_t)frame->size);
}

static int is_complete(const ms_worker *worker, const ms_frame *frame) {
  return worker->incoming_job == frame->job && worker->incoming.length == frame->a[0];
}

static void take_data(ms_worker *worker, const ms_frame *frame, const char *payload) {
  ms_worker_job *job = &worker->job;
  if (!job->open || frame->job != job->number || worker->data_due == 0) return;
  uint32_t number = (uint32_t)frame->a[0];
  worker->data_due--;
  if (number >= job->task.operand_count) return;
  ms_elements all = ms_elements_of(&job->task.operands[number], job->place[number], true);
  ms_transfer_accept(frame, payload, &all);
}

/* Some runs of a list of elements. The worker keeps lists by their ids, as it keeps the copies of
 * arrays that later jobs read, too. */
static int take_list(ms_worker *worker, const ms_frame *frame, const char *payload, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (!job->open || frame->job != job->number || worker->data_due == 0) return 0;
  worker->data_due--;
  uint64_t total = frame->a[1], next = frame->a[2];
  if (frame->a[3] >= job->task.operand_count) return 0;
  const ms_operand *operand = &job->task.operands[frame->a[3]];
  int64_t elements = ms_operand_elements(operand);
  if (frame->a[0] < MS_INDEX_LIST_COPIES || elements > MS_LISTED_MOST || total > (uint64_t)elements)
    return 0;
  size_t size = (size_t)total * sizeof(ms_span);
  ms_mapped_memory_piece *list =
      ms_mapped_memory_copy(&worker->mapped, frame->a[0], size, job->number, true, err);
  if (list == NULL) return -1;
  ms_element_walk walk = {payload, payload + frame->size, 0, elements};
  ms_span run, *runs = (ms_span *)(void *)list->base;
  while (next < total && ms_element_walk_next(&walk, &run)) runs[next++] = run;
  return 0;
}

static void take_values(ms_worker *worker, const ms_frame *frame, const char *payload) {
  ms_worker_job *job = &worker->job;
  if (!job->open || frame->job != job->number || worker->data_due == 0) return;
  worker->data_due--;
  uint64_t number = frame->a[0] & UINT32_MAX;
  worker->fed = (uint32_t)(frame->a[0] >> 32); /* elements come in the order of our blocks */
  if (number >= job->task.operand_count || frame->a[2] > INT64_MAX || frame->a[3] > INT64_MAX)
    return;
  const ms_operand *operand = &job->task.operands[number];
  const ms_mapped_memory_piece *list = ms_mapped_memory_find(&worker->mapped, frame->a[1]);
  bool listed = operand->movement == MS_MOVE_SERVED || ms_operand_goes_by_lists(operand);
  if (!listed || list == NULL || frame->a[1] < MS_INDEX_LIST_COPIES ||
      frame->size % operand->element != 0) {
    return;
  }
  ms_elements all = ms_elements_of(operand, job->place[number], true);
  ms_index_list_place place = {(int64_t)frame->a[2], (int64_t)frame->a[3]};
  ms_index_list_scatter((const ms_span *)(const void *)list->base,
                        (int64_t)(list->size / sizeof(ms_span)), &all, place,
                        (int64_t)(frame->size / operand->element), payload);
}

static int take_cancel(ms_worker *worker, uint64_t number, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (job->open) { /* ends at its next block */
    if (job->number == number) worker->cancelled = number;
    return 0;
  }
  if (number == 0 || worker->incoming_job != number) return 0;
  worker->cancelled = number;
  worker->incoming_job = 0; /* it had not come in completely */
  job->number = number;
  job->open = true;
  job->busy = job->waited = job->moved = 0;
  job->report.length = 0;
  return ms_worker_job_end(worker, err);
}

static int handle(ms_worker *worker, const ms_frame *frame, const char *payload, ms_error *err) {
  switch (frame->kind) {
    case MS_SAY_PEERS:
      ms_worker_road_meet(worker, payload, (size_t)frame->size);
      return 0;
    case MS_SAY_TASK:
      if (worker->job.open) return 0;
      take_task(worker, frame, payload);
      return is_complete(worker, frame) ? ms_worker_job_begin(worker, err) : 0;
    case MS_SAY_DATA:
      take_data(worker, frame, payload);
      return 0;
    case MS_SAY_LIST:
      return take_list(worker, frame, payload, err);
    case MS_SAY_VALUES:
      take_values(worker, frame, payload);
      return 0;
    case MS_SAY_CANCEL:
      return take_cancel(worker, frame->job, err);
    case MS_SAY_FORGET:
      worker->forgets = worker->forgets || frame->a[0] == 0;
      ms_mapped_memory_forget(&worker->mapped, frame->a[0],
                              worker->job.open ? worker->job.number : 0);
      return 0;
    default:
      return 0;
  }
}

int ms_worker_receive(ms_worker *worker, const char *bytes, size_t size, ms_error *err) {
  ms_frame frame;
  if (ms_frame_read(&frame, bytes, size, MS_TO_WORKER) != NULL || frame.sender != MS_DRIVER ||
      frame.incarnation != worker->setup.incarnation) {
    return 0;
  }
  int accepted = ms_link_receive(&worker->control, &frame, true, err);
  if (accepted <= 0) return accepted;
  return handle(worker, &frame, bytes + sizeof frame, err);
}
