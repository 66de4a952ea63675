/* SPDX-License-Identifier: MIT
 *
 * A session within one process: the driver and its workers as they are, over simulated roads
 * (simulated_road.h), for tests that decide who goes on next, what arrives next, who dies and when.
 *
 * The driver is an actor, too. Whoever runs goes on until it waits, or between the two halves of a
 * block; then the test chooses among those who can go on and the frames that can arrive. When there
 * is nothing to choose, time passes to the moment until which the driver waits. A worker that dies
 * leaves what it has written, to memory and onto its way to the driver, and nothing else: frames on
 * their way to others are lost. Behind its last frame the driver hears of its end. For one test. */
#ifndef MS_WORKER_SIMULATED_SESSION_H
#define MS_WORKER_SIMULATED_SESSION_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "driver/interrupt.h"
#include "driver/session_state.h"
#include "driver/session_wait.h"
#include "worker/rounds.h"
#include "worker/simulated_choices.h"
#include "worker/simulated_road.h"
#include "worker/worker_receive.h"

#define MOST_TICKS 200 /* times in a run that nobody could go on */
#define NEVER      UINT32_MAX

static struct ms_host {
  ms_session session;
  ms_simulated_queue said[MS_SIMULATED_WORKERS]; /* by the driver */
  int (*live)(ms_worker *worker);
  ms_choices *choices;
  uint64_t until; /* the driver waits */
  uint32_t ticks, waits;
  uint32_t points;       /* moments so far at which a worker might have died, */
  uint32_t die_at[2];    /* and at which one does */
  uint32_t interrupt_at; /* before this wait of the driver Ctrl-C is pressed */
  uint32_t deaths;       /* so far, */
  uint32_t died_in[2];   /* in these blocks, or MS_NO_BLOCK */
  bool interrupted;
} ms_host;

static ms_simulated *ms_host_actor(uint32_t number) {
  return &ms_simulation.actor[number];
}

/* ---- deaths ---- */

/* A moment at which a worker may die: in `block`, or outside of any. */
static void ms_host_point(ms_worker *worker, uint32_t block) {
  uint32_t number = worker->setup.worker, point = ms_host.points++;
  if (point != ms_host.die_at[0] && point != ms_host.die_at[1]) return;
  ms_host.died_in[ms_host.deaths++] = block;
  ms_message word;
  ms_error err = {0};
  if (ms_message_make(&word, sizeof worker->setup.incarnation, &err) != 0) abort();
  memcpy(ms_message_data(&word), &worker->setup.incarnation, sizeof worker->setup.incarnation);
  ms_simulated_queue_push(&ms_simulation.way[number][MS_SIMULATED_DRIVER], &word);
  ms_message_close(&word);
  for (uint32_t to = 0; to < MS_SIMULATED_WORKERS; to++)
    ms_simulated_queue_clear(&ms_simulation.way[number][to]);
  ms_simulated_vanish((int)number, MS_SIMULATION);
}

static void ms_host_free_worker(ms_worker *worker) {
  ms_exchange_close(worker);
  ms_rounds_close(worker);
  ms_mapped_memory_release(&worker->mapped);
  ms_schedule_destroy(&worker->schedule);
  ms_block_checkpoint_free(&worker->job.checkpoint);
  ms_undo_free(&worker->job.undo);
  ms_arena_destroy(&worker->job.arena);
  ms_text_free(&worker->job.report);
  ms_text_free(&worker->incoming);
  free(worker->neighbours);
}

/* Ends what is left of a worker, from whoever has the baton. */
static void ms_host_reap(uint32_t number) {
  ms_simulated *a = ms_host_actor(number);
  if (a->work == NULL) return;
  if (a->state != MS_SIMULATED_DEAD && a->state != MS_SIMULATED_DONE) {
    a->doomed = true;
    a->killer = ms_simulation.baton;
    ms_simulation_pass((int)number, ms_simulation.baton);
  }
  pthread_join(a->thread, NULL);
  ms_host_free_worker(&a->worker);
  ms_simulated_queue_clear(&a->arrived);
  *a = (ms_simulated){.state = MS_SIMULATED_DEAD};
}

/* ---- workers ---- */

/* Waits for what the driver says, and with `peers` for frames of others; and handles it. */
static int ms_host_listen(ms_worker *worker, bool peers, ms_error *err) {
  uint32_t number = worker->setup.worker;
  ms_simulated *me = ms_host_actor(number);
  ms_simulated_queue *said = &ms_host.said[number];
  ms_host_point(worker, MS_NO_BLOCK);
  if (ms_simulated_queue_is_empty(said) && !(peers && !ms_simulated_queue_is_empty(&me->arrived))) {
    me->state = MS_SIMULATED_WAITING;
    ms_simulation_pass(MS_SIMULATION, (int)number);
  }
  while (!ms_simulated_queue_is_empty(said)) {
    ms_message *message = &said->message[said->first++];
    int failed = ms_worker_receive(worker, ms_message_data(message), ms_message_size(message), err);
    ms_message_close(message);
    if (failed != 0) return -1;
  }
  int taken = 0;
  while (peers && (taken = ms_handover_take(worker, err)) > 0) continue;
  return taken;
}

static int ms_host_page_wait(void *end, const ms_awaited *what, ms_error *err) {
  ms_worker *worker = end;
  if (what != NULL) {
    uint64_t progress = worker->road->status(worker, what->worker, MS_STATUS_PROGRESS);
    if (what->count <= ms_status_value(progress, worker->job.number, 0)) return 0;
  }
  return ms_host_listen(worker, false, err);
}

static int ms_host_frames_wait(void *end, const ms_awaited *what, ms_error *err) {
  return ms_host_listen(end, what != NULL, err);
}

static void ms_host_ring(void *end, uint32_t number) {
  (void)end;
  ms_simulated *a = ms_host_actor(number);
  if (a->state == MS_SIMULATED_WAITING) a->state = MS_SIMULATED_READY;
}

/* It may die when others can see that its block is finished, but have not been woken. */
static void ms_host_page_wake(void *end, uint32_t number) {
  ms_host_point(end, MS_NO_BLOCK);
  ms_host_ring(end, number);
}

/* ---- the driver's road ---- */

static ms_link *ms_host_send(void *end, uint32_t number, ms_error *err) {
  (void)err;
  ms_session *session = end;
  return &session->members[number].link;
}

static int ms_host_take(void *end, ms_letter *letter, ms_error *err) {
  ms_session *session = end;
  ms_simulated *me = ms_host_actor(MS_SIMULATED_DRIVER);
  while (!ms_simulated_queue_is_empty(&me->arrived)) {
    letter->from = me->from[me->arrived.first];
    ms_message *message = &me->arrived.message[me->arrived.first++];
    ms_message_move(&letter->message, message);
    ms_message_close(message);
    letter->held = true;
    const ms_worker_handle *member = &session->members[letter->from];
    const char *bytes = ms_message_data(&letter->message);
    size_t size = ms_message_size(&letter->message);
    int accepted = 0;
    if (size == sizeof member->incarnation) { /* word of an end */
      accepted = member->channel >= 0 && memcmp(bytes, &member->incarnation, size) == 0;
      letter->ended = true;
      ms_error_clear(&letter->trouble);
    } else if (member->channel >= 0) {
      accepted = ms_session_wait_accept(session, letter, bytes, size, err);
    }
    if (accepted > 0) return 1;
    ms_letter_close(letter);
    if (accepted < 0) return -1;
  }
  return 0;
}

/* The driver waits until something happens, or until then. */
static void ms_host_sleep(uint64_t until) {
  ms_host_actor(MS_SIMULATED_DRIVER)->state = MS_SIMULATED_WAITING;
  ms_host.until = until;
  ms_simulation_pass(MS_SIMULATION, MS_SIMULATED_DRIVER);
}

static int ms_host_wait(void *end, const ms_awaited *what, ms_error *err) {
  (void)end, (void)err;
  ms_simulated *me = ms_host_actor(MS_SIMULATED_DRIVER);
  if (ms_host.waits++ == ms_host.interrupt_at) {
    ms_host.interrupted = true;
    raise(SIGINT);
    return 0;
  }
  if (ms_simulated_queue_is_empty(&me->arrived)) ms_host_sleep(what->until);
  return 0;
}

/* ---- processes ---- */

static ms_road ms_host_driver_road = {.send = ms_host_send,
                                      .take = ms_host_take,
                                      .publish = ms_simulated_publish,
                                      .status = ms_simulated_status,
                                      .wait = ms_host_wait,
                                      .wake = ms_host_ring,
                                      .now = ms_simulated_now};
static ms_road ms_host_page_road, ms_host_frames_road; /* of workers */

static int ms_host_start(ms_session *session, ms_worker_handle *member, ms_error *err) {
  (void)err;
  uint32_t number = member->number, workers = session->config.workers;
  ms_host_reap(number);
  ms_simulated_queue_clear(&ms_host.said[number]); /* what went to its predecessor is lost */
  for (uint32_t from = 0; from < MS_SIMULATED_ENDS; from++)
    ms_simulated_queue_clear(&ms_simulation.way[from][number]);
  ms_worker *worker = ms_simulation_worker(number);
  bool shared = session->config.shared;
  ms_simulated_clear(number);
  worker->setup.workers = workers;
  worker->setup.shared = shared;
  worker->setup.incarnation = member->incarnation;
  worker->page = session->page;
  worker->road = shared ? &ms_host_page_road : &ms_host_frames_road;
  worker->control = (ms_link){.sender = number,
                              .peer = MS_DRIVER,
                              .lane = shared,
                              .incarnation = member->incarnation,
                              .carry = ms_simulated_carry};
  worker->neighbours = calloc(workers, sizeof *worker->neighbours);
  worker->neighbour_count = workers;
  member->channel = 1000 + (int)number; /* nobody looks there */
  member->lane = shared;
  snprintf(member->peer.identity, sizeof member->peer.identity, "%u.%u", number,
           member->incarnation);
  member->pid = 100 * (long)member->incarnation + (long)number;
  member->child = (ms_child){.pid = (pid_t)member->pid, .pidfd = -1, .status = -1};
  member->link = (ms_link){.lane = shared,
                           .peer = number,
                           .sender = MS_DRIVER,
                           .incarnation = member->incarnation,
                           .carry = ms_simulated_carry};
  ms_simulation_start(number, ms_host.live);
  return 0;
}

static int ms_host_share(ms_worker_handle *member, const ms_segment *segment, ms_error *err) {
  ms_mapped_memory *mapped = &ms_host_actor(member->number)->worker.mapped;
  return ms_mapped_memory_map(mapped, segment->id, segment->size, dup(segment->fd), err);
}

static void ms_host_unshare(ms_worker_handle *member, uint64_t id) {
  ms_mapped_memory_unmap(&ms_host_actor(member->number)->worker.mapped, id);
}

static bool ms_host_gone(const ms_worker_handle *member) {
  return ms_host_actor(member->number)->state >= MS_SIMULATED_DONE;
}

static void ms_host_stop(ms_worker_handle *member, bool now) {
  (void)now;
  ms_simulated *a = ms_host_actor(member->number);
  a->worker.gone = a->worker.ended = true;
  if (a->state == MS_SIMULATED_WAITING) a->state = MS_SIMULATED_READY;
}

static bool ms_host_ended(ms_worker_handle *member, int patience) {
  uint64_t until = ms_simulation.now + (uint64_t)patience * 1000000;
  while (!ms_host_gone(member)) {
    if (ms_simulation.now >= until) return false;
    ms_host_sleep(until);
  }
  member->child = (ms_child){.pidfd = -1, .status = SIGKILL};
  return true;
}

static void ms_host_end(ms_worker_handle *member) {
  ms_host_reap(member->number);
  member->child = (ms_child){.pidfd = -1, .status = SIGKILL};
  member->channel = -1;
  member->lane = 0;
}

static const ms_processes ms_host_processes = {.start = ms_host_start,
                                               .share = ms_host_share,
                                               .unshare = ms_host_unshare,
                                               .gone = ms_host_gone,
                                               .stop = ms_host_stop,
                                               .ended = ms_host_ended,
                                               .end = ms_host_end};

/* ---- a run ---- */

/* Makes the session of a run, whose workers do `live` and whose driver does `drive`. */
static void ms_host_begin(uint32_t workers, bool shared, ms_status_page *page,
                          int (*live)(ms_worker *worker), int (*drive)(ms_worker *worker)) {
  ms_host_page_road = ms_host_frames_road = ms_simulated_road;
  ms_host_page_road.shelf = ms_worker_road_page.shelf;
  ms_host_driver_road.shelf = ms_session_road.shelf;
  ms_host_driver_road.clear_shelf = ms_session_road.clear_shelf;
  ms_host_page_road.by_frames = false;
  ms_host_page_road.take = ms_worker_road_page.take;
  ms_host_page_road.wait = ms_host_page_wait;
  ms_host_page_road.wake = ms_host_page_wake;
  ms_host_frames_road.wait = ms_host_frames_wait;
  ms_simulation_begin(1000);
  for (uint32_t w = 0; w < workers; w++)
    *ms_host_actor(w) = (ms_simulated){.state = MS_SIMULATED_DEAD};
  ms_session *session = &ms_host.session;
  *session = (ms_session){.process = getpid(),
                          .config = {.workers = workers, .shared = shared},
                          .page = page,
                          .page_fd = -1,
                          .members = calloc(workers, sizeof *session->members),
                          .polled = {.interrupt = -1},
                          .road = &ms_host_driver_road,
                          .processes = &ms_host_processes,
                          .spin = {.lost = UINT32_MAX}}; /* it never looks before it waits */
  for (uint32_t w = 0; w < workers; w++) session->members[w] = ms_worker_handle_new(w);
  ms_host.live = live;
  ms_host.ticks = ms_host.waits = ms_host.points = ms_host.deaths = 0;
  ms_host.interrupted = false;
  ms_simulation_worker(MS_SIMULATED_DRIVER);
  ms_simulation_start(MS_SIMULATED_DRIVER, drive);
}

/* A frame, or word of an end, arrives. */
static void ms_host_deliver(uint32_t way) {
  uint32_t from = way / MS_SIMULATED_ENDS, to = way % MS_SIMULATED_ENDS;
  ms_simulated_queue *q = &ms_simulation.way[from][to];
  ms_simulated *receiver = ms_host_actor(to);
  ms_message *message = &q->message[q->first++];
  if (receiver->state != MS_SIMULATED_DEAD && receiver->state != MS_SIMULATED_DONE) {
    bool word = from == MS_SIMULATED_DRIVER;
    ms_simulated_queue *into = word ? &ms_host.said[to] : &receiver->arrived;
    if (ms_simulated_queue_is_empty(into)) into->first = into->end = 0;
    if (!word) receiver->from[into->end] = from;
    ms_simulated_queue_push(into, message);
    if (receiver->state == MS_SIMULATED_WAITING) receiver->state = MS_SIMULATED_READY;
  }
  ms_message_close(message);
}

/* Somebody goes on, or something arrives; false when the driver is done, or never will be. */
static bool ms_host_step(void) {
  uint32_t ways[MS_SIMULATED_ENDS * MS_SIMULATED_ENDS], ready[MS_SIMULATED_ENDS], able = 0;
  ms_simulated *driver = ms_host_actor(MS_SIMULATED_DRIVER);
  if (driver->state == MS_SIMULATED_DONE) return false;
  for (uint32_t e = 0; e < MS_SIMULATED_ENDS; e++)
    if (ms_host_actor(e)->work != NULL && ms_host_actor(e)->state == MS_SIMULATED_READY)
      ready[able++] = e;
  uint32_t options = able + ms_simulation_ways(ways);
  if (options == 0) {
    if (driver->state != MS_SIMULATED_WAITING || ms_host.ticks++ == MOST_TICKS) return false;
    if (ms_simulation.now < ms_host.until) ms_simulation.now = ms_host.until;
    driver->state = MS_SIMULATED_READY;
    return true;
  }
  if (ms_host.choices->made == MS_MOST_CHOICES) return false;
  uint32_t choice = ms_choices_take(ms_host.choices, options);
  if (choice >= able) {
    ms_host_deliver(ways[choice - able]);
    return true;
  }
  ms_host_actor(ready[choice])->state = MS_SIMULATED_RUNNING;
  ms_simulation_pass((int)ready[choice], MS_SIMULATION);
  return true;
}

/* A block's half: others may go on before the other one. */
static void ms_host_yield(ms_worker *worker) {
  ms_host_actor(worker->setup.worker)->state = MS_SIMULATED_READY;
  ms_simulation_pass(MS_SIMULATION, (int)worker->setup.worker);
}

/* A block that never ends. */
static void ms_host_stay(ms_worker *worker) {
  for (;; ms_simulation_pass(MS_SIMULATION, (int)worker->setup.worker))
    ms_host_actor(worker->setup.worker)->state = MS_SIMULATED_RUNNING;
}

/* Runs until the driver is done; false when it hangs, or queues were too short: that is the end. */
static bool ms_host_run(void) {
  while (ms_host_step()) continue;
  if (ms_host_actor(MS_SIMULATED_DRIVER)->state != MS_SIMULATED_DONE) return false;
  ms_session *session = &ms_host.session;
  for (uint32_t w = session->config.workers; w-- > 0;)
    ms_worker_handle_free(session, &session->members[w]);
  pthread_mutex_unlock(&ms_simulation.lock);
  pthread_join(ms_host_actor(MS_SIMULATED_DRIVER)->thread, NULL);
  for (uint32_t from = 0; from < MS_SIMULATED_ENDS; from++)
    for (uint32_t to = 0; to < MS_SIMULATED_ENDS; to++)
      ms_simulated_queue_clear(&ms_simulation.way[from][to]);
  ms_simulated_queue_clear(&ms_host_actor(MS_SIMULATED_DRIVER)->arrived);
  ms_schedule_destroy(&session->schedule);
  ms_segment_block_release(&session->undo);
  ms_text_free(&session->notices);
  free(session->members);
  return ms_simulation.faults == 0;
}

#endif
