/* SPDX-License-Identifier: MIT
 *
 * Exchange: see exchange.h. */
#include "worker/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/trace.h"
#include "worker/handover.h"
#include "worker/worker_job.h"

#define PERIOD 8u /* frames between credits; less than the window */

static bool is_exchanged(const ms_operand *operand) {
  return operand->movement == MS_MOVE_EXCHANGED && operand->written;
}

/* Finds who takes part, and each one's last block. */
static void find_partners(ms_worker *worker, ms_exchange *exchange) {
  const ms_schedule *schedule = worker->schedule;
  for (uint32_t w = 0; w < schedule->workers; w++) {
    uint32_t share = ms_schedule_share(schedule, w);
    if (share == 0) continue;
    uint32_t last = ms_schedule_own(schedule, w, share - 1);
    if (w == worker->setup.worker) {
      exchange->collects = ms_schedule_position(schedule, last) == schedule->count - 1;
    } else {
      ms_partner *partner = &exchange->partners[exchange->partner_count++];
      partner->number = w;
      partner->final = last;
      partner->applied = MS_NO_BLOCK;
    }
  }
}

int ms_exchange_begin(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_schedule *schedule = worker->schedule;
  uint32_t count = 0;
  for (uint32_t i = 0; i < job->task.operand_count; i++)
    count += is_exchanged(&job->task.operands[i]);
  if (count == 0 || worker->setup.shared) return 0;
  ms_arena *arena = job->arena;
  ms_exchange *exchange = ms_arena_take(arena, 1, sizeof *exchange);
  if (exchange == NULL) return ms_error_memory(err, MS_WRK, "an exchange of arrays");
  exchange->mirrors = ms_arena_take(arena, count, sizeof *exchange->mirrors);
  exchange->partners = ms_arena_take(arena, schedule->workers, sizeof *exchange->partners);
  if (exchange->mirrors == NULL || exchange->partners == NULL) {
    return ms_error_memory(err, MS_WRK, "an exchange of arrays");
  }
  find_partners(worker, exchange);
  job->exchange = exchange;
  return 0;
}

int ms_exchange_start(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  ms_exchange *exchange = job->exchange;
  if (exchange == NULL || exchange->started) return 0;
  exchange->started = true;
  for (uint32_t i = 0; i < job->task.operand_count; i++) {
    const ms_operand *operand = &job->task.operands[i];
    if (!is_exchanged(operand)) continue;
    ms_mirror *mirror = &exchange->mirrors[exchange->mirror_count];
    *mirror = (ms_mirror){.operand = i};
    if (ms_mirror_open(worker, mirror, err) != 0) return -1;
    if (ms_elements_count(&mirror->now) > 0) exchange->mirror_count++;
  }
  return 0;
}

static ms_mirror *find_mirror(ms_exchange *exchange, uint64_t operand) {
  for (uint32_t i = 0; i < exchange->mirror_count; i++) {
    if (exchange->mirrors[i].operand == operand) return &exchange->mirrors[i];
  }
  return NULL;
}

/* ------------------------------------------------------------------------ what others changed */

/* Whether all that a block of a partner waits for, of others, is applied. */
static bool may_run(const ms_worker *worker, const ms_partner *partner, uint32_t block) {
  const ms_schedule *schedule = worker->schedule;
  for (uint32_t e = 0; e < ms_schedule_edges(schedule); e++) {
    uint32_t before = ms_schedule_before(schedule, block, e);
    if (before == MS_NO_BLOCK || ms_schedule_owner(schedule, before) == partner->number) continue;
    if (!ms_handover_finished(worker, before)) return false;
  }
  return true;
}

/* Whether all that the partner's blocks after the applied ones up to `block` waited for is applied.
 * -1 when `block` does not come next. */
static int is_ready(const ms_worker *worker, const ms_partner *partner, uint32_t block) {
  const ms_schedule *schedule = worker->schedule;
  uint32_t applied = partner->applied, each = applied;
  if (!ms_schedule_owns(schedule, partner->number, block) ||
      (applied != MS_NO_BLOCK &&
       ms_schedule_rank(schedule, block) <= ms_schedule_rank(schedule, applied))) {
    return -1;
  }
  do {
    each = ms_schedule_next(schedule, partner->number, each);
    if (!may_run(worker, partner, each)) return 0;
  } while (each != block);
  return 1;
}

/* Tells a partner that there is room again. */
static int give_credit(ms_worker *worker, ms_partner *partner, ms_error *err) {
  if (partner->taken - partner->credited < PERIOD) return 0;
  ms_link *link = worker->road->send(worker, partner->number, err);
  if (link == NULL) return -1;
  partner->credited = partner->taken;
  ms_frame frame = {.kind = MS_SAY_CREDIT, .job = worker->job.number, .a = {partner->taken}};
  return ms_link_send(link, frame, NULL, 0, err);
}

static int broken(const ms_partner *partner, ms_error *err) {
  return ms_error_set(err, MS_NET, "worker %u sent changes that break the plan",
                      partner->number + 1);
}

/* Applies the partner's first held frame if it may be: 1 done, 0 not yet, -1 failed. */
static int apply_first(ms_worker *worker, ms_partner *partner, ms_error *err) {
  ms_exchange *exchange = worker->job.exchange;
  ms_message *message = &partner->held[partner->first];
  const char *bytes = ms_message_data(message), *payload = bytes + sizeof(ms_frame);
  ms_frame frame;
  memcpy(&frame, bytes, sizeof frame);
  bool token = frame.kind == MS_SAY_TOKEN;
  uint32_t block = (uint32_t)frame.a[token ? 0 : 1];
  int ready = is_ready(worker, partner, block);
  if (ready <= 0) return ready < 0 ? broken(partner, err) : 0;
  if (token) {
    ms_handover_told(worker, block);
    partner->applied = block;
  } else {
    ms_mirror *mirror = find_mirror(exchange, frame.a[0]);
    if (mirror == NULL || ms_mirror_apply(worker, mirror, partner->number, &frame, payload) != 0)
      return broken(partner, err);
  }
  ms_message_close(message);
  partner->first = (partner->first + 1) % MS_EXCHANGE_WINDOW;
  partner->held_count--;
  partner->taken++;
  return give_credit(worker, partner, err) == 0 ? 1 : -1;
}

/* Applies all that may be; what one partner did may allow what another did. */
static int apply_all(ms_worker *worker, ms_error *err) {
  ms_exchange *exchange = worker->job.exchange;
  bool moved = true;
  while (moved) {
    moved = false;
    for (uint32_t i = 0; i < exchange->partner_count; i++) {
      ms_partner *partner = &exchange->partners[i];
      int done = 1;
      while (partner->held_count > 0 && (done = apply_first(worker, partner, err)) > 0) {
        moved = true;
      }
      if (done < 0) return -1;
    }
  }
  return 0;
}

int ms_exchange_take(ms_worker *worker, ms_letter *letter, ms_error *err) {
  const ms_frame *frame = &letter->frame;
  uint32_t from = letter->from;
  ms_exchange *exchange = worker->job.exchange;
  ms_partner *partner = NULL;
  for (uint32_t i = 0; i < exchange->partner_count; i++) {
    if (exchange->partners[i].number == from) partner = &exchange->partners[i];
  }
  if (partner == NULL) return 0;
  if (frame->kind == MS_SAY_CREDIT) {
    bool good = frame->a[0] > partner->released && frame->a[0] <= partner->sent;
    if (good) partner->released = frame->a[0];
    return 0;
  }
  uint64_t block = frame->a[frame->kind == MS_SAY_TOKEN ? 0 : 1];
  if (!ms_schedule_owns(worker->schedule, from, block) ||
      partner->held_count == MS_EXCHANGE_WINDOW) {
    return broken(partner, err);
  }
  uint32_t slot = (partner->first + partner->held_count) % MS_EXCHANGE_WINDOW;
  ms_message_move(&partner->held[slot], &letter->message);
  partner->held_count++;
  return apply_all(worker, err);
}

void ms_exchange_close(ms_worker *worker) {
  ms_exchange *exchange = worker->job.exchange;
  for (uint32_t i = 0; exchange != NULL && i < exchange->partner_count; i++) {
    ms_partner *partner = &exchange->partners[i];
    for (; partner->held_count > 0; partner->held_count--) {
      ms_message_close(&partner->held[partner->first]);
      partner->first = (partner->first + 1) % MS_EXCHANGE_WINDOW;
    }
  }
  worker->job.exchange = NULL;
}

/* ------------------------------------------------------------------------ what we changed */

static bool is_over(const ms_worker *worker) {
  return worker->gone || ms_worker_job_cancelled(worker);
}

/* Waits until a partner has room for another frame; false when the job is over or failed. */
static bool has_room(ms_worker *worker, const ms_partner *partner, uint32_t block, ms_error *err) {
  if (partner->sent - partner->released < MS_EXCHANGE_WINDOW) return true;
  uint64_t began = worker->road->now();
  bool failed = false;
  /* the partner's frames tell how many of ours it has applied */
  ms_awaited all = {.worker = partner->number, .count = UINT32_MAX, .block = block};
  ms_worker_show(worker, MS_STATUS_AWAITING, (uint64_t)block + 1);
  while (!failed && !is_over(worker) && partner->sent - partner->released >= MS_EXCHANGE_WINDOW) {
    failed = worker->road->wait(worker, &all, err) != 0;
  }
  ms_worker_show(worker, MS_STATUS_AWAITING, 0);
  worker->job.waited += worker->road->now() - began;
  return !failed && !is_over(worker);
}

/* Sends one frame to all partners, each when it has room. Stops when the job is over. */
static int send_to_all(ms_worker *worker, ms_frame frame, uint32_t block, const void *payload,
                       size_t size, ms_error *err) {
  ms_exchange *exchange = worker->job.exchange;
  for (uint32_t i = 0; i < exchange->partner_count; i++) {
    ms_partner *partner = &exchange->partners[i];
    if (!has_room(worker, partner, block, err)) return is_over(worker) ? 0 : -1;
    ms_link *link = worker->road->send(worker, partner->number, err);
    if (link == NULL || ms_link_send(link, frame, payload, size, err) != 0) return -1;
    partner->sent++;
    worker->job.moved += size;
  }
  return 0;
}

/* Changes of one operand since they were last sent. What others send meanwhile are other elements.
 */
static int send_changes(ms_worker *worker, ms_mirror *mirror, uint32_t from, char *packed,
                        ms_error *err) {
  ms_mirror_walk walk = ms_mirror_changes(worker, mirror, from);
  ms_frame frame;
  int64_t size;
  while ((size = ms_mirror_pack(mirror, &walk, &frame, packed)) > 0) {
    frame.job = worker->job.number;
    if (send_to_all(worker, frame, worker->job.last, packed, (size_t)size, err) != 0) return -1;
  }
  return size == 0 ? 0 : ms_error_set(err, MS_NET, "a list of elements that is none");
}

int ms_exchange_send(ms_worker *worker, uint32_t from, ms_error *err) {
  ms_exchange *exchange = worker->job.exchange;
  uint32_t block = worker->job.last;
  char *packed = malloc(MS_FRAME_PAYLOAD);
  if (packed == NULL) return ms_error_memory(err, MS_WRK, "an exchange of arrays");
  int failed = 0;
  for (uint32_t i = 0; failed == 0 && i < exchange->mirror_count; i++) {
    failed = send_changes(worker, &exchange->mirrors[i], from, packed, err);
  }
  free(packed);
  if (failed != 0) return -1;
  ms_frame token = {.kind = MS_SAY_TOKEN, .job = worker->job.number, .a = {block}};
  return send_to_all(worker, token, block, NULL, 0, err);
}

int ms_exchange_await(ms_worker *worker, ms_error *err) {
  ms_exchange *exchange = worker->job.exchange;
  if (exchange == NULL) return 0;
  for (uint32_t i = 0; i < exchange->partner_count; i++) {
    const ms_partner *partner = &exchange->partners[i];
    bool waits = partner->applied != partner->final;
    unsigned long long number = worker->job.number;
    if (waits) {
      ms_trace(MS_TRACE_WAITS, "begin for=changes job=%llu from=worker-%u", number,
               partner->number + 1);
    }
    while (partner->applied != partner->final && !is_over(worker)) {
      ms_worker_show(worker, MS_STATUS_AWAITING, (uint64_t)partner->final + 1);
      ms_awaited all = {.worker = partner->number, .count = UINT32_MAX, .block = partner->final};
      if (worker->road->wait(worker, &all, err) != 0) return -1;
    }
    if (waits) {
      ms_trace(MS_TRACE_WAITS, "end for=changes job=%llu from=worker-%u", number,
               partner->number + 1);
    }
    ms_worker_show(worker, MS_STATUS_AWAITING, 0);
  }
  return 0;
}

int ms_exchange_finish(ms_worker *worker, ms_error *err) {
  ms_exchange *exchange = worker->job.exchange;
  if (exchange == NULL) return 0;
  if (ms_exchange_await(worker, err) != 0) return -1;
  for (uint32_t i = 0; exchange->collects && !is_over(worker) && i < exchange->mirror_count; i++) {
    if (ms_mirror_return(worker, &exchange->mirrors[i], err) != 0) return -1;
  }
  return 0;
}
