/* SPDX-License-Identifier: MIT
 *
 * Waiting: the one place where the driver sleeps, and what wakes it: frames of workers, the ends
 * of their channels, Ctrl-C. Frames are believed only as far as their sender may say them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/trace.h"
#include "driver/interrupt.h"
#include "driver/session_state.h"
#include "net/channel.h"

#define HELLO_WAIT  10000 /* ms for all workers to come up */
#define DEATH_WAIT  300   /* ms between a channel's end and its process's */
#define DEATH_GRACE 200   /* ms for the others to reach a block end before they are replaced, too */

/* Takes notice of a death outside of any job. */
static void note_death(ms_session *session, const ms_worker_handle *member) {
  char how[128] = "";
  ms_child_describe(&member->child, how, sizeof how);
  ms_text_format(&session->notices, "worker %u (pid %ld) %s between loops and is replaced\n",
                 member->number + 1, member->pid, how);
}

/* Whether the running job may lack something of a member that has ended: it worked on it, or what
 * it sent to others before it was done may have ended with it, unsent. */
static bool is_missed(const ms_session *session, const ms_worker_handle *member) {
  const ms_run *run = session->run;
  if (run == NULL || member->working) return run != NULL;
  if (run->failed || member->task == NULL || ms_session_has_lanes(session)) return false;
  for (uint32_t i = 0; i < session->config.workers; i++) {
    if (session->members[i].working) return true;
  }
  return false;
}

/* The block that a member that has ended had begun and not finished. */
static uint32_t begun_by(const ms_session *session, const ms_worker_handle *member) {
  uint64_t running = member->status == NULL ? 0 : atomic_load(&member->status->running);
  const ms_schedule *schedule = session->schedule;
  if (running == 0 || !ms_schedule_owns(schedule, member->number, running - 1)) return MS_NO_BLOCK;
  uint32_t block = (uint32_t)(running - 1);
  uint32_t rank = ms_schedule_rank(schedule, block);
  bool finished = rank < ms_recover_finished(session, member->number);
  return finished ? MS_NO_BLOCK : block;
}

void ms_session_lose(ms_session *session, ms_worker_handle *member, const ms_error *trouble) {
  ms_run *run = session->run;
  bool missed = is_missed(session, member), working = member->working;
  bool ended = ms_child_wait(&member->child, DEATH_WAIT);
  uint32_t block = working ? begun_by(session, member) : MS_NO_BLOCK;
  ms_trace(MS_TRACE_WORKERS, "lost worker=%u pid=%ld block=%ld", member->number + 1, member->pid,
           block == MS_NO_BLOCK ? -1 : (long)block);
  if (missed) run->outcome->deaths++;
  if (missed && ended) {
    if (working && ms_replace(session, member, block)) return;
    ms_recover_note(session, member, block);
  }
  ms_worker_handle_bury(member);
  if (!missed) {
    note_death(session, member);
    return;
  }
  if (!run->failed) {
    char text[256] = "";
    run->outcome->pid = member->pid;
    if (trouble != NULL && !ended) {
      ms_error_set(run->err, MS_NET, "worker %u (pid %ld) cannot be understood any more: %s",
                   member->number + 1, member->pid, trouble->message);
    } else {
      ms_child_describe(&member->child, text, sizeof text);
      run->outcome->signal = ms_child_cause(&member->child);
      const char *where = !working               ? " after its last block"
                          : block == MS_NO_BLOCK ? " while it waited"
                                                 : "";
      ms_error_set(run->err, MS_WRK, "worker %u (pid %ld) %s%s", member->number + 1, member->pid,
                   text, where);
    }
  }
  ms_run_fail(session, member->number, block, DEATH_GRACE);
}

static ms_worker_handle *find(ms_session *session, const char *identity) {
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_worker_handle *member = &session->members[i];
    if (member->channel >= 0 && strcmp(member->peer.identity, identity) == 0) return member;
  }
  return NULL;
}

/* Handles one frame of a worker. Only a refused hello is the session's error. */
static int take_frame(ms_session *session, ms_worker_handle *member, const char *bytes, size_t size,
                      ms_error *err) {
  ms_frame frame;
  const char *wrong = ms_frame_read(&frame, bytes, size, MS_TO_DRIVER);
  if (wrong != NULL) {
    bool other = size >= sizeof frame && frame.magic == MS_FRAME_MAGIC && !member->up &&
                 frame.version != MS_PROTOCOL;
    return other ? ms_abi_check(frame.version, ms_abi(), member->number, err) : 0;
  }
  if (frame.sender != member->number || frame.incarnation != member->incarnation) return 0;
  ms_error trouble;
  ms_error_clear(&trouble);
  uint64_t received = member->link.received;
  int accepted = ms_link_receive(&member->link, &frame, true, &trouble);
  if (accepted < 0 && member->link.received > received && /* only it cannot be acknowledged */
      ms_child_wait(&member->child, DEATH_WAIT)) {
    accepted = 1; /* to a dead worker, of which all is wanted that it has sent */
  }
  if (accepted < 0) {
    ms_session_lose(session, member, &trouble);
    return 0;
  }
  if (accepted == 0) return 0;
  const char *payload = bytes + sizeof frame;
  if (frame.kind == MS_SAY_HELLO) {
    return member->up ? 0 : ms_worker_handle_hello(session, member, &frame, payload, err);
  }
  if (session->run != NULL && member->working && frame.job == session->jobs) {
    ms_run_frame(session, member, &frame, payload);
  }
  return 0;
}

/* Most frames handled before deaths and interrupts are looked at again. */
#define FRAMES_A_TURN 64

#define DRAIN_TURNS 16
#define DRAIN_WAIT  5 /* ms without a frame after which none is expected */

static int take_frames(ms_session *session, ms_error *err) {
  for (int i = 0; i < FRAMES_A_TURN; i++) {
    ms_message message;
    char identity[MS_IDENTITY_SIZE];
    int got = ms_socket_receive(session->router, identity, &message);
    if (got == 0) return 0;
    if (got < 0) continue;
    ms_worker_handle *member = find(session, identity);
    int failed = 0;
    if (member != NULL) {
      failed =
          take_frame(session, member, ms_message_data(&message), ms_message_size(&message), err);
    }
    ms_message_close(&message);
    if (failed != 0) return -1;
  }
  return 0;
}

/* Handles what came over a worker's lane. Its end is the worker's, whatever else it does; of one
 * that never came up the channel tells more. */
static int take_lane(ms_session *session, ms_worker_handle *member, ms_error *err) {
  for (int i = 0; i < FRAMES_A_TURN && member->lane > 0; i++) {
    size_t size = ms_lane_receive(member->lane, session->lane_room);
    if (size > 0) {
      if (take_frame(session, member, session->lane_room, size, err) != 0) return -1;
      continue;
    }
    if (i > 0 || !member->up || !ms_channel_ended(member->lane)) return 0;
    ms_error trouble = {.code = MS_NET, .message = "it has closed its lane"};
    ms_session_lose(session, member, &trouble);
  }
  return 0;
}

/* Takes what a dead worker had sent and ZeroMQ still has on its way. */
static int drain(ms_session *session, ms_worker_handle *member, ms_error *err) {
  if (member->lane > 0) {
    for (int turn = 0; turn < DRAIN_TURNS; turn++) {
      if (take_lane(session, member, err) != 0) return -1;
    }
    return 0;
  }
  ms_poll_item router = {.socket = session->router};
  for (int turn = 0; turn < DRAIN_TURNS && ms_socket_poll(&router, 1, DRAIN_WAIT, NULL) > 0;
       turn++) {
    if (take_frames(session, err) != 0) return -1;
  }
  return 0;
}

/* Something on a channel: a worker of another build, or a worker's end. */
static int take_channel(ms_session *session, ms_worker_handle *member, ms_error *err) {
  ms_refusal refusal;
  int fd;
  long got = ms_channel_receive(member->channel, &refusal, sizeof refusal, &fd, 0, NULL);
  if (fd >= 0) close(fd);
  if (got < 0) return 0;
  if (got == (long)sizeof refusal && !member->up && refusal.magic == MS_FRAME_MAGIC) {
    refusal.abi[sizeof refusal.abi - 1] = '\0';
    return ms_abi_check(refusal.protocol, refusal.abi, member->number, err);
  }
  if (got > 0) return 0;
  bool came_up = member->up;
  uint32_t incarnation = member->incarnation;
  if (session->run != NULL && member->working && drain(session, member, err) != 0) return -1;
  if (member->channel < 0 || member->incarnation != incarnation) return 0; /* noticed meanwhile */
  ms_session_lose(session, member, NULL);
  if (came_up || member->incarnation != incarnation) return 0; /* it is replaced */
  bool killed = ms_child_cause(&member->child) != 0;
  if (killed && session->stillborn++ < MS_MOST_STILLBORN) return 0; /* another one is started */
  return ms_worker_handle_stillborn(session, member, err);
}

static uint32_t count_up(const ms_session *session) {
  uint32_t up = 0;
  for (uint32_t i = 0; i < session->config.workers; i++) up += session->members[i].up;
  return up;
}

int ms_session_wait(ms_session *session, int timeout, int interrupt, ms_error *err) {
  ms_poll_item *operands = session->polled;
  uint32_t workers = session->config.workers;
  int count = 0, first = 0;
  if (!ms_session_has_lanes(session) || count_up(session) < workers) { /* there may be a hello */
    operands[count++] = (ms_poll_item){.socket = session->router};
    first = count;
  }
  for (uint32_t i = 0; i < workers; i++) {
    if (session->members[i].channel < 0) continue;
    operands[count++] = (ms_poll_item){.fd = session->members[i].channel};
    if (session->members[i].lane == 0) continue;
    operands[count++] = (ms_poll_item){.fd = session->members[i].lane};
  }
  if (interrupt >= 0) operands[count++] = (ms_poll_item){.fd = interrupt};
  int ready = ms_socket_poll(operands, count, timeout, err);
  if (ready <= 0) return ready;
  if (first > 0 && operands[0].ready && take_frames(session, err) != 0) return -1;
  for (int k = first; k < count; k++) {
    for (uint32_t i = 0; operands[k].ready && i < workers; i++) {
      ms_worker_handle *member = &session->members[i];
      bool lane = member->lane > 0 && member->lane == operands[k].fd;
      if (lane && take_lane(session, member, err) != 0) return -1;
      if (lane || member->channel < 0 || member->channel != operands[k].fd) continue;
      if (take_channel(session, member, err) != 0) return -1;
    }
  }
  return 0;
}

static int spawn_missing(ms_session *session, ms_error *err) {
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_worker_handle *member = &session->members[i];
    if (member->channel < 0 && ms_worker_handle_spawn(session, member, err) != 0) return -1;
  }
  return 0;
}

/* Those that are up may die while others are waited for. */
static int wait_for_hellos(ms_session *session, int interrupt, ms_error *err) {
  uint64_t deadline = ms_clock_now() + (uint64_t)HELLO_WAIT * MS_MILLISECOND;
  while (count_up(session) < session->config.workers) {
    uint64_t now = ms_clock_now();
    if (now >= deadline) {
      return ms_error_set(err, MS_WRK, "only %u of %u workers came up in %d s; command: %s",
                          count_up(session), session->config.workers, HELLO_WAIT / 1000,
                          session->command[0]);
    }
    int left = (int)((deadline - now) / MS_MILLISECOND) + 1;
    if (spawn_missing(session, err) != 0) return -1;
    if (ms_session_wait(session, left, interrupt, err) != 0) return -1;
    if (ms_interrupt_seen()) return ms_error_set(err, MS_INT, "interrupted");
  }
  return 0;
}

int ms_session_complete(ms_session *session, ms_error *err) {
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_worker_handle *member = &session->members[i];
    if (member->channel >= 0 && member->up && ms_channel_ended(member->channel)) {
      ms_session_lose(session, member, NULL);
    }
  }
  session->stillborn = 0;
  if (count_up(session) == session->config.workers) return 0;
  int interrupt = ms_interrupt_begin();
  ms_trace(MS_TRACE_WAITS, "begin for=hellos");
  int failed = wait_for_hellos(session, interrupt, err);
  ms_trace(MS_TRACE_WAITS, "end for=hellos");
  ms_interrupt_end(failed != 0);
  for (uint32_t i = 0; failed != 0 && i < session->config.workers; i++) {
    if (!session->members[i].up) ms_worker_handle_bury(&session->members[i]);
  }
  return failed;
}
