/* SPDX-License-Identifier: MIT
 *
 * Hand-overs between blocks of one job, from worker to worker, over a road (net/road.h).
 *
 * A worker runs its blocks in the plan's order, so what others wait for is that so many of its
 * blocks are finished. Before a block it waits for those that the block follows
 * (ms_handover_wait), after it it tells those who wait (ms_handover_send): where memory is shared
 * by waking them, else by frames, with the rows that rotate.
 *
 * Batches: a worker may hold back what its finished blocks hand over by frames, and send it with
 * what the next ones do: one message in place of many, rows of neighbouring ranges in one piece,
 * and changes of an exchanged array looked for once. What is held back goes before the worker waits
 * for anything, so nobody waits for ever, and with its last block. Neither the grid nor the order
 * in which blocks may run has anything to do with it: a block that is told of late is like one that
 * took longer.
 *
 * Hand-overs that go in a circle (a rotation's) are not held back: there each delay comes round.
 * Where they go one way, holding back costs the others their time once, at the beginning, and each
 * batch costs this worker what sending takes. With `work` in all and `cost` for a batch that
 * makes held + cost * work / held, which is least for held = sqrt(cost * work): both are measured,
 * so heavy blocks go at once and light ones together. */
#include "worker/handover.h"

#include <string.h>

#include "base/trace.h"
#include "worker/meeting.h"
#include "worker/posting.h"
#include "worker/round_send.h"
#include "worker/rounds.h"
#include "worker/worker_job.h"

#define SPIN       50000u  /* ns of looking before sleeping: what being woken may take */
#define LOOKS      16u     /* between looks at the clock */
#define FIRST_COST 40000.0 /* ns, until a batch was sent */
#define LEARN      0.25    /* the newest cost's weight */
#define MOST_RISE  2       /* from one to the next: this process may have lost its core meanwhile */

/* ---- what is finished ---- */

void ms_handover_told(ms_worker *worker, uint32_t block) {
  const ms_schedule *schedule = worker->schedule;
  uint32_t *told = &worker->job.told[ms_schedule_owner(schedule, block)];
  uint32_t rank = ms_schedule_rank(schedule, block);
  if (rank >= *told) *told = rank + 1;
}

static ms_awaited end_of(const ms_worker *worker, uint32_t block) {
  return (ms_awaited){.worker = ms_schedule_owner(worker->schedule, block),
                      .count = ms_schedule_rank(worker->schedule, block) + 1,
                      .block = block};
}

uint32_t ms_handover_progress(const ms_worker *worker, uint32_t number) {
  uint32_t *told = &worker->job.told[number];
  if (number == worker->setup.worker) return worker->job.position;
  if (worker->road->by_frames) return *told;
  uint64_t progress = worker->road->status(worker, number, MS_STATUS_PROGRESS);
  uint32_t seen = ms_status_value(progress, worker->job.number, 0);
  if (seen > *told) *told = seen;
  return *told;
}

static bool is_finished(const ms_worker *worker, const ms_awaited *of) {
  if (of->posts) return ms_posting_changed(worker, of->count);
  if (of->meeting) return of->count <= ms_meeting_count(worker, of->worker);
  if (of->worker == worker->setup.worker) return of->count <= worker->job.position;
  if (of->count <= worker->job.told[of->worker]) return true;
  return of->count <= ms_handover_progress(worker, of->worker);
}

bool ms_handover_finished(const ms_worker *worker, uint32_t block) {
  ms_awaited before = end_of(worker, block);
  return is_finished(worker, &before);
}

/* Whether a predecessor of a block that comes next is finished: one's own earlier ones are. */
static bool is_over(const ms_worker *worker, uint32_t before) {
  return ms_schedule_owner(worker->schedule, before) == worker->setup.worker ||
         ms_handover_finished(worker, before);
}

/* ---- frames of others ---- */

/* Believes a frame of this job only as far as its sender may say it. */
static int handle(ms_worker *worker, ms_letter *letter, ms_error *err) {
  const ms_frame *frame = &letter->frame;
  ms_worker_job *job = &worker->job;
  if (!job->open || frame->job != job->number) return 0; /* of a job that was cancelled */
  if (job->exchange != NULL && frame->kind != MS_SAY_DATA) {
    return ms_exchange_take(worker, letter, err);
  }
  if (frame->kind == MS_SAY_TOKEN) {
    uint64_t block = frame->a[0];
    if (ms_schedule_owns(worker->schedule, letter->from, block))
      ms_handover_told(worker, (uint32_t)block);
    return 0;
  }
  uint32_t number = (uint32_t)frame->a[0];
  if (frame->kind != MS_SAY_DATA || worker->setup.shared || number >= job->task.operand_count ||
      !ms_operand_moves(&job->task.operands[number]) ||
      job->task.operands[number].movement == MS_MOVE_LOCAL) {
    return 0;
  }
  ms_elements all = ms_elements_of(&job->task.operands[number], job->place[number], true);
  ms_transfer_accept(frame, letter->payload, &all);
  return 0;
}

int ms_handover_take(ms_worker *worker, ms_error *err) {
  ms_letter letter;
  int got = worker->road->take(worker, &letter, err);
  if (got <= 0) return got;
  int failed = handle(worker, &letter, err);
  ms_letter_close(&letter);
  return failed != 0 ? -1 : 1;
}

/* ---- telling, by frames ---- */

/* Ranges of an axis that go to one worker together. */
typedef struct rows {
  uint32_t to, axis, first, last;
  bool any;
} rows;

/* Sends the rotated rows that follow the ranges. */
static int send_rows(ms_worker *worker, const rows *ranges, ms_error *err) {
  ms_worker_job *job = &worker->job;
  ms_link *out = ranges->any ? worker->road->send(worker, ranges->to, err) : NULL;
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

/* How many others may wait for one of our blocks, and who, by number; UINT32_MAX: nobody. */
static uint32_t edges(const ms_worker *worker, uint32_t block) {
  if (worker->job.gate == NULL) return ms_schedule_edges(worker->schedule);
  return ms_rounds_listeners(worker, block);
}

static uint32_t listener(const ms_worker *worker, uint32_t block, uint32_t edge) {
  if (worker->job.gate != NULL) return ms_rounds_listener(worker, block, edge);
  return ms_schedule_listener(worker->schedule, worker->setup.worker, block, edge);
}

static bool is_awaited(const ms_worker *worker, uint32_t block) {
  if (worker->job.gate == NULL) return ms_schedule_is_awaited(worker->schedule, block);
  return ms_rounds_listeners(worker, block) > 0;
}

/* Tells all who wait for one of our finished blocks from `from` on that they are. */
static int tell(ms_worker *worker, uint32_t from, ms_error *err) {
  ms_worker_job *job = &worker->job;
  ms_frame token = {.kind = MS_SAY_TOKEN, .job = job->number, .a = {job->last}};
  for (uint32_t block = from; block != job->block; block = next_own(worker, block)) {
    for (uint32_t e = 0; e < edges(worker, block); e++) {
      uint32_t to = listener(worker, block, e);
      if (to == UINT32_MAX || job->heard[to] == job->position) continue;
      job->heard[to] = job->position;
      ms_link *link = worker->road->send(worker, to, err);
      if (link == NULL || ms_link_send(link, token, NULL, 0, err) != 0) return -1;
    }
  }
  return 0;
}

static int send(ms_worker *worker, uint32_t from, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (!worker->setup.shared && hand_on(worker, from, err) != 0) return -1;
  bool rounds = worker->schedule->grid.strategy == MS_ROUNDS;
  if (!worker->setup.shared && rounds && ms_round_send(worker, from, err) != 0) return -1;
  if (job->exchange != NULL) return ms_exchange_send(worker, from, err);
  return tell(worker, from, err); /* behind all rows, which are there for who hears it */
}

int ms_handover_flush(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (!job->holds) return 0;
  uint32_t from = job->held;
  uint64_t before = worker->road->now(), waited = job->waited;
  job->holds = false;
  job->handed = job->position;
  job->held = job->block;
  job->handed_busy = job->busy;
  if (send(worker, from, err) != 0) return -1;
  double took = (double)(worker->road->now() - before) - (double)(job->waited - waited);
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

/* Our `block` is finished: sends what it hands over, or holds it back. */
static int add_to_batch(ms_worker *worker, uint32_t block, ms_error *err) {
  ms_worker_job *job = &worker->job;
  bool last = job->position == job->share;
  bool awaited = is_awaited(worker, block);
  job->holds = job->holds || awaited || (last && job->exchange != NULL);
  if (!last && (!awaited || is_light(worker))) return 0;
  return ms_handover_flush(worker, err);
}

/* ---- waiting ---- */

/* Looks for a short while, until the block is finished. */
static bool look_at(const ms_worker *worker, const ms_awaited *before) {
  uint64_t end = 0;
  for (uint32_t look = 0; !is_finished(worker, before); look++) {
    if (look % LOOKS == 0) {
      uint64_t now = worker->road->now();
      if (end == 0) end = now + SPIN;
      if (now >= end) return false;
    }
    ms_spin_pause();
  }
  return true;
}

/* Looks for a while where that takes no core from whoever is waited for. */
static bool spin_for(ms_worker *worker, const ms_awaited *before) {
  if (is_finished(worker, before)) return true;
  bool inside = before->meeting || before->posts;
  ms_spin *spin = inside ? &worker->meeting_spin : &worker->token_spin;
  if (!worker->may_spin || !ms_spin_worthwhile(spin)) return false;
  bool found = look_at(worker, before);
  ms_spin_learn(spin, found);
  return found;
}

/* True when `before` is finished, or one look shows that it is; -1: broken. */
static int look_for(ms_worker *worker, const ms_awaited *before, ms_error *err) {
  if (!worker->road->by_frames) return spin_for(worker, before);
  int taken = 1;
  while (!is_finished(worker, before) && taken > 0) taken = ms_handover_take(worker, err);
  return taken < 0 ? -1 : is_finished(worker, before);
}

/* Whether it is not to be waited any longer. */
static bool is_late(const ms_worker *worker, const ms_awaited *before) {
  return before->until != 0 && worker->road->now() >= before->until;
}

int ms_handover_await(ms_worker *worker, const ms_awaited *before, ms_error *err) {
  int found = look_for(worker, before, err);
  if (found != 0) return found < 0 ? -1 : 0;
  if (ms_handover_flush(worker, err) != 0) return -1; /* others may wait for what is held back */
  ms_worker_show(worker, MS_STATUS_AWAITING, (uint64_t)before->block + 1);
  int failed = 0;
  while (failed == 0 && !is_finished(worker, before) && !worker->gone &&
         !ms_worker_job_cancelled(worker) && !is_late(worker, before)) {
    failed = worker->road->wait(worker, before, err);
  }
  if (failed == 0) ms_worker_show(worker, MS_STATUS_AWAITING, 0);
  return failed;
}

/* Waits for a worker's count; the wait is told of in traces. */
static int wait_for(ms_worker *worker, const ms_awaited *before, ms_error *err) {
  const ms_worker_job *job = &worker->job;
  if (is_finished(worker, before)) return 0;
  unsigned long long number = job->number;
  ms_trace(MS_TRACE_WAITS, "begin for=block job=%llu block=%u before=%u", number, before->block,
           job->block);
  int failed = ms_handover_await(worker, before, err);
  ms_trace(MS_TRACE_WAITS, "end for=block job=%llu block=%u", number, before->block);
  return failed;
}

bool ms_handover_ready(const ms_worker *worker, uint32_t block) {
  const ms_schedule *schedule = worker->schedule;
  ms_awaited end;
  bool excuses = ms_rounds_excuse(worker);
  if (excuses && !ms_rounds_are_open(worker, block)) return false;
  for (uint32_t n = 0; !excuses && ms_rounds_before(worker, block, n, &end); n++) {
    if (!is_finished(worker, &end)) return false;
  }
  for (uint32_t e = 0; worker->job.gate == NULL && e < ms_schedule_edges(schedule); e++) {
    uint32_t before = ms_schedule_before(schedule, block, e);
    if (before != MS_NO_BLOCK && !is_over(worker, before)) return false;
  }
  atomic_thread_fence(memory_order_acquire); /* what the others wrote to shared memory */
  return true;
}

int ms_handover_wait(ms_worker *worker, uint32_t block, ms_error *err) {
  const ms_schedule *schedule = worker->schedule;
  ms_awaited end;
  bool excuses = ms_rounds_excuse(worker);
  if (excuses && ms_rounds_await(worker, block, err) != 0) return -1;
  for (uint32_t n = 0; !excuses && ms_rounds_before(worker, block, n, &end); n++) {
    if (wait_for(worker, &end, err) != 0) return -1;
    if (!is_finished(worker, &end)) return 0;
  }
  for (uint32_t e = 0; worker->job.gate == NULL && e < ms_schedule_edges(schedule); e++) {
    uint32_t before = ms_schedule_before(schedule, block, e);
    if (before == MS_NO_BLOCK) continue;
    end = end_of(worker, before);
    if (wait_for(worker, &end, err) != 0) return -1;
    if (!is_finished(worker, &end)) return 0;
  }
  atomic_thread_fence(memory_order_acquire); /* what the others wrote to shared memory */
  return 0;
}

/* ---- telling ---- */

/* Wakes those who wait for a block, each once. */
static void wake(ms_worker *worker, uint32_t block) {
  const ms_schedule *schedule = worker->schedule;
  uint32_t all = edges(worker, block), rung[MS_CUTS], count = 0;
  bool once = schedule->phase_blocks > 0; /* there each is named once */
  for (uint32_t e = 0; e < all; e++) {
    uint32_t to = listener(worker, block, e);
    bool known = to == UINT32_MAX;
    for (uint32_t k = 0; k < count; k++) known = known || rung[k] == to;
    if (known) continue;
    if (!once) rung[count++] = to;
    ms_trace(MS_TRACE_MESSAGES, "hand-over to=worker-%u job=%llu block=%u", to + 1,
             (unsigned long long)worker->job.number, block);
    worker->road->wake(worker, to);
  }
}

int ms_handover_send(ms_worker *worker, uint32_t block, ms_error *err) {
  if (worker->road->by_frames) return add_to_batch(worker, block, err);
  wake(worker, block);
  return 0;
}
