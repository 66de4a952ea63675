/* SPDX-License-Identifier: MIT
 *
 * Collecting: a job from its first task to the last worker's DONE, as a state machine over the
 * session's road (net/road.h). It has no socket and no clock.
 *
 * What is expected of each worker is its part (ms_worker_part); what of the job, its run (ms_run).
 * Letters move them: reports, rows and DONE here, a block's failure in failure.c, a worker's end in
 * replace.c. The job is over when nothing is expected of anyone. A failure (a body's error, when
 * what comes before it has run; a death that cannot be mended, Ctrl-C, lost messages) cancels it:
 * workers stop at their next block end, and those that reach none in time are killed, and replaced
 * before the next job. */
#include "driver/collect.h"

#include "base/clock.h"
#include "base/trace.h"
#include "driver/failure.h"
#include "driver/interrupt.h"
#include "driver/load.h"
#include "driver/recover.h"
#include "driver/replace.h"
#include "driver/session_state.h"
#include "driver/session_wait.h"

#define SPIN         500000u /* ns of looking for the end of a job before sleeping */
#define GRACE        1000    /* ms for a cancelled worker to reach a block end */
#define TICK         1000u   /* ms between looks at progress */
#define BRIEF_TICK   20u     /* ms between looks at what comes before a failure */
#define STALL        10      /* s without a finished block that are worth a word */
#define DEADLOCK     30      /* looks in a row at which all wait: messages were lost */
#define REPORT_LIMIT ((size_t)1 << 30)

void ms_collect_fail(ms_session *session, uint32_t worker, uint32_t block, uint32_t grace) {
  ms_run *run = session->run;
  if (run->failed) return;
  run->failed = true;
  run->outcome->worker = worker;
  run->outcome->block = block;
  run->deadline = session->road->now() + (uint64_t)grace * MS_MILLISECOND;
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_worker_handle *member = &session->members[i];
    if (member->part == MS_PART_NONE) continue;
    if (member->task_sent == 0) { /* it has not heard of the job */
      member->part = MS_PART_NONE;
      continue;
    }
    session->road->publish(session, i, MS_STATUS_CANCEL, session->jobs);
    session->road->wake(session, i);
    ms_frame frame = {.kind = MS_SAY_CANCEL, .job = session->jobs};
    ms_link *link = session->road->send(session, i, NULL);
    if (link != NULL) ms_link_send(link, frame, NULL, 0, NULL); /* word of its death comes, too */
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
  return ms_change_runs_apply(payload, (size_t)frame->size, &all);
}

/* What lists have of an array that comes back, in the order of the worker's blocks. */
static int take_values(const ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                       const char *payload) {
  ms_run *run = session->run;
  uint32_t number = (uint32_t)frame->a[0];
  if (run->failed) return 0;
  if (number >= run->job->operand_count) return -1;
  const ms_operand *operand = &run->operands[number];
  ms_listed_share *share = &member->returned;
  if (!ms_operand_goes_by_lists(operand) || frame->size % operand->element != 0) return -1;
  if (member->returning != number + 1) {
    *share = ms_listed_share_begin(operand->lists, session->schedule, member->number);
    member->returning = number + 1;
  }
  int64_t count = (int64_t)(frame->size / operand->element);
  if (frame->a[1] != (uint64_t)share->done || count > share->count - share->done) return -1;
  ms_undo_log_operand(&run->undo, number);
  return ms_listed_share_scatter(share, &run->elements[number], count, payload) ? 0 : -1;
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
  ms_collect_fail(session, member->number, UINT32_MAX, GRACE);
}

/* A worker is through with the job. */
static void take_done(ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                      const char *payload) {
  ms_run *run = session->run;
  uint32_t blocks = MS_DONE_BLOCKS(frame->a[3]);
  size_t shelved = MS_DONE_SHELVED(frame->a[3]);
  uint64_t began = session->road->status(session, member->number, MS_STATUS_BEGAN);
  take_report(session, member, payload, (size_t)frame->size);
  run->outcome->shares[member->number] = (ms_share){.busy = frame->a[0],
                                                    .waited = frame->a[1],
                                                    .moved = frame->a[2],
                                                    .blocks = blocks,
                                                    .began = blocks == 0 ? 0 : began};
  member->part = MS_PART_NONE;
  if (shelved > MS_SHELF_SIZE) {
    ms_error_set(run->err, MS_NET, "worker %u reports more than it has room for",
                 member->number + 1);
    ms_collect_fail(session, member->number, UINT32_MAX, GRACE);
  } else if (shelved > 0) {
    take_report(session, member, session->road->shelf(session, member->number), shelved);
    session->road->clear_shelf(session, member->number, shelved);
  }
}

/* Elements that come back. */
static int take_back(const ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                     const char *payload) {
  return frame->kind == MS_SAY_VALUES ? take_values(session, member, frame, payload)
                                      : take_elements(session->run, frame, payload);
}

void ms_collect_frame(ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                      const char *payload) {
  ms_run *run = session->run;
  switch (frame->kind) {
    case MS_SAY_DATA:
    case MS_SAY_RUNS:
    case MS_SAY_VALUES:
      if (session->config.shared || take_back(session, member, frame, payload) != 0) {
        ms_error_set(run->err, MS_NET, "worker %u sent elements that no array has",
                     member->number + 1);
        ms_collect_fail(session, member->number, UINT32_MAX, GRACE);
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

/* How many workers there are up to the last one of which something is expected; 0: none is due. */
static uint32_t count_due(const ms_session *session) {
  uint32_t count = session->config.workers;
  while (count > 0 && session->members[count - 1].part == MS_PART_NONE) count--;
  return count;
}

static bool is_anyone_due(const ms_session *session) {
  return count_due(session) > 0;
}

/* Kills who has not stopped in time. */
static void enforce_deadline(ms_session *session) {
  ms_run *run = session->run;
  if (run->deadline == 0 || session->road->now() < run->deadline) return;
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_worker_handle *member = &session->members[i];
    if (member->part == MS_PART_NONE) continue;
    ms_text_format(&session->notices,
                   "worker %u (pid %ld) reached no block end in time, was killed and is replaced\n",
                   member->number + 1, member->pid);
    ms_worker_handle_bury(session, member);
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
  uint64_t finished = 0, now = session->road->now();
  ms_progress progress = {.worker = UINT32_MAX, .block = UINT32_MAX};
  bool all_wait = true;
  for (uint32_t i = 0; i < session->config.workers; i++) {
    const ms_worker_handle *member = &session->members[i];
    finished += ms_recover_finished(session, i);
    if (member->part == MS_PART_NONE) continue;
    uint64_t running = session->road->status(session, i, MS_STATUS_RUNNING);
    uint64_t awaiting = session->road->status(session, i, MS_STATUS_AWAITING);
    all_wait = all_wait && awaiting != 0;
    bool works = running != 0 && awaiting == 0; /* it may wait in the midst of a block */
    if (works || progress.worker == UINT32_MAX) {
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
    ms_collect_fail(session, progress.worker, progress.block, GRACE);
  }
  double patience = run->job->patience > 0 ? run->job->patience : STALL;
  if (run->job->stalled != NULL && (double)(now - run->warned) >= patience * MS_SECOND) {
    run->warned = now;
    progress.seconds = (double)(now - run->progressed) / MS_SECOND;
    run->job->stalled(run->job->context, &progress);
  }
}

/* What the next wait is for: all blocks of one of those that are due, whoever it is; but no longer
 * than until there is something else to look at. */
static ms_awaited next_end(const ms_session *session) {
  const ms_run *run = session->run;
  const ms_schedule *schedule = session->schedule;
  ms_awaited what = {.block = MS_NO_BLOCK};
  while (what.worker < schedule->workers && session->members[what.worker].part == MS_PART_NONE)
    what.worker++;
  if (what.worker < schedule->workers) what.count = ms_schedule_share(schedule, what.worker);
  uint64_t tick = run->first.any && run->deadline == 0 ? BRIEF_TICK : TICK;
  what.until = session->road->now() + tick * MS_MILLISECOND;
  if (run->deadline != 0 && run->deadline < what.until) what.until = run->deadline;
  return what;
}

/* Handles what comes in, waiting for it: on a core that no worker needs first by looking, because
 * many jobs are over before a sleeper would be awake. That is so once all that are due are of those
 * that leave a core to the driver when they look for the next job, as the first ones do
 * (worker.c). */
static int wait_once(ms_session *session, ms_error *err) {
  ms_run *run = session->run;
  ms_awaited what = next_end(session);
  bool may_spin = run->may_spin && ms_spin_room(count_due(session) + 1);
  if (!may_spin) return ms_session_wait(session, &what, err);
  uint64_t now = session->road->now(), end = now + SPIN;
  do {
    what.until = now;
    if (ms_session_wait(session, &what, err) != 0) return -1;
    if (!is_anyone_due(session) || ms_interrupt_seen()) break;
    now = session->road->now();
  } while (now < end);
  run->may_spin = false;
  ms_spin_learn(&session->spin, !is_anyone_due(session));
  return 0;
}

/* Whether the user wants the job to end now: one without a log may go on for a while. */
static bool is_interrupted(const ms_session *session, ms_run *run) {
  if (!ms_interrupt_seen() || run->failed) return false;
  uint64_t now = session->road->now();
  if (run->interrupted == 0) run->interrupted = now;
  return !run->job->unlogged || now - run->interrupted >= MS_SECOND;
}

void ms_collect_all(ms_session *session) {
  ms_trace(MS_TRACE_WAITS, "begin for=workers job=%llu", (unsigned long long)session->jobs);
  ms_run *run = session->run;
  run->progressed = run->warned = session->road->now();
  uint64_t ticked = run->progressed;
  ms_load_send(session, run);
  run->may_spin = ms_session_has_lanes(session) && ms_spin_worthwhile(&session->spin);
  while (is_anyone_due(session)) {
    ms_error trouble;
    ms_error_clear(&trouble);
    if (wait_once(session, &trouble) != 0) {
      ms_error_set(run->err, (ms_code)trouble.code, "%s", trouble.message);
      ms_collect_fail(session, UINT32_MAX, UINT32_MAX, GRACE);
    }
    if (is_interrupted(session, run)) {
      ms_error_set(run->err, MS_INT, "interrupted");
      ms_collect_fail(session, UINT32_MAX, UINT32_MAX, GRACE);
    }
    ms_replace_resume(session);
    ms_load_send(session, run);
    ms_failure_settle(session);
    enforce_deadline(session);
    if (session->road->now() - ticked >= MS_SECOND) {
      ticked = session->road->now();
      tell_progress(session);
      watch_progress(session);
    }
  }
  ms_trace(MS_TRACE_WAITS, "end for=workers job=%llu", (unsigned long long)session->jobs);
}
