/* SPDX-License-Identifier: MIT
 *
 * What comes of workers while the driver waits: their frames and their ends; and waiting for
 * workers to come up, and to end. See session_wait.h. Frames are believed only as far as their
 * sender may say them. */
#include "driver/session_wait.h"

#include <string.h>

#include "base/clock.h"
#include "base/trace.h"
#include "driver/collect.h"
#include "driver/interrupt.h"
#include "driver/replace.h"
#include "driver/session_state.h"

#define HELLO_WAIT 10000 /* ms for all workers to come up */
#define END_WAIT   700   /* ms for a worker to end by itself */
#define DEATH_WAIT 300   /* ms between a link's end and its process's */

int ms_session_wait_accept(ms_session *session, ms_letter *letter, const char *bytes, size_t size,
                           ms_error *err) {
  ms_worker_handle *member = &session->members[letter->from];
  ms_frame *frame = &letter->frame;
  const char *wrong = ms_frame_read(frame, bytes, size, MS_TO_DRIVER);
  if (wrong != NULL) {
    bool other = size >= sizeof *frame && frame->magic == MS_FRAME_MAGIC && !member->up &&
                 frame->version != MS_PROTOCOL;
    return other ? ms_frame_abi_check(frame->version, ms_frame_abi(), member->number, err) : 0;
  }
  if (frame->sender != member->number || frame->incarnation != member->incarnation) return 0;
  ms_error_clear(&letter->trouble);
  uint64_t received = member->link.received;
  int accepted = ms_link_receive(&member->link, frame, true, &letter->trouble);
  if (accepted < 0 && member->link.received > received && /* only it cannot be acknowledged */
      session->processes->ended(member, DEATH_WAIT)) {
    accepted = 1; /* what a dead worker had sent is all taken */
  }
  letter->ended = accepted < 0;
  letter->payload = bytes + sizeof *frame;
  return accepted != 0;
}

/* Nothing more comes of a worker. */
static int take_end(ms_session *session, ms_worker_handle *member, const ms_error *trouble,
                    ms_error *err) {
  bool came_up = member->up;
  uint32_t incarnation = member->incarnation;
  ms_replace_dead(session, member, trouble->code == MS_OK ? NULL : trouble);
  if (trouble->code != MS_OK || came_up) return 0;
  if (member->incarnation != incarnation) return 0; /* it is replaced */
  bool killed = ms_child_cause(&member->child) != 0;
  if (killed && session->stillborn++ < MS_MOST_STILLBORN) return 0; /* another one is started */
  return ms_worker_handle_stillborn(session, member, err);
}

/* Handles a letter. Only a refused hello, and the end of one that never came up, are the session's
 * error. */
static int take(ms_session *session, const ms_letter *letter, ms_error *err) {
  ms_worker_handle *member = &session->members[letter->from];
  const ms_frame *frame = &letter->frame;
  if (letter->ended) return take_end(session, member, &letter->trouble, err);
  if (frame->kind == MS_SAY_HELLO) {
    if (member->up) return 0;
    return ms_worker_handle_hello(session, member, frame, letter->payload, err);
  }
  if (session->run != NULL && member->part != MS_PART_NONE && frame->job == session->jobs) {
    ms_collect_frame(session, member, frame, letter->payload);
  }
  return 0;
}

int ms_session_wait(ms_session *session, const ms_awaited *what, ms_error *err) {
  const ms_road *road = session->road;
  ms_letter letter;
  int got, failed = road->wait(session, what, err);
  while (failed == 0 && (got = road->take(session, &letter, err)) != 0) {
    failed = got < 0 || take(session, &letter, err) != 0;
    if (got > 0) ms_letter_close(&letter);
  }
  return failed == 0 ? 0 : -1;
}

/* ------------------------------------------------------------------------------- hellos */

static uint32_t count_up(const ms_session *session) {
  uint32_t up = 0;
  for (uint32_t i = 0; i < session->config.workers; i++) up += session->members[i].up;
  return up;
}

static int spawn_missing(ms_session *session, ms_error *err) {
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_worker_handle *member = &session->members[i];
    if (member->channel < 0 && ms_worker_handle_spawn(session, member, err) != 0) return -1;
  }
  return 0;
}

/* Waits until all workers have said hello. One that has may die while others are waited for. */
static int wait_for_hellos(ms_session *session, ms_error *err) {
  uint64_t deadline = session->road->now() + (uint64_t)HELLO_WAIT * MS_MILLISECOND;
  while (count_up(session) < session->config.workers) {
    if (session->road->now() >= deadline) {
      return ms_error_set(err, MS_WRK, "only %u of %u workers came up in %d s; command: %s",
                          count_up(session), session->config.workers, HELLO_WAIT / 1000,
                          session->command[0]);
    }
    const ms_awaited hello = {.worker = UINT32_MAX, .block = MS_NO_BLOCK, .until = deadline};
    if (spawn_missing(session, err) != 0) return -1;
    if (ms_session_wait(session, &hello, err) != 0) return -1;
    if (ms_interrupt_seen()) return ms_error_set(err, MS_INT, "interrupted");
  }
  return 0;
}

int ms_session_wait_complete(ms_session *session, ms_error *err) {
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_worker_handle *member = &session->members[i];
    if (member->channel >= 0 && member->up && session->processes->gone(member)) {
      ms_replace_dead(session, member, NULL);
    }
  }
  session->stillborn = 0;
  if (count_up(session) == session->config.workers) return 0;
  session->polled.interrupt = ms_interrupt_begin();
  ms_trace(MS_TRACE_WAITS, "begin for=hellos");
  int failed = wait_for_hellos(session, err);
  ms_trace(MS_TRACE_WAITS, "end for=hellos");
  ms_interrupt_end(failed != 0);
  session->polled.interrupt = -1;
  for (uint32_t i = 0; failed != 0 && i < session->config.workers; i++) {
    if (!session->members[i].up) ms_worker_handle_bury(session, &session->members[i]);
  }
  return failed;
}

/* ------------------------------------------------------------------------------- the end */

void ms_session_wait_dismiss(ms_session *session, bool now) {
  const ms_processes *processes = session->processes;
  uint32_t count = session->members == NULL ? 0 : session->config.workers;
  for (uint32_t i = 0; i < count; i++) processes->stop(&session->members[i], now);
  uint64_t deadline = session->road->now() + (uint64_t)END_WAIT * MS_MILLISECOND;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t clock = session->road->now();
    int left = clock < deadline ? (int)((deadline - clock) / MS_MILLISECOND) : 0;
    processes->ended(&session->members[i], left);
  }
}
