/* SPDX-License-Identifier: MIT
 *
 * Where memory is not shared: what a worker's blocks have written goes back to the driver. Of an
 * operand that is cut the rows go that stay with this worker at the end, of one that has lists what
 * those of its blocks have, of one that all may write anywhere the elements that differ from what
 * came. What all have is returned by one worker (exchange.h). */
#include "worker/worker_return.h"

#include <stdlib.h>

#include "job/listed.h"
#include "job/report.h"
#include "worker/worker_job.h"

int ms_worker_return_remember(ms_worker *worker, ms_error *err) {
  const ms_worker_job *job = &worker->job;
  for (uint32_t i = 0; i < job->task.operand_count; i++) {
    const ms_operand *operand = &job->task.operands[i];
    if (operand->movement != MS_MOVE_SCATTERED || !operand->written) continue;
    if (ms_operand_goes_by_lists(operand)) continue;
    ms_mapped_memory_piece *copy = ms_mapped_memory_copy(
        &worker->mapped, operand->id, ms_operand_bytes(operand), job->number, false, err);
    ms_elements all = ms_elements_written(operand, job->place[i], true);
    if (copy == NULL || ms_mapped_memory_remember(copy, &all, err) != 0) return -1;
  }
  return ms_exchange_start(worker, err);
}

/* Sends the rows of one operand that go with the ranges `first` .. `last`. */
static int return_ranges(ms_worker *worker, uint32_t number, uint32_t first, uint32_t last,
                         ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_operand *operand = &job->task.operands[number];
  ms_elements all = ms_elements_written(operand, job->place[number], true);
  int64_t lo, hi;
  ms_operand_rows(operand, &job->task.bounds, first, last, &lo, &hi);
  ms_transfer transfer = ms_transfer_make(&all, number, operand->array_dim, lo, hi);
  while (transfer.next < transfer.count) {
    if (!ms_worker_job_room(worker, err)) return -1;
    if (ms_transfer_send(&transfer, &all, &worker->control, job->number, err) != 0) return -1;
  }
  job->moved += (uint64_t)transfer.count * operand->element;
  return 0;
}

/* Sends the rows of one operand that stay with this worker at the end, those of neighbouring ranges
 * together. */
static int return_rows(ms_worker *worker, uint32_t number, ms_error *err) {
  const ms_operand *operand = &worker->job.task.operands[number];
  const ms_schedule *schedule = worker->schedule;
  uint32_t ranges = schedule->grid.ranges[operand->cut], first = 0, count = 0;
  for (uint32_t range = 0; range <= ranges; range++) {
    bool ours = range < ranges &&
                ms_schedule_last_user(schedule, operand->cut, range) == worker->setup.worker;
    if (count > 0 && !(ours && ms_operand_joins(operand))) {
      if (return_ranges(worker, number, first, first + count - 1, err) != 0) return -1;
      count = 0;
    }
    if (ours && count++ == 0) first = range;
  }
  return 0;
}

/* Sends the elements of a scattered operand that differ from what came, as runs. */
static int return_changes(ms_worker *worker, uint32_t number, ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_operand *operand = &job->task.operands[number];
  const ms_mapped_memory_piece *copy = ms_mapped_memory_copy(
      &worker->mapped, operand->id, ms_operand_bytes(operand), job->number, false, err);
  if (copy == NULL) return -1;
  ms_change_runs runs = {.now = ms_elements_written(operand, copy->base, true),
                         .before = copy->pristine};
  runs.count = ms_elements_count(&runs.now);
  if (runs.count == 0) return 0;
  char *packed = malloc(MS_FRAME_PAYLOAD);
  if (packed == NULL) return ms_error_memory(err, MS_WRK, "a loop's results");
  int failed = 0;
  size_t size;
  while (failed == 0 && (size = ms_change_runs_pack(&runs, packed, MS_FRAME_PAYLOAD)) > 0) {
    ms_frame frame = {.kind = MS_SAY_RUNS, .job = job->number, .a = {number}};
    failed = !ms_worker_job_room(worker, err) ||
             ms_link_send(&worker->control, frame, packed, size, err) != 0;
    job->moved += size;
  }
  free(packed);
  return failed ? -1 : 0;
}

/* Sends what the blocks' lists of an operand have. */
static int return_listed(ms_worker *worker, uint32_t number, ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_task *task = &job->task;
  const ms_operand *operand = &task->operands[number];
  ms_element_lists lists;
  if (ms_operand_open_lists(task->operands, task->operand_count, number, operand->listed,
                            job->place, &task->grid, &lists, err) != 0) {
    return -1;
  }
  ms_elements all = ms_elements_of(operand, job->place[number], true);
  ms_listed_share share = ms_listed_share_begin(&lists, worker->schedule, worker->setup.worker);
  int64_t most = (int64_t)(MS_FRAME_PAYLOAD / operand->element);
  while (share.done < share.count) {
    int64_t left = share.count - share.done, take = left < most ? left : most;
    ms_frame frame = {.kind = MS_SAY_VALUES, .job = job->number, .a = {number}};
    frame.a[1] = (uint64_t)share.done;
    ms_message message;
    if (!ms_worker_job_room(worker, err)) return -1;
    size_t size = (size_t)take * operand->element;
    void *room = ms_link_begin(&worker->control, frame, size, &message, err);
    if (room == NULL) return -1;
    bool got = ms_listed_share_gather(&share, &all, take, room);
    if (ms_link_commit(&worker->control, &message, err) != 0) return -1;
    if (!got) return ms_error_set(err, MS_NET, "a list of elements that is none");
    job->moved += size;
  }
  return 0;
}

/* The memory of the last version that the job makes. */
static uint32_t last_slot(const ms_worker *worker, const ms_operand *operand) {
  const ms_schedule *schedule = worker->schedule;
  uint32_t rounds = schedule->count / schedule->phase_blocks;
  return (rounds - 1) % operand->depth + 1;
}

int ms_worker_return_operands(ms_worker *worker, ms_error *err) {
  const ms_task *task = &worker->job.task;
  for (uint32_t i = 0; i < task->operand_count; i++) {
    const ms_operand *operand = &task->operands[i];
    bool listed = ms_operand_goes_by_lists(operand);
    if (!operand->written || (operand->movement == MS_MOVE_EXCHANGED && !listed)) continue;
    if (operand->movement == MS_MOVE_VERSIONED && operand->slot != last_slot(worker, operand))
      continue;
    int failed;
    if (listed) {
      failed = return_listed(worker, i, err);
    } else if (operand->movement == MS_MOVE_SCATTERED) {
      failed = return_changes(worker, i, err);
    } else {
      failed = return_rows(worker, i, err);
    }
    if (failed != 0) return -1;
  }
  return ms_exchange_finish(worker, err);
}
