/* SPDX-License-Identifier: MIT
 *
 * Hand-overs from worker to worker: on one host through the page, else over their own
 * sockets (send_batch.c sends them). The rest calls ms_handover_wait and ms_handover_send. */
#include <string.h>

#include "base/clock.h"
#include "base/trace.h"
#include "worker/worker_state.h"

#define SPIN  50000u /* ns of looking before sleeping: what being woken may take */
#define LOOKS 16u    /* between looks at the clock */
#define SLEEP 100    /* ms between looks at the lane while the bell is silent */

void ms_handover_close(ms_worker *worker) {
  for (uint32_t i = 0; i < worker->neighbour_count; i++) {
    ms_socket_close(&worker->neighbours[i].socket);
    worker->neighbours[i].socket = NULL;
  }
}

/* The neighbour with this routing id, NULL for a stranger. */
static ms_neighbour *find(ms_worker *worker, const char *identity) {
  for (uint32_t i = 0; i < worker->neighbour_count; i++) {
    const char *known = worker->neighbours[i].peer.identity;
    if (known[0] != '\0' && strcmp(known, identity) == 0) return &worker->neighbours[i];
  }
  return NULL;
}

/* Believes a frame of this job only as far as its sender may say it. */
static int handle(ms_worker *worker, uint32_t from, const ms_frame *frame, ms_message *message,
                  ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (!job->open || frame->job != job->number) return 0; /* of a job that was cancelled */
  if (job->exchange != NULL && frame->kind != MS_SAY_DATA) {
    return ms_exchange_take(worker, from, frame, message, err);
  }
  if (frame->kind == MS_SAY_TOKEN) {
    uint64_t block = frame->a[0];
    if (ms_schedule_owns(worker->schedule, from, block)) ms_handover_told(worker, (uint32_t)block);
    return 0;
  }
  uint32_t number = (uint32_t)frame->a[0];
  if (frame->kind != MS_SAY_DATA || worker->setup.shared || number >= job->task.operand_count ||
      job->task.operands[number].movement != MS_MOVE_ROTATED) {
    return 0;
  }
  ms_elements all = ms_elements_of(&job->task.operands[number], job->place[number], true);
  ms_transfer_accept(frame, (const char *)ms_message_data(message) + sizeof *frame, &all);
  return 0;
}

int ms_handover_take(ms_worker *worker, ms_error *err) {
  ms_message message;
  char identity[MS_IDENTITY_SIZE];
  int got = ms_socket_receive(worker->inbox, identity, &message);
  if (got <= 0) return got == 0 ? 0 : 1;
  int failed = 0;
  ms_frame frame;
  const char *bytes = ms_message_data(&message);
  ms_neighbour *from = find(worker, identity);
  if (from != NULL && ms_frame_read(&frame, bytes, ms_message_size(&message), MS_TO_PEER) == NULL &&
      frame.sender == (uint32_t)(from - worker->neighbours) &&
      frame.incarnation == from->peer.incarnation) {
    from->in.peer = frame.sender;
    failed = ms_link_receive(&from->in, &frame, false, err) < 0;
    if (!failed) failed = handle(worker, frame.sender, &frame, &message, err);
  }
  ms_message_close(&message);
  return failed ? -1 : 1;
}

void ms_handover_told(ms_worker *worker, uint32_t block) {
  const ms_schedule *schedule = worker->schedule;
  uint32_t *told = &worker->job.told[ms_schedule_owner(schedule, block)];
  uint32_t rank = ms_schedule_rank(schedule, block);
  if (rank >= *told) *told = rank + 1;
}

/* What is waited for: a worker's first so many blocks, of which `block` is the last. */
typedef struct awaited {
  uint32_t worker, count, block;
} awaited;

static awaited end_of(const ms_worker *worker, uint32_t block) {
  return (awaited){.worker = ms_schedule_owner(worker->schedule, block),
                   .count = ms_schedule_rank(worker->schedule, block) + 1,
                   .block = block};
}

static bool is_finished(const ms_worker *worker, const awaited *of) {
  uint32_t *told = &worker->job.told[of->worker];
  if (of->worker == worker->setup.worker) return of->count <= worker->job.position;
  if (of->count > *told && worker->page_hands_over) {
    *told = ms_status_page_progress(&worker->page[of->worker], worker->job.number);
  }
  return of->count <= *told;
}

bool ms_handover_finished(const ms_worker *worker, uint32_t block) {
  awaited before = end_of(worker, block);
  return is_finished(worker, &before);
}

/* Whether a predecessor of a block that comes next is finished: one's own earlier ones are. */
static bool is_over(const ms_worker *worker, uint32_t before) {
  return ms_schedule_owner(worker->schedule, before) == worker->setup.worker ||
         ms_handover_finished(worker, before);
}

/* Looks for a short while, until the block is finished. */
static bool look_at(const ms_worker *worker, const awaited *before) {
  uint64_t end = 0;
  for (uint32_t look = 0; !is_finished(worker, before); look++) {
    if (look % LOOKS == 0) {
      uint64_t now = ms_clock_now();
      if (end == 0) end = now + SPIN;
      if (now >= end) return false;
    }
    ms_spin_pause();
  }
  return true;
}

/* Looks for a while where that takes no core from whoever is waited for. */
static bool spin_for(ms_worker *worker, const awaited *before) {
  if (is_finished(worker, before)) return true;
  if (!worker->may_spin || !ms_spin_worthwhile(&worker->token_spin)) return false;
  bool found = look_at(worker, before);
  ms_spin_learn(&worker->token_spin, found);
  return found;
}

/* Sleeps until the bell rings or the driver is to be looked at. */
static int sleep_for(ms_worker *worker, const awaited *before, ms_error *err) {
  uint32_t heard = ms_status_page_listen(worker->status);
  if (!is_finished(worker, before) && !ms_worker_cancelled(worker)) {
    ms_status_page_sleep(worker->status, heard, SLEEP);
  }
  ms_status_page_wake(worker->status);
  return is_finished(worker, before) ? 0 : ms_worker_wait(worker, false, 0, err);
}

/* True when `before` is finished, or one look shows that it is; -1: broken. */
static int look_for(ms_worker *worker, const awaited *before, ms_error *err) {
  if (worker->page_hands_over) return spin_for(worker, before);
  int taken = 1;
  while (!is_finished(worker, before) && taken > 0) taken = ms_handover_take(worker, err);
  return taken < 0 ? -1 : is_finished(worker, before);
}

/* Waits until `before` is finished; 0 also when the job ends otherwise: the caller sees why. */
static int wait_untold(ms_worker *worker, const awaited *before, ms_error *err) {
  int found = look_for(worker, before, err);
  if (found != 0) return found < 0 ? -1 : 0;
  if (ms_send_batch_send(worker, err) != 0) return -1; /* others may wait for what is held back */
  atomic_store(&worker->status->awaiting, (uint64_t)before->block + 1);
  int failed = 0;
  while (failed == 0 && !is_finished(worker, before) && !worker->gone &&
         !ms_worker_cancelled(worker)) {
    failed = worker->page_hands_over ? sleep_for(worker, before, err)
                                     : ms_worker_wait(worker, true, MS_HANDOVER_WAIT, err);
  }
  if (failed == 0) atomic_store(&worker->status->awaiting, 0);
  return failed;
}

/* The same, told of in traces. */
static int wait_for(ms_worker *worker, const awaited *before, ms_error *err) {
  const ms_worker_job *job = &worker->job;
  if (is_finished(worker, before)) return 0;
  unsigned long long number = job->number;
  ms_trace(MS_TRACE_WAITS, "begin for=block job=%llu block=%u before=%u", number, before->block,
           job->block);
  int failed = wait_untold(worker, before, err);
  ms_trace(MS_TRACE_WAITS, "end for=block job=%llu block=%u", number, before->block);
  return failed;
}

bool ms_handover_ready(const ms_worker *worker, uint32_t block) {
  const ms_schedule *schedule = worker->schedule;
  for (uint32_t e = 0; e < ms_schedule_edges(schedule); e++) {
    uint32_t before = ms_schedule_before(schedule, block, e);
    if (before != MS_NO_BLOCK && !is_over(worker, before)) return false;
  }
  atomic_thread_fence(memory_order_acquire); /* what the others wrote to shared memory */
  return true;
}

int ms_handover_wait(ms_worker *worker, uint32_t block, ms_error *err) {
  const ms_schedule *schedule = worker->schedule;
  for (uint32_t e = 0; e < ms_schedule_edges(schedule); e++) {
    uint32_t before = ms_schedule_before(schedule, block, e);
    if (before == MS_NO_BLOCK) continue;
    awaited end = end_of(worker, before);
    if (wait_for(worker, &end, err) != 0) return -1;
    if (!is_finished(worker, &end)) return 0;
  }
  atomic_thread_fence(memory_order_acquire); /* what the others wrote to shared memory */
  return 0;
}

ms_link *ms_handover_link(ms_worker *worker, uint32_t number, ms_error *err) {
  ms_neighbour *to = &worker->neighbours[number];
  if (to->socket != NULL) return &to->out;
  ms_socket_options options = {.keys = worker->setup.tcp ? &worker->setup.keys : NULL,
                               .identity = worker->setup.identity,
                               .receive_limit = 1};
  to->socket = ms_socket_connect(worker->context, &options, to->peer.address, err);
  if (to->socket == NULL) return NULL;
  to->out = (ms_link){.socket = to->socket,
                      .sender = worker->setup.worker,
                      .incarnation = worker->setup.incarnation,
                      .peer = number};
  return &to->out;
}

/* Rings for those who wait for a block, for each once. */
static void ring(ms_worker *worker, uint32_t block) {
  const ms_schedule *schedule = worker->schedule;
  uint32_t edges = ms_schedule_edges(schedule), rung[MS_CUTS], count = 0;
  bool once = schedule->phase_blocks > 0; /* there each is named once */
  for (uint32_t e = 0; e < edges; e++) {
    uint32_t to = ms_schedule_listener(schedule, worker->setup.worker, block, e);
    bool known = to == UINT32_MAX;
    for (uint32_t k = 0; k < count; k++) known = known || rung[k] == to;
    if (known) continue;
    if (!once) rung[count++] = to;
    ms_trace(MS_TRACE_MESSAGES, "hand-over to=worker-%u job=%llu block=%u", to + 1,
             (unsigned long long)worker->job.number, block);
    ms_status_page_ring(&worker->page[to]);
  }
}

int ms_handover_send(ms_worker *worker, uint32_t block, ms_error *err) {
  if (!worker->page_hands_over) return ms_send_batch_add(worker, block, err);
  ring(worker, block);
  return 0;
}
