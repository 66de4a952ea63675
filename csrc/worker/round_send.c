/* SPDX-License-Identifier: MIT
 *
 * Where memory is not shared: versions that blocks of rounds have made go to those who read them,
 * once to each worker, those of neighbouring ranges together. They go ahead of the token that tells
 * of them, and the memory that they go into is free when they come: the block that made them has
 * waited for all who read what was there. */
#include "worker/round_send.h"

#include "worker/rounds.h"

/* Ranges of one round that lie side by side. */
typedef struct stretch {
  uint32_t round, first, last;
  bool any;
} stretch;

static int send_operand(ms_worker *worker, uint32_t to, uint32_t number, const stretch *ranges,
                        ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_operand *operand = &job->task.operands[number];
  int64_t lo, hi;
  ms_link *out = worker->road->send(worker, to, err);
  if (out == NULL) return -1;
  ms_operand_rows(operand, &job->task.bounds, ranges->first, ranges->last, &lo, &hi);
  ms_elements all = ms_elements_of(operand, job->place[number], true);
  ms_transfer transfer = ms_transfer_make(&all, number, operand->array_dim, lo, hi);
  while (transfer.next < transfer.count) {
    if (ms_transfer_send(&transfer, &all, out, job->number, err) != 0) return -1;
  }
  job->moved += (uint64_t)transfer.count * operand->element;
  return 0;
}

static int send_stretch(ms_worker *worker, uint32_t to, const stretch *ranges, ms_error *err) {
  const ms_task *task = &worker->job.task;
  for (uint32_t i = 0; ranges->any && i < task->operand_count; i++) {
    const ms_operand *operand = &task->operands[i];
    if (operand->movement != MS_MOVE_VERSIONED || operand->slot == 0) continue;
    if (operand->slot != ranges->round % operand->depth + 1) continue;
    if (send_operand(worker, to, i, ranges, err) != 0) return -1;
  }
  return 0;
}

/* Whether neighbouring ranges' rows lie side by side. */
static bool joins(const ms_task *task) {
  bool joined = true;
  for (uint32_t i = 0; i < task->operand_count; i++) {
    const ms_operand *operand = &task->operands[i];
    joined = joined && (operand->movement != MS_MOVE_VERSIONED || ms_operand_joins(operand));
  }
  return joined;
}

static int send_to(ms_worker *worker, uint32_t to, uint32_t from, ms_error *err) {
  const ms_schedule *schedule = worker->schedule;
  uint32_t ranges = schedule->phase_blocks, own = worker->setup.worker;
  bool together = joins(&worker->job.task);
  stretch open = {0};
  for (uint32_t block = from; block != worker->job.block;
       block = ms_schedule_next(schedule, own, block)) {
    uint32_t round = ms_schedule_position(schedule, block) / ranges, range = block % ranges;
    if (!ms_rounds_reads(worker, to, range)) continue;
    if (open.any && together && open.round == round && open.last + 1 == range) {
      open.last = range;
      continue;
    }
    if (send_stretch(worker, to, &open, err) != 0) return -1;
    open = (stretch){.round = round, .first = range, .last = range, .any = true};
  }
  return send_stretch(worker, to, &open, err);
}

int ms_round_send(ms_worker *worker, uint32_t from, ms_error *err) {
  const ms_schedule *schedule = worker->schedule;
  for (uint32_t to = 0; to < schedule->workers; to++) {
    if (to == worker->setup.worker || ms_schedule_share(schedule, to) == 0) continue;
    if (send_to(worker, to, from, err) != 0) return -1;
  }
  return 0;
}
