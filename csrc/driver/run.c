/* SPDX-License-Identifier: MIT
 *
 * One job, from the driver's side: start it, wait for it, end it.
 *
 * The wait ends when every worker has said DONE or is dead. A failure (a body's error, when
 * what comes before it has run; a death, Ctrl-C, lost messages) cancels the job: workers stop at
 * their next block end, and those that reach none in time are killed and replaced before the next
 * job. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/trace.h"
#include "driver/failure.h"
#include "driver/interrupt.h"
#include "driver/session_state.h"
#include "net/channel.h"

#define SPIN         500000u /* ns of looking for the end of a job before sleeping */
#define GRACE        1000    /* ms for a cancelled worker to reach a block end */
#define TICK         1000    /* ms between looks at progress */
#define BRIEF_TICK   20      /* ms between looks at what comes before a failure */
#define STALL        10      /* s without a finished block that are worth a word */
#define DEADLOCK     30      /* looks in a row at which all wait: messages were lost */
#define ATTEMPTS     5       /* at preparing a job while workers die */
#define REPORT_LIMIT ((size_t)1 << 30)

void ms_run_fail(ms_session *session, uint32_t worker, uint32_t block, uint32_t grace) {
  ms_run *run = session->run;
  if (run->failed) return;
  run->failed = true;
  run->outcome->worker = worker;
  run->outcome->block = block;
  run->deadline = ms_clock_now() + (uint64_t)grace * MS_MILLISECOND;
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_worker_handle *member = &session->members[i];
    if (!member->working) continue;
    if (member->task_sent == 0) { /* it has not heard of the job */
      member->working = false;
      continue;
    }
    atomic_store(&member->status->cancel, session->jobs);
    ms_status_page_ring(member->status);
    ms_frame frame = {.kind = MS_SAY_CANCEL, .job = session->jobs};
    ms_link_send(&member->link, frame, NULL, 0, NULL); /* a dead one is noticed by its channel */
  }
}

/* Rows or changes of an array that come back. */
static int take_elements(ms_run *run, const ms_frame *frame, const char *payload) {
  uint32_t number = (uint32_t)frame->a[0];
  if (run->failed) return 0;
  if (number >= run->job->operand_count || !run->operands[number].written) return -1;
  const ms_elements *sent = &run->elements[number];
  ms_elements all = ms_elements_written(sent->operand, sent->data, sent->dense);
  ms_undo_log_operand(&run->undo, number);
  if (frame->kind == MS_SAY_DATA) return ms_transfer_accept(frame, payload, &all);
  return ms_runs_apply(payload, (size_t)frame->size, &all);
}

/* Takes what a worker has sent, or laid onto its shelf, of its report. */
static void take_report(ms_session *session, const ms_worker_handle *member, const char *bytes,
                        size_t size) {
  ms_run *run = session->run;
  ms_text *report = &run->outcome->reports[member->number];
  if (size == 0) return;
  if (size <= REPORT_LIMIT && report->length <= REPORT_LIMIT - size) {
    ms_text_append(report, bytes, size);
    if (!report->failed) return;
  }
  if (run->failed) return;
  ms_error_set(run->err, MS_WRK, "the results and printed text of worker %u take over %zu bytes",
               member->number + 1, REPORT_LIMIT);
  ms_run_fail(session, member->number, UINT32_MAX, GRACE);
}

/* A worker is through with the job. */
static void take_done(ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                      const char *payload) {
  ms_run *run = session->run;
  uint32_t blocks = MS_DONE_BLOCKS(frame->a[3]);
  size_t shelved = MS_DONE_SHELVED(frame->a[3]);
  take_report(session, member, payload, (size_t)frame->size);
  run->outcome->shares[member->number] =
      (ms_share){.busy = frame->a[0],
                 .waited = frame->a[1],
                 .moved = frame->a[2],
                 .blocks = blocks,
                 .began = blocks == 0 ? 0 : atomic_load(&member->status->began)};
  member->working = false;
  if (shelved > MS_SHELF_SIZE) {
    ms_error_set(run->err, MS_NET, "worker %u reports more than it has room for",
                 member->number + 1);
    ms_run_fail(session, member->number, UINT32_MAX, GRACE);
  } else if (shelved > 0) {
    uint32_t workers = session->config.workers;
    take_report(session, member, ms_status_page_shelf(session->page, workers, member->number),
                shelved);
    ms_status_page_clear_shelf(session->page, workers, member->number, shelved);
  }
}

void ms_run_frame(ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                  const char *payload) {
  ms_run *run = session->run;
  switch (frame->kind) {
    case MS_SAY_DATA:
    case MS_SAY_RUNS:
      if (session->config.shared || take_elements(run, frame, payload) != 0) {
        ms_error_set(run->err, MS_NET, "worker %u sent elements that no array has",
                     member->number + 1);
        ms_run_fail(session, member->number, UINT32_MAX, GRACE);
      }
      return;
    case MS_SAY_FAILED:
      ms_failure_take(session, member, frame, payload);
      return;
    case MS_SAY_REPORT:
      take_report(session, member, payload, (size_t)frame->size);
      return;
    case MS_SAY_DONE:
      take_done(session, member, frame, payload);
      return;
    default:
      return;
  }
}

static bool anyone_working(const ms_session *session) {
  for (uint32_t i = 0; i < session->config.workers; i++) {
    if (session->members[i].working) return true;
  }
  return false;
}

/* Kills who has not stopped in time. */
static void enforce_deadline(ms_session *session) {
  ms_run *run = session->run;
  if (run->deadline == 0 || ms_clock_now() < run->deadline) return;
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_worker_handle *member = &session->members[i];
    if (!member->working) continue;
    ms_text_format(&session->notices,
                   "worker %u (pid %ld) reached no block end in time, was killed and is replaced\n",
                   member->number + 1, member->pid);
    ms_worker_handle_bury(member);
  }
}

/* Tells how far the job is. */
static void tell_progress(const ms_session *session) {
  const ms_run *run = session->run;
  uint64_t finished = 0;
  if (run->failed || run->job->advanced == NULL) return;
  for (uint32_t i = 0; i < session->schedule->workers; i++) {
    finished += ms_recover_finished(session, i);
  }
  run->job->advanced(run->job->context, run->job->grid.first + finished, session->schedule->count);
}

/* Tells of stalls; fails when all that work wait for each other. */
static void watch_progress(ms_session *session) {
  ms_run *run = session->run;
  uint64_t finished = 0, now = ms_clock_now();
  ms_progress progress = {.worker = UINT32_MAX, .block = UINT32_MAX};
  bool all_wait = true;
  for (uint32_t i = 0; i < session->config.workers; i++) {
    const ms_worker_handle *member = &session->members[i];
    if (!member->working) continue;
    finished += atomic_load(&member->status->finished);
    uint64_t running = atomic_load(&member->status->running);
    uint64_t awaiting = atomic_load(&member->status->awaiting);
    all_wait = all_wait && awaiting != 0;
    if (running != 0 || progress.worker == UINT32_MAX) {
      uint64_t block = running != 0 ? running : awaiting;
      progress.worker = i;
      progress.block = block == 0 ? UINT32_MAX : (uint32_t)(block - 1);
    }
  }
  if (finished != run->finished) {
    run->finished = finished;
    run->progressed = run->warned = now;
    run->stuck = 0;
    return;
  }
  run->stuck = all_wait ? run->stuck + 1 : 0;
  if (!run->failed && run->stuck >= DEADLOCK) {
    ms_error_set(run->err, MS_NET,
                 "worker %u has waited for block %u for %d s and nobody is running it: a hand-over "
                 "was lost",
                 progress.worker + 1, progress.block, DEADLOCK);
    ms_run_fail(session, progress.worker, progress.block, GRACE);
  }
  double patience = run->job->patience > 0 ? run->job->patience : STALL;
  if (run->job->stalled != NULL && (double)(now - run->warned) >= patience * MS_SECOND) {
    run->warned = now;
    progress.seconds = (double)(now - run->progressed) / MS_SECOND;
    run->job->stalled(run->job->context, &progress);
  }
}

static int next_timeout(const ms_run *run) {
  uint64_t now = ms_clock_now();
  if (run->deadline == 0) return run->first.any ? BRIEF_TICK : TICK;
  if (run->deadline <= now) return 0;
  uint64_t left = (run->deadline - now) / MS_MILLISECOND + 1;
  return left < TICK ? (int)left : TICK;
}

/* Handles what comes in, waiting for it: on a core that no worker needs first by looking, because
 * many jobs are over before a sleeper would be awake. */
static int wait_once(ms_session *session, int interrupt, ms_error *err) {
  ms_run *run = session->run;
  if (!run->may_spin) return ms_session_wait(session, next_timeout(run), interrupt, err);
  uint64_t end = ms_clock_now() + SPIN;
  do {
    if (ms_session_wait(session, 0, interrupt, err) != 0) return -1;
    if (!anyone_working(session) || ms_interrupt_seen()) break;
  } while (ms_clock_now() < end);
  run->may_spin = false;
  ms_spin_learn(&session->spin, !anyone_working(session));
  return 0;
}

/* Waits until nobody works any more. */
static void wait_for_all(ms_session *session, int interrupt) {
  ms_trace(MS_TRACE_WAITS, "begin for=workers job=%llu", (unsigned long long)session->jobs);
  ms_run *run = session->run;
  run->progressed = run->warned = ms_clock_now();
  uint64_t ticked = run->progressed;
  ms_load_send(session, run);
  run->may_spin = ms_session_has_lanes(session) && ms_spin_room(session->schedule->workers + 1) &&
                  ms_spin_worthwhile(&session->spin);
  while (anyone_working(session)) {
    bool seen = ms_interrupt_seen();
    ms_error trouble;
    ms_error_clear(&trouble);
    if (wait_once(session, seen ? -1 : interrupt, &trouble) != 0) {
      ms_error_set(run->err, (ms_code)trouble.code, "%s", trouble.message);
      ms_run_fail(session, UINT32_MAX, UINT32_MAX, GRACE);
    }
    if (ms_interrupt_seen() && !run->failed) {
      ms_error_set(run->err, MS_INT, "interrupted");
      ms_run_fail(session, UINT32_MAX, UINT32_MAX, GRACE);
    }
    ms_replace_resume(session);
    ms_load_send(session, run);
    ms_failure_settle(session);
    enforce_deadline(session);
    if (ms_clock_now() - ticked >= MS_SECOND) {
      ticked = ms_clock_now();
      tell_progress(session);
      watch_progress(session);
    }
  }
  ms_trace(MS_TRACE_WAITS, "end for=workers job=%llu", (unsigned long long)session->jobs);
}

/* After lost messages no link can be trusted: everyone is replaced. */
static void replace_all(ms_session *session) {
  for (uint32_t i = 0; i < session->config.workers; i++)
    ms_worker_handle_bury(&session->members[i]);
  ms_text_add(&session->notices, "messages were lost: all workers are replaced\n");
}

/* Makes sure of all workers and prepares the job. Nothing has begun: who dies is replaced. */
static int prepare(ms_session *session, ms_run *run) {
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (ms_session_complete(session, run->err) != 0) return -1;
    if (ms_load_prepare(session, run) == 0) return 0;
    run->failed = true;
    ms_load_free(session, run);
    if (!run->lost) return -1;
    run->failed = run->lost = false;
  }
  run->failed = true;
  return ms_error_set(run->err, MS_WRK, "workers died %d times before a loop could begin",
                      ATTEMPTS);
}

static int run_job(ms_session *session, ms_run *run) {
  if (ms_gather_begin(session, run->outcome, run->err) != 0) {
    for (uint32_t i = 0; i < session->config.workers; i++) session->members[i].working = false;
    run->failed = true;
    return -1;
  }
  wait_for_all(session, ms_interrupt_begin());
  ms_interrupt_end(false); /* ms_session_run listens on */
  if (!run->failed) return ms_gather_finish(session, run->outcome, run->err);
  if (run->err->code == MS_NET) replace_all(session);
  ms_gather_finish(session, run->outcome, NULL);
  return -1;
}

/* Tells of the job that begins. */
__attribute__((cold)) static void trace_job(const ms_session *session) {
  const ms_schedule *schedule = session->schedule;
  const ms_grid *grid = &schedule->grid;
  char ranges[16 * MS_CUTS] = "";
  for (uint32_t a = 0, at = 0; a < grid->count; a++) {
    at +=
        (uint32_t)snprintf(ranges + at, sizeof ranges - at, a == 0 ? "%u" : "x%u", grid->ranges[a]);
  }
  ms_trace(MS_TRACE_PLAN, "job job=%llu strategy=%s grid=%s blocks=%u workers=%u",
           (unsigned long long)session->jobs, ms_strategy_name(grid->strategy), ranges,
           schedule->count, schedule->workers);
}

/* Runs the job once, from nothing to its end or its undoing. */
static int attempt(ms_session *session, ms_run *run) {
  session->jobs++;
  if (prepare(session, run) != 0) return -1;
  if (ms_trace_wants(MS_TRACE_PLAN)) trace_job(session);
  session->run = run;
  int failed = run_job(session, run);
  session->run = NULL;
  ms_trace(MS_TRACE_PLAN, "%s job=%llu", failed == 0 ? "done" : "failed",
           (unsigned long long)session->jobs);
  if (failed != 0) {
    ms_recover_undo(run);
  } else if (run->job->fold != NULL) {
    ms_undo_fold(run->job->fold, &run->undo);
  }
  ms_load_free(session, run);
  ms_failure_forget(run);
  return failed;
}

int ms_session_run(ms_session *session, const ms_job *job, ms_outcome *outcome, ms_error *err) {
  *outcome = (ms_outcome){.worker = UINT32_MAX, .block = UINT32_MAX};
  if (session->process != getpid()) {
    return ms_error_set(err, MS_WRK,
                        "this process was forked from the one that started the workers: call "
                        "meissa.init in it to start its own");
  }
  if (session->run != NULL) return ms_error_set(err, MS_BUG, "a loop is running already");
  ms_run *run = calloc(1, sizeof *run);
  if (run == NULL) return ms_error_set(err, MS_WRK, "out of memory");
  *run = (ms_run){.job = job, .outcome = outcome, .err = err};
  ms_interrupt_begin(); /* also between attempts */
  int failed;
  do {
    failed = attempt(session, run);
  } while (failed != 0 && ms_recover_again(session, run));
  ms_interrupt_end(err->code == MS_INT);
  free(run);
  outcome->notices = session->notices;
  session->notices = (ms_text){0};
  return failed;
}
