/* SPDX-License-Identifier: MIT
 *
 * One job, from the driver's side: prepare it, run it, end it; and again where a worker's death has
 * undone it. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/trace.h"
#include "driver/collect.h"
#include "driver/failure.h"
#include "driver/interrupt.h"
#include "driver/job_history.h"
#include "driver/load.h"
#include "driver/outcome.h"
#include "driver/recover.h"
#include "driver/session_state.h"
#include "driver/session_wait.h"

#define ATTEMPTS 5 /* at preparing a job while workers die */

/* After lost messages no link can be trusted: everyone is replaced. */
static void replace_all(ms_session *session) {
  for (uint32_t i = 0; i < session->config.workers; i++)
    ms_worker_handle_bury(session, &session->members[i]);
  ms_text_add(&session->notices, "messages were lost: all workers are replaced\n");
}

/* Makes sure of all workers and prepares the job. Nothing has begun: who dies is replaced. */
static int prepare(ms_session *session, ms_run *run) {
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (ms_session_wait_complete(session, run->err) != 0) return -1;
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
  if (ms_outcome_begin(session, run->outcome, run->err) != 0) {
    for (uint32_t i = 0; i < session->config.workers; i++) session->members[i].part = MS_PART_NONE;
    run->failed = true;
    return -1;
  }
  session->polled.interrupt = ms_interrupt_begin();
  ms_collect_all(session);
  ms_interrupt_end(false); /* ms_session_run listens on */
  session->polled.interrupt = -1;
  if (!run->failed) return ms_outcome_finish(session, run->outcome, run->err);
  if (run->err->code == MS_NET) replace_all(session);
  ms_outcome_finish(session, run->outcome, NULL);
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
  ms_job_history_begin(session, run->job);
  session->run = run;
  int failed = run_job(session, run);
  session->run = NULL;
  ms_job_history_end(session, failed != 0);
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
  ms_run *run = malloc(sizeof *run);
  if (run == NULL) return ms_error_memory(err, MS_WRK, "a run of a loop");
  memset(run, 0, offsetof(ms_run, deaths.fresh));
  run->job = job;
  run->outcome = outcome;
  run->err = err;
  ms_interrupt_begin(); /* also between attempts */
  int failed;
  do {
    failed = attempt(session, run);
  } while (failed != 0 && ms_recover_again(session, run));
  outcome->interrupted = failed == 0 && job->unlogged && ms_interrupt_seen();
  ms_interrupt_end(err->code == MS_INT || outcome->interrupted);
  free(run);
  outcome->notices = session->notices;
  session->notices = (ms_text){0};
  return failed;
}
