/* SPDX-License-Identifier: MIT
 *
 * A road (net/road.h) within one process, for tests that decide which frame arrives next.
 *
 * Each worker has a thread, of which one runs at a time: it has the baton. What a worker sends
 * waits in a queue to its receiver; frames of one worker to another arrive in their order. A worker
 * that waits for frames gives the baton back to the test, which runs the others, and has a frame
 * arrive when nobody can go on. Include it in one *_test.c a program. */
#ifndef MS_WORKER_SIMULATED_ROAD_H
#define MS_WORKER_SIMULATED_ROAD_H

#include <pthread.h>
#include <string.h>

#include "worker/handover.h"
#include "worker/worker_road.h"

/* Most workers, and most frames in a queue. */
#define MS_SIMULATED_WORKERS 3
#define MS_SIMULATED_FRAMES  256

/* Behind the workers, where a test has one, the driver. */
#define MS_SIMULATED_DRIVER MS_SIMULATED_WORKERS
#define MS_SIMULATED_ENDS   (MS_SIMULATED_WORKERS + 1)

/* Who has the baton while no process runs: the simulation itself. */
#define MS_SIMULATION (-1)

typedef enum ms_simulated_state {
  MS_SIMULATED_READY,
  MS_SIMULATED_RUNNING,
  MS_SIMULATED_WAITING,
  MS_SIMULATED_DONE, /* this state and the next: the process has ended */
  MS_SIMULATED_DEAD
} ms_simulated_state;

/* Frames on their way. Whoever runs has the baton, so nothing here is used by two at a time. */
typedef struct ms_simulated_queue {
  ms_message message[MS_SIMULATED_FRAMES];
  uint32_t first, end;
} ms_simulated_queue;

typedef struct ms_simulated {
  ms_worker worker;
  pthread_t thread;
  ms_simulated_state state;
  ms_simulated_queue arrived;
  uint32_t from[MS_SIMULATED_FRAMES]; /* whose the arrived frames are */
  int (*work)(ms_worker *worker);     /* NULL: it was not started */
  int result;
  bool doomed; /* it dies when it gets the baton, */
  int killer;  /* and gives it to this one */
} ms_simulated;

static struct ms_simulation {
  ms_simulated actor[MS_SIMULATED_ENDS];
  ms_simulated_queue way[MS_SIMULATED_ENDS][MS_SIMULATED_ENDS]; /* from, to */
  pthread_mutex_t lock;
  pthread_cond_t turns[MS_SIMULATED_ENDS + 1]; /* of each end, and of the test */
  uint64_t status[MS_SIMULATED_WORKERS][MS_STATUS_COUNT];
  int baton;
  uint64_t now, cost;
  uint32_t faults; /* frames that no queue had room for */
} ms_simulation = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- queues ---- */

static inline void ms_simulated_queue_push(ms_simulated_queue *q, ms_message *message) {
  if (q->end == MS_SIMULATED_FRAMES) {
    ms_simulation.faults++;
    return;
  }
  ms_message_move(&q->message[q->end++], message);
}

static inline bool ms_simulated_queue_is_empty(const ms_simulated_queue *q) {
  return q->first == q->end;
}

static inline void ms_simulated_queue_clear(ms_simulated_queue *q) {
  while (!ms_simulated_queue_is_empty(q)) ms_message_close(&q->message[q->first++]);
  q->first = q->end = 0;
}

/* ---- the road ---- */

static inline uint32_t ms_simulated_end(uint32_t number) {
  return number == MS_DRIVER ? MS_SIMULATED_DRIVER : number;
}

static inline int ms_simulated_carry(ms_link *link, ms_message *message, ms_error *err) {
  (void)err;
  uint32_t from = ms_simulated_end(link->sender), to = ms_simulated_end(link->peer);
  ms_simulated_queue_push(&ms_simulation.way[from][to], message);
  ms_message_close(message);
  return 0;
}

static ms_link *ms_simulated_send(void *end, uint32_t to, ms_error *err) {
  (void)err;
  ms_worker *worker = end;
  ms_link *link = &worker->neighbours[to].out;
  if (link->carry == NULL)
    *link = (ms_link){.sender = worker->setup.worker,
                      .incarnation = worker->setup.incarnation,
                      .peer = to,
                      .carry = ms_simulated_carry};
  return link;
}

static inline int ms_simulated_take(void *end, ms_letter *letter, ms_error *err) {
  ms_worker *worker = end;
  ms_simulated *me = &ms_simulation.actor[worker->setup.worker];
  while (!ms_simulated_queue_is_empty(&me->arrived)) {
    letter->from = me->from[me->arrived.first];
    ms_message *message = &me->arrived.message[me->arrived.first++];
    ms_message_move(&letter->message, message);
    ms_message_close(message);
    const char *bytes = ms_message_data(&letter->message);
    letter->held = true;
    letter->ended = false;
    letter->payload = bytes + sizeof letter->frame;
    memcpy(&letter->frame, bytes, sizeof letter->frame);
    ms_neighbour *from = &worker->neighbours[letter->from];
    if (letter->frame.incarnation == from->peer.incarnation)
      return ms_link_receive(&from->in, &letter->frame, false, err);
    ms_letter_close(letter); /* of one that has died */
  }
  return 0;
}

static inline void ms_simulated_publish(void *end, uint32_t number, ms_status which,
                                        uint64_t value) {
  (void)end;
  ms_simulation.status[number][which] = value;
}

/* A process begins: what is of a job stays. */
static inline void ms_simulated_clear(uint32_t number) {
  uint64_t *status = ms_simulation.status[number];
  status[MS_STATUS_CANCEL] = status[MS_STATUS_RUNNING] = status[MS_STATUS_AWAITING] = 0;
}

static inline uint64_t ms_simulated_status(const void *end, uint32_t number, ms_status which) {
  (void)end;
  return ms_simulation.status[number][which];
}

/* Whose turn it is from now on. */
static inline void ms_simulation_give(int next) {
  ms_simulation.baton = next;
  pthread_cond_signal(&ms_simulation.turns[next + 1]);
}

/* Ends this thread, of `self`, as it is, and gives the baton to `next`. */
static _Noreturn void ms_simulated_vanish(int self, int next) {
  ms_simulation.actor[self].state = MS_SIMULATED_DEAD;
  ms_simulation_give(next);
  pthread_mutex_unlock(&ms_simulation.lock);
  pthread_exit(NULL);
}

/* Waits for the baton. */
static inline void ms_simulation_await(int self) {
  while (ms_simulation.baton != self)
    pthread_cond_wait(&ms_simulation.turns[self + 1], &ms_simulation.lock);
  if (self != MS_SIMULATION && ms_simulation.actor[self].doomed)
    ms_simulated_vanish(self, ms_simulation.actor[self].killer);
}

/* Gives the baton to `next`, and waits until it comes back. */
static inline void ms_simulation_pass(int next, int self) {
  ms_simulation_give(next);
  ms_simulation_await(self);
}

static inline int ms_simulated_wait(void *end, const ms_awaited *what, ms_error *err) {
  (void)what;
  ms_worker *worker = end;
  int taken = 0;
  ms_simulated *me = &ms_simulation.actor[worker->setup.worker];
  if (ms_simulated_queue_is_empty(&me->arrived)) {
    me->state = MS_SIMULATED_WAITING;
    ms_simulation_pass(MS_SIMULATION, (int)worker->setup.worker);
  }
  while ((taken = ms_handover_take(worker, err)) > 0) continue;
  return taken;
}

static inline void ms_simulated_wake(void *end, uint32_t number) {
  (void)end, (void)number;
}

static uint64_t ms_simulated_now(void) {
  return ms_simulation.now += ms_simulation.cost;
}

static const ms_road ms_simulated_road = {.by_frames = true,
                                          .send = ms_simulated_send,
                                          .take = ms_simulated_take,
                                          .publish = ms_simulated_publish,
                                          .status = ms_simulated_status,
                                          .wait = ms_simulated_wait,
                                          .wake = ms_simulated_wake,
                                          .now = ms_simulated_now};

/* ---- a run ---- */

/* Begins a run without workers, in which each look at the clock takes `cost` ns. */
static inline void ms_simulation_begin(uint64_t cost) {
  for (uint32_t end = 0; end <= MS_SIMULATED_ENDS; end++)
    ms_simulation.turns[end] = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  ms_simulation.baton = MS_SIMULATION;
  ms_simulation.now = 1;
  ms_simulation.cost = cost;
  memset(ms_simulation.status, 0, sizeof ms_simulation.status);
  ms_simulation.faults = 0;
  pthread_mutex_lock(&ms_simulation.lock);
}

/* A worker that is all zero, on this road. */
static inline ms_worker *ms_simulation_worker(uint32_t number) {
  ms_simulated *a = &ms_simulation.actor[number];
  memset(a, 0, sizeof *a);
  a->worker.setup.worker = number;
  a->worker.road = &ms_simulated_road;
  return &a->worker;
}

static void *ms_simulated_act(void *argument) {
  ms_simulated *me = argument;
  int self = (int)(me - ms_simulation.actor);
  pthread_mutex_lock(&ms_simulation.lock);
  ms_simulation_await(self);
  me->result = me->work(&me->worker);
  me->state = MS_SIMULATED_DONE;
  ms_simulation_give(MS_SIMULATION);
  pthread_mutex_unlock(&ms_simulation.lock);
  return NULL;
}

/* Starts a worker; it gets the baton for the first time from ms_simulation_run. */
static inline void ms_simulation_start(uint32_t number, int (*work)(ms_worker *worker)) {
  ms_simulated *a = &ms_simulation.actor[number];
  a->work = work;
  pthread_create(&a->thread, NULL, ms_simulated_act, a);
}

/* Lets each of the workers go on until it waits or is done. */
static inline void ms_simulation_run(uint32_t workers) {
  for (uint32_t w = 0; w < workers; w++) {
    if (ms_simulation.actor[w].state != MS_SIMULATED_READY) continue;
    ms_simulation.actor[w].state = MS_SIMULATED_RUNNING;
    ms_simulation_pass((int)w, MS_SIMULATION);
  }
}

/* Sets `ways` to those on which frames are, at most ends times ends, and gives their number.
 */
static inline uint32_t ms_simulation_ways(uint32_t *ways) {
  uint32_t count = 0;
  for (uint32_t way = 0; way < MS_SIMULATED_ENDS * MS_SIMULATED_ENDS; way++) {
    const ms_simulated_queue *q =
        &ms_simulation.way[way / MS_SIMULATED_ENDS][way % MS_SIMULATED_ENDS];
    if (!ms_simulated_queue_is_empty(q)) ways[count++] = way;
  }
  return count;
}

/* The first frame on this way arrives; one that is done hears nothing more. */
static inline void ms_simulation_deliver(uint32_t way) {
  uint32_t from = way / MS_SIMULATED_ENDS, to = way % MS_SIMULATED_ENDS;
  ms_simulated_queue *q = &ms_simulation.way[from][to];
  ms_simulated *receiver = &ms_simulation.actor[to];
  ms_message *message = &q->message[q->first++];
  if (receiver->state != MS_SIMULATED_DONE) {
    receiver->from[receiver->arrived.end] = from;
    ms_simulated_queue_push(&receiver->arrived, message);
    receiver->state = MS_SIMULATED_READY;
  }
  ms_message_close(message);
}

/* Ends a run in which no frame is on its way: its faults, such as workers that wait for what never
 * comes, those that failed, and frames that were too many. The workers' own memory is the test's.
 */
static inline uint32_t ms_simulation_end(uint32_t workers) {
  bool waits = false;
  for (uint32_t w = 0; w < workers; w++)
    waits = waits || ms_simulation.actor[w].state != MS_SIMULATED_DONE;
  for (uint32_t w = 0; waits && w < workers; w++) ms_simulation.actor[w].worker.cancelled = 1;
  for (uint32_t w = 0; w < workers; w++)
    while (ms_simulation.actor[w].state != MS_SIMULATED_DONE)
      ms_simulation_pass((int)w, MS_SIMULATION);
  pthread_mutex_unlock(&ms_simulation.lock);
  uint32_t faults = ms_simulation.faults + waits;
  for (uint32_t w = 0; w < workers; w++) {
    pthread_join(ms_simulation.actor[w].thread, NULL);
    faults += ms_simulation.actor[w].result != 0;
    ms_simulated_queue_clear(&ms_simulation.actor[w].arrived);
  }
  for (uint32_t w = 0; w < MS_SIMULATED_ENDS * MS_SIMULATED_ENDS; w++)
    ms_simulated_queue_clear(&ms_simulation.way[w / MS_SIMULATED_ENDS][w % MS_SIMULATED_ENDS]);
  return faults;
}

#endif
