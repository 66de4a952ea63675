/* SPDX-License-Identifier: MIT
 *
 * Where memory is not shared: what a worker's blocks have written goes back to the driver. Of an
 * item that is cut the rows go that stay with this worker at the end, of one that all may write
 * anywhere the elements that differ from what came. See worker_state.h. */
#include <stdlib.h>

#include "job/report.h"
#include "worker/worker_state.h"

int ms_worker_remember_items(ms_worker *worker, ms_error *err) {
  const ms_worker_job *job = &worker->job;
  for (uint32_t i = 0; i < job->task.item_count; i++) {
    const ms_item *item = &job->task.items[i];
    if (item->movement != MS_MOVE_SCATTERED || !item->written) continue;
    ms_held_piece *copy =
        ms_held_copy(&worker->held, item->id, ms_item_bytes(item), job->number, false, err);
    if (copy == NULL || ms_held_remember(copy, err) != 0) return -1;
  }
  return ms_exchange_start(worker, err);
}

/* Sends the rows of one item that go with the ranges `first` .. `last`. */
static int return_ranges(ms_worker *worker, uint32_t number, uint32_t first, uint32_t last,
                         ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_item *item = &job->task.items[number];
  ms_box box = ms_item_box(item, job->place[number], true);
  int64_t lo, hi;
  ms_item_rows(item, &job->task.bounds, first, last, &lo, &hi);
  ms_parcel parcel = ms_parcel_make(item, number, item->array_dim, lo, hi);
  while (parcel.next < parcel.count) {
    if (!ms_worker_room(worker, err)) return -1;
    if (ms_parcel_send(&parcel, &box, &worker->control, job->number, err) != 0) return -1;
  }
  job->moved += (uint64_t)parcel.count * item->element;
  return 0;
}

/* Sends the rows of one item that stay with this worker at the end, those of neighbouring ranges
 * together. */
static int return_rows(ms_worker *worker, uint32_t number, ms_error *err) {
  const ms_item *item = &worker->job.task.items[number];
  const ms_schedule *schedule = worker->schedule;
  uint32_t ranges = schedule->grid.ranges[item->cut], first = 0, count = 0;
  for (uint32_t range = 0; range <= ranges; range++) {
    bool ours =
        range < ranges && ms_schedule_last_user(schedule, item->cut, range) == worker->setup.worker;
    if (count > 0 && !(ours && ms_item_joins(item))) {
      if (return_ranges(worker, number, first, first + count - 1, err) != 0) return -1;
      count = 0;
    }
    if (ours && count++ == 0) first = range;
  }
  return 0;
}

/* Sends the elements of a scattered item that differ from what came, as runs. */
static int return_changes(ms_worker *worker, uint32_t number, ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_item *item = &job->task.items[number];
  const ms_held_piece *copy =
      ms_held_copy(&worker->held, item->id, ms_item_bytes(item), job->number, false, err);
  if (copy == NULL) return -1;
  ms_runs runs = {.now = copy->base,
                  .before = copy->pristine,
                  .element = item->element,
                  .count = (int64_t)(copy->size / item->element)};
  char *packed = copy->size == 0 ? NULL : malloc(MS_FRAME_PAYLOAD);
  if (packed == NULL) return copy->size == 0 ? 0 : ms_error_set(err, MS_WRK, "out of memory");
  int failed = 0;
  size_t size;
  while (failed == 0 && (size = ms_runs_pack(&runs, packed, MS_FRAME_PAYLOAD)) > 0) {
    ms_frame frame = {.kind = MS_SAY_RUNS, .job = job->number, .a = {number}};
    failed = !ms_worker_room(worker, err) ||
             ms_link_send(&worker->control, frame, packed, size, err) != 0;
    job->moved += size;
  }
  free(packed);
  return failed ? -1 : 0;
}

int ms_worker_return_items(ms_worker *worker, ms_error *err) {
  const ms_task *task = &worker->job.task;
  for (uint32_t i = 0; i < task->item_count; i++) {
    const ms_item *item = &task->items[i];
    if (!item->written || item->movement == MS_MOVE_EXCHANGED) continue;
    int failed = item->movement == MS_MOVE_SCATTERED ? return_changes(worker, i, err)
                                                     : return_rows(worker, i, err);
    if (failed != 0) return -1;
  }
  return ms_exchange_finish(worker, err);
}
