/* SPDX-License-Identifier: MIT
 *
 * Batches: hand-overs that travel together, where they travel by messages.
 *
 * A worker may hold back what its finished blocks hand over, and send it with what the next ones
 * do: one message in place of many, rows of neighbouring ranges in one piece, and changes of an
 * exchanged array looked for once. What is held back goes before the worker waits for anything, so
 * nobody waits for ever, and with its last block. Neither the grid nor the order in which blocks
 * may run has anything to do with it: a block that is told of late is like one that took longer.
 *
 * Hand-overs that go in a circle (a rotation's) are not held back: there each delay comes round.
 * Where they go one way, holding back costs the others their time once, at the beginning, and each
 * batch costs this worker what sending takes. With `work` in all and `cost` for a batch that
 * makes held + cost * work / held, which is least for held = sqrt(cost * work): both are measured,
 * so heavy blocks go at once and light ones together. */
#include "base/clock.h"
#include "worker/worker_state.h"

#define FIRST_COST 40000.0 /* ns, until a batch was sent */
#define LEARN      0.25    /* the newest cost's weight */
#define MOST_RISE  2       /* from one to the next: this process may have lost its core meanwhile */

/* Ranges of an axis that go to one worker together. */
typedef struct rows {
  uint32_t to, axis, first, last;
  bool any;
} rows;

/* Sends the rotated rows that follow the ranges. */
static int send_rows(ms_worker *worker, const rows *ranges, ms_error *err) {
  ms_worker_job *job = &worker->job;
  ms_link *out = ranges->any ? ms_handover_link(worker, ranges->to, err) : NULL;
  if (out == NULL) return ranges->any ? -1 : 0;
  for (uint32_t i = 0; i < job->task.operand_count; i++) {
    const ms_operand *operand = &job->task.operands[i];
    if (operand->movement != MS_MOVE_ROTATED || operand->cut != ranges->axis) continue;
    int64_t lo, hi;
    ms_operand_rows(operand, &job->task.bounds, ranges->first, ranges->last, &lo, &hi);
    ms_elements all = ms_elements_of(operand, job->place[i], true);
    ms_transfer transfer = ms_transfer_make(&all, i, operand->array_dim, lo, hi);
    while (transfer.next < transfer.count) {
      if (ms_transfer_send(&transfer, &all, out, job->number, err) != 0) return -1;
    }
    job->moved += (uint64_t)transfer.count * operand->element;
  }
  return 0;
}

/* Whether another range can travel with those that are open. */
static bool joins(const ms_worker *worker, const rows *open, const rows *next) {
  const ms_task *task = &worker->job.task;
  bool joined = open->any && open->to == next->to && open->axis == next->axis &&
                open->last + 1 == next->first;
  for (uint32_t i = 0; joined && i < task->operand_count; i++) {
    const ms_operand *operand = &task->operands[i];
    bool moves = operand->movement == MS_MOVE_ROTATED && operand->cut == next->axis;
    joined = !moves || ms_operand_joins(operand);
  }
  return joined;
}

static uint32_t next_own(const ms_worker *worker, uint32_t block) {
  return ms_schedule_next(worker->schedule, worker->setup.worker, block);
}

/* Hands the ranges that our finished blocks from `from` on leave to those that use them next. */
static int hand_on(ms_worker *worker, uint32_t from, ms_error *err) {
  const ms_schedule *schedule = worker->schedule;
  const ms_worker_job *job = &worker->job;
  rows open = {0};
  for (uint32_t block = from; block != job->block; block = next_own(worker, block)) {
    for (uint32_t axis = 0; axis < schedule->chains; axis++) {
      uint32_t to = ms_schedule_listener(schedule, worker->setup.worker, block, axis);
      uint32_t range = ms_grid_range(&schedule->grid, block, axis);
      rows next = {.to = to, .axis = axis, .first = range, .last = range, .any = true};
      if (to == UINT32_MAX) continue;
      if (joins(worker, &open, &next)) {
        open.last = range;
        continue;
      }
      if (send_rows(worker, &open, err) != 0) return -1;
      open = next;
    }
  }
  return send_rows(worker, &open, err);
}

/* Tells all who wait for one of our finished blocks from `from` on that they are. */
static int tell(ms_worker *worker, uint32_t from, ms_error *err) {
  ms_worker_job *job = &worker->job;
  ms_frame token = {.kind = MS_SAY_TOKEN, .job = job->number, .a = {job->last}};
  uint32_t edges = ms_schedule_edges(worker->schedule);
  for (uint32_t block = from; block != job->block; block = next_own(worker, block)) {
    for (uint32_t e = 0; e < edges; e++) {
      uint32_t to = ms_schedule_listener(worker->schedule, worker->setup.worker, block, e);
      if (to == UINT32_MAX || job->heard[to] == job->position) continue;
      job->heard[to] = job->position;
      ms_link *link = ms_handover_link(worker, to, err);
      if (link == NULL || ms_link_send(link, token, NULL, 0, err) != 0) return -1;
    }
  }
  return 0;
}

static int send(ms_worker *worker, uint32_t from, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (!worker->setup.shared && hand_on(worker, from, err) != 0) return -1;
  if (job->exchange != NULL) return ms_exchange_send(worker, from, err);
  return tell(worker, from, err); /* after all rows: it says that they are there */
}

int ms_send_batch_send(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (!job->holds) return 0;
  uint32_t from = job->held;
  uint64_t before = ms_clock_now(), waited = job->waited;
  job->holds = false;
  job->handed = job->position;
  job->held = job->block;
  job->handed_busy = job->busy;
  if (send(worker, from, err) != 0) return -1;
  double took = (double)(ms_clock_now() - before) - (double)(job->waited - waited);
  double known = worker->batch_cost > 0 ? worker->batch_cost : FIRST_COST;
  if (took > MOST_RISE * known) took = MOST_RISE * known;
  worker->batch_cost = known + LEARN * (took - known);
  return 0;
}

static bool is_light(const ms_worker *worker) {
  const ms_worker_job *job = &worker->job;
  double held = (double)(job->busy - job->handed_busy);
  double work = (double)job->busy / job->position * job->share;
  double cost = worker->batch_cost > 0 ? worker->batch_cost : FIRST_COST;
  bool one_way = ms_strategy_traits_of(worker->schedule->grid.strategy)->one_way;
  return one_way && held * held < cost * work;
}

int ms_send_batch_add(ms_worker *worker, uint32_t block, ms_error *err) {
  ms_worker_job *job = &worker->job;
  bool last = job->position == job->share;
  bool awaited = ms_schedule_is_awaited(worker->schedule, block);
  job->holds = job->holds || awaited || (last && job->exchange != NULL);
  if (!last && (!awaited || is_light(worker))) return 0;
  return ms_send_batch_send(worker, err);
}
