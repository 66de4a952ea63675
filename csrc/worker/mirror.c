/* SPDX-License-Identifier: MIT
 *
 * Mirror: see mirror.h. */
#include "worker/mirror.h"

#include <string.h>

#include "worker/worker_job.h"

/* A mirror of an operand whose blocks have lists of what they hand over. */
static int open_lists(ms_worker *worker, ms_mirror *mirror, ms_error *err) {
  const ms_worker_job *job = &worker->job;
  const ms_task *task = &job->task;
  uint32_t number = mirror->operand;
  const ms_operand *operand = &task->operands[number];
  mirror->now = ms_elements_of(operand, job->place[number], true);
  mirror->coming = ms_arena_take(job->arena, task->workers, sizeof *mirror->coming);
  if (mirror->coming == NULL) return ms_error_memory(err, MS_WRK, "the copy of an exchanged array");
  return ms_operand_open_lists(task->operands, task->operand_count, number, operand->handed,
                               job->place, &task->grid, &mirror->handed, err);
}

/* A mirror of one whose changes are looked for. */
static int open_copy(ms_worker *worker, ms_mirror *mirror, ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_operand *operand = &job->task.operands[mirror->operand];
  ms_mapped_memory_piece *copy = ms_mapped_memory_copy(
      &worker->mapped, operand->id, ms_operand_bytes(operand), job->number, false, err);
  if (copy == NULL) return -1;
  mirror->now = ms_elements_written(operand, copy->base, true);
  if (ms_mapped_memory_remember(copy, &mirror->now, err) != 0) return -1;
  mirror->before = copy->pristine;
  size_t pieces = (size_t)ms_elements_count(&mirror->now) / MS_MIRROR_PIECE + 1;
  mirror->dirty = ms_arena_take(job->arena, pieces, sizeof *mirror->dirty);
  return mirror->dirty == NULL ? ms_error_memory(err, MS_WRK, "the copy of an exchanged array") : 0;
}

int ms_mirror_open(ms_worker *worker, ms_mirror *mirror, ms_error *err) {
  const ms_operand *operand = &worker->job.task.operands[mirror->operand];
  return ms_operand_goes_by_lists(operand) ? open_lists(worker, mirror, err)
                                           : open_copy(worker, mirror, err);
}

/* Remembers packed runs, which are among the elements now, as sent or applied. */
static void note_runs(ms_mirror *mirror, const char *bytes, size_t size) {
  size_t element = mirror->now.operand->element;
  int64_t first, count;
  for (size_t at = 0; ms_change_runs_next(bytes, size, element, &at, &first, &count) > 0;) {
    size_t length = (size_t)count * element;
    memcpy(mirror->before + (size_t)first * element, bytes + at - length, length);
    int64_t end = (first + count - 1) / MS_MIRROR_PIECE;
    for (int64_t piece = first / MS_MIRROR_PIECE; piece <= end; piece++) mirror->dirty[piece] = 1;
  }
}

/* ---- what others changed ---- */

/* Begins with what another worker's blocks from the frame's first to its last one hand over. */
static int begin_share(const ms_schedule *schedule, ms_mirror *mirror, uint32_t from,
                       const ms_frame *frame) {
  if (!ms_schedule_owns(schedule, from, frame->a[2])) return -1;
  uint32_t first = (uint32_t)frame->a[2], last = (uint32_t)frame->a[1];
  if (ms_schedule_rank(schedule, first) > ms_schedule_rank(schedule, last)) return -1;
  mirror->coming[from] = ms_listed_share_between(&mirror->handed, schedule, from, first, last);
  return 0;
}

/* Writes values that another worker's blocks have handed over to their places. Its frames come in
 * the order in which it sent them, so each goes on where the one before ended. */
static int apply_values(const ms_worker *worker, ms_mirror *mirror, uint32_t from,
                        const ms_frame *frame, const char *values) {
  size_t element = mirror->now.operand->element;
  ms_listed_share *share = &mirror->coming[from];
  if (frame->size % element != 0) return -1;
  if (frame->a[3] == 0 && begin_share(worker->schedule, mirror, from, frame) != 0) return -1;
  bool goes_on =
      share->lists != NULL && share->final == frame->a[1] && (uint64_t)share->done == frame->a[3];
  int64_t count = (int64_t)(frame->size / element);
  if (!goes_on || count > share->count - share->done) return -1;
  return ms_listed_share_scatter(share, &mirror->now, count, values) ? 0 : -1;
}

/* Writes changes to where they are. */
static int apply_runs(ms_mirror *mirror, const ms_frame *frame, const char *runs) {
  size_t size = (size_t)frame->size;
  if (ms_change_runs_apply(runs, size, &mirror->now) != 0) return -1;
  note_runs(mirror, runs, size);
  return 0;
}

int ms_mirror_apply(const ms_worker *worker, ms_mirror *mirror, uint32_t from,
                    const ms_frame *frame, const char *payload) {
  bool values = frame->kind == MS_SAY_VALUES;
  if (values != (mirror->before == NULL)) return -1;
  return values ? apply_values(worker, mirror, from, frame, payload)
                : apply_runs(mirror, frame, payload);
}

/* ---- what we changed ---- */

/* Where our finished blocks from `from` on may have changed an operand. */
static ms_change_runs span_of(const ms_worker *worker, const ms_mirror *mirror, uint32_t from) {
  const ms_worker_job *job = &worker->job;
  const ms_operand *operand = &job->task.operands[mirror->operand];
  ms_change_runs runs = {.now = mirror->now, .before = mirror->before};
  const ms_schedule *schedule = worker->schedule;
  uint32_t own = worker->setup.worker;
  for (uint32_t p = from; p != job->block; p = ms_schedule_next(schedule, own, p)) {
    int64_t first, end;
    ms_operand_writes_span(operand, &schedule->grid, &job->task.bounds, p, &first, &end);
    if (first == end) continue;
    if (runs.count == 0 || first < runs.next) runs.next = first;
    if (end > runs.count) runs.count = end;
  }
  return runs;
}

ms_mirror_walk ms_mirror_changes(const ms_worker *worker, const ms_mirror *mirror, uint32_t from) {
  ms_mirror_walk walk = {.from = from, .last = worker->job.last};
  if (mirror->before != NULL) {
    walk.runs = span_of(worker, mirror, from);
  } else {
    walk.share = ms_listed_share_between(&mirror->handed, worker->schedule, worker->setup.worker,
                                         from, walk.last);
  }
  return walk;
}

/* Values that are handed over by lists. */
static int64_t pack_values(const ms_mirror *mirror, ms_mirror_walk *walk, ms_frame *frame,
                           char *packed) {
  ms_listed_share *share = &walk->share;
  size_t element = mirror->now.operand->element;
  int64_t most = (int64_t)(MS_FRAME_PAYLOAD / element), left = share->count - share->done;
  int64_t take = left < most ? left : most;
  *frame = (ms_frame){.kind = MS_SAY_VALUES,
                      .a = {mirror->operand, walk->last, walk->from, (uint64_t)share->done}};
  if (!ms_listed_share_gather(share, &mirror->now, take, packed)) return -1;
  return take * (int64_t)element;
}

int64_t ms_mirror_pack(ms_mirror *mirror, ms_mirror_walk *walk, ms_frame *frame, char *packed) {
  if (mirror->before == NULL) return pack_values(mirror, walk, frame, packed);
  size_t size = ms_change_runs_pack(&walk->runs, packed, MS_FRAME_PAYLOAD);
  note_runs(mirror, packed, size);
  *frame = (ms_frame){.kind = MS_SAY_RUNS, .a = {mirror->operand, walk->last}};
  return (int64_t)size;
}

int ms_mirror_return(ms_worker *worker, const ms_mirror *mirror, ms_error *err) {
  if (mirror->before == NULL) return 0; /* each worker returns its own */
  const ms_operand *operand = &worker->job.task.operands[mirror->operand];
  int64_t count = ms_elements_count(&mirror->now), pieces = count / MS_MIRROR_PIECE + 1;
  for (int64_t piece = 0; piece < pieces; piece++) {
    if (!mirror->dirty[piece]) continue;
    ms_transfer transfer = ms_transfer_make(&mirror->now, mirror->operand, 0, 0, operand->dims[0]);
    transfer.next = piece * MS_MIRROR_PIECE;
    while (piece < pieces && mirror->dirty[piece]) piece++;
    if (piece * MS_MIRROR_PIECE < count) transfer.count = piece * MS_MIRROR_PIECE;
    worker->job.moved += (uint64_t)(transfer.count - transfer.next) * operand->element;
    while (transfer.next < transfer.count) {
      if (!ms_worker_job_room(worker, err)) return -1;
      if (ms_transfer_send(&transfer, &mirror->now, &worker->control, worker->job.number, err) != 0)
        return -1;
    }
  }
  return 0;
}
