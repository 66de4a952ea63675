/* SPDX-License-Identifier: MIT
 *
 * Replacement: a worker that dies in the middle of a job is replaced, and the other process goes on
 * at the same place in the plan, while the others run.
 *
 * What the dead one had finished is there: its writes in shared memory, its results on its
 * shelf (block_checkpoint.h). The block that it had begun is undone alone, from the image in the
 * slot, and nobody runs what comes after that block meanwhile. Plans fix every bit of their
 * results, so it gives the same again. Where that is not exact, or no image was kept, nothing is
 * touched here and the whole job is undone and run again (recover.c). The undo log still reaches
 * back to the job's beginning.
 *
 * A state machine over the session's road, as collect.c: a worker's end moves it, then the hello of
 * the process that takes its place. */
#include "driver/replace.h"

#include "base/clock.h"
#include "base/trace.h"
#include "driver/collect.h"
#include "driver/interrupt.h"
#include "driver/load.h"
#include "driver/recover.h"
#include "driver/session_state.h"

#define UP_WAIT     10000 /* ms for a replacement to come up */
#define DEATH_WAIT  50    /* ms in which one that cannot be reached turns out to be dead */
#define LINK_WAIT   300   /* ms between a link's end and its process's */
#define DEATH_GRACE 200   /* ms for the others to reach a block end before they are replaced, too */

/* Where the elements of an operand lie: first byte and end in its segment. */
static void extent_of(const ms_operand *operand, uint64_t *first, uint64_t *end) {
  uint64_t last = 0;
  for (uint32_t d = 0; d < operand->dim_count; d++) {
    if (operand->dims[d] > 0)
      last += (uint64_t)(operand->dims[d] - 1) * (uint64_t)operand->strides[d];
  }
  *first = operand->place;
  *end = operand->place + (last + 1) * operand->element;
}

/* Whether something that is written lies in the memory of another operand: then no image of it can
 * be put back while others run. */
static bool overlaps(const ms_run *run) {
  for (uint32_t i = 0; i < run->job->operand_count; i++) {
    for (uint32_t k = 0; run->operands[i].written && k < run->job->operand_count; k++) {
      uint64_t first, end, other_first, other_end;
      if (k == i || run->operands[k].segment != run->operands[i].segment) continue;
      extent_of(&run->operands[i], &first, &end);
      extent_of(&run->operands[k], &other_first, &other_end);
      if (first < other_end && other_first < end) return true;
    }
  }
  return false;
}

static bool may_replace(ms_session *session, const ms_worker_handle *member, uint32_t block) {
  ms_run *run = session->run;
  ms_deaths *deaths = &run->deaths;
  if (run->checkpoint.size == 0 || run->failed || run->first.any || ms_interrupt_seen())
    return false;
  if (deaths->redos == MS_MOST_REDOS) return false;
  if (member->part == MS_PART_AWAITED && ++deaths->stillborn > MS_MOST_STILLBORN) return false;
  if (block == MS_NO_BLOCK) return true;
  return !ms_recover_suspects(session, block) && !overlaps(run);
}

/* How many of a worker's blocks are finished, for those who look at its report. */
typedef struct progress {
  const ms_schedule *schedule;
  uint32_t worker, finished;
} progress;

static bool is_finished(const ms_record *record, const void *context) {
  const progress *of = context;
  const ms_schedule *schedule = of->schedule;
  return ms_schedule_owns(schedule, of->worker, record->block) &&
         ms_schedule_rank(schedule, record->block) < of->finished;
}

/* Puts what the finished blocks of a dead worker report with what had come of it. */
static bool take_report(ms_session *session, ms_worker_handle *member, uint32_t finished) {
  const ms_block_checkpoint *checkpoint = &session->run->checkpoint;
  ms_text *report = &session->run->outcome->reports[member->number];
  size_t size;
  int64_t rest = ms_block_checkpoint_rest(checkpoint, member->number, finished,
                                          report->length - member->reported, &size);
  if (rest < 0) return false;
  ms_text_append(report, session->road->shelf(session, member->number) + rest, size);
  progress of = {.schedule = session->schedule, .worker = member->number, .finished = finished};
  ms_report_keep(report, is_finished, &of);
  return !report->failed;
}

/* Says what happens to a worker, of which the user may want to know. */
static void tell(ms_session *session, const ms_worker_handle *member, uint32_t block) {
  char how[128] = "";
  ms_child_describe(&member->child, how, sizeof how);
  ms_text_format(&session->notices, "worker %u (pid %ld) %s and is replaced%s\n",
                 member->number + 1, member->pid, how,
                 block == MS_NO_BLOCK ? "; nothing is lost"
                                      : "; the block that it was in is undone and run again");
}

/* All that the worker had to do is done. */
static void close_share(ms_session *session, ms_worker_handle *member, uint32_t finished) {
  const ms_block_checkpoint_slot *slot =
      ms_block_checkpoint_at(&session->run->checkpoint, member->number);
  uint64_t began = session->road->status(session, member->number, MS_STATUS_BEGAN);
  session->run->outcome->shares[member->number] = (ms_share){.busy = atomic_load(&slot->busy),
                                                             .waited = atomic_load(&slot->waited),
                                                             .blocks = finished,
                                                             .began = began};
  ms_worker_handle_bury(session, member);
}

/* Starts the other process. */
static void start(ms_session *session, ms_worker_handle *member, uint32_t finished) {
  ms_run *run = session->run;
  ms_error trouble = {0};
  ms_block_checkpoint_inherit(&run->checkpoint, member->number);
  member->reported = run->outcome->reports[member->number].length;
  ms_worker_handle_bury(session, member);
  if (ms_worker_handle_spawn(session, member, &trouble) != 0) {
    ms_error_set(run->err, (ms_code)trouble.code, "%s", trouble.message);
    ms_collect_fail(session, member->number, UINT32_MAX, 0);
    return;
  }
  member->part = MS_PART_AWAITED;
  member->from = (uint64_t)finished + 1;
  member->task_sent = 0;
  member->due = session->road->now() + (uint64_t)UP_WAIT * MS_MILLISECOND;
}

/* Whether a finished block may be run again although others have gone on since: it leaves its
 * report alone. What it writes others may have read or written over by then, and in rounds the
 * versions that it has read. */
static bool only_reports(const ms_run *run) {
  for (uint32_t i = 0; i < run->job->operand_count; i++) {
    if (run->operands[i].written) return false;
  }
  return run->job->rounds.setting.name == NULL;
}

/* How many blocks of a worker that has ended need not be run again: those that it has finished;
 * where they only report, those whose reports are there, which may come with later blocks'. */
static uint32_t told_by(const ms_session *session, const ms_worker_handle *member) {
  const ms_run *run = session->run;
  uint32_t finished = ms_recover_finished(session, member->number);
  if (run->checkpoint.size == 0 || !only_reports(run)) return finished;
  const ms_block_checkpoint_slot *slot = ms_block_checkpoint_at(&run->checkpoint, member->number);
  uint64_t told = atomic_load(&slot->finished);
  return told < finished ? (uint32_t)told : finished;
}

/* Undoes `block`, which a member was running when it ended (MS_NO_BLOCK: none), alone, and starts a
 * process that goes on there, if that is possible. */
static bool replace(ms_session *session, ms_worker_handle *member, uint32_t block) {
  ms_run *run = session->run;
  uint32_t finished = told_by(session, member);
  if (!may_replace(session, member, block) || !take_report(session, member, finished)) return false;
  if (block != MS_NO_BLOCK) {
    if (!ms_block_checkpoint_undo(&run->checkpoint, member->number, block)) return false;
    ms_recover_suspect(session, block);
    run->outcome->redone++;
  }
  ms_undo_release(&run->undo, member->number);
  tell(session, member, block);
  run->deaths.redos++;
  if (finished == ms_schedule_share(session->schedule, member->number)) {
    close_share(session, member, finished);
  } else {
    start(session, member, finished);
  }
  for (uint32_t w = 0; w < session->schedule->workers; w++) { /* it may have died before it did */
    session->road->wake(session, w);
  }
  return true;
}

/* ------------------------------------------------------------------------------- deaths */

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
  if (run == NULL || member->part != MS_PART_NONE) return run != NULL;
  if (run->failed || member->task == NULL || ms_session_has_lanes(session)) return false;
  for (uint32_t i = 0; i < session->config.workers; i++) {
    if (session->members[i].part != MS_PART_NONE) return true;
  }
  return false;
}

/* The block that a member that has ended had begun and not finished. */
static uint32_t begun_by(const ms_session *session, const ms_worker_handle *member) {
  uint64_t running = session->road->status(session, member->number, MS_STATUS_RUNNING);
  const ms_schedule *schedule = session->schedule;
  if (running == 0 || !ms_schedule_owns(schedule, member->number, running - 1)) return MS_NO_BLOCK;
  uint32_t block = (uint32_t)(running - 1);
  uint32_t rank = ms_schedule_rank(schedule, block);
  bool finished = rank < ms_recover_finished(session, member->number);
  return finished ? MS_NO_BLOCK : block;
}

void ms_replace_dead(ms_session *session, ms_worker_handle *member, const ms_error *trouble) {
  ms_run *run = session->run;
  bool missed = is_missed(session, member), working = member->part != MS_PART_NONE;
  bool ended = session->processes->ended(member, LINK_WAIT);
  uint32_t block = working ? begun_by(session, member) : MS_NO_BLOCK;
  ms_trace(MS_TRACE_WORKERS, "lost worker=%u pid=%ld block=%ld", member->number + 1, member->pid,
           block == MS_NO_BLOCK ? -1 : (long)block);
  if (missed) run->outcome->deaths++;
  if (missed && ended) {
    if (working && replace(session, member, block)) return;
    ms_recover_note(session, member, block);
  }
  ms_worker_handle_bury(session, member);
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
  ms_collect_fail(session, member->number, block, DEATH_GRACE);
}

/* ------------------------------------------------------------------------------- resuming */

/* A replacement cannot be told of the job. */
static void give_up(ms_session *session, ms_worker_handle *member, const ms_error *trouble) {
  ms_run *run = session->run;
  if (trouble->code != MS_BUG && session->processes->ended(member, DEATH_WAIT)) {
    ms_replace_dead(session, member, NULL);
    return;
  }
  ms_error_set(run->err, (ms_code)trouble->code, "%s", trouble->message);
  ms_collect_fail(session, member->number, UINT32_MAX, 0);
}

void ms_replace_resume(ms_session *session) {
  ms_run *run = session->run;
  for (uint32_t i = 0; i < session->schedule->workers && !run->failed; i++) {
    ms_worker_handle *member = &session->members[i];
    ms_error trouble = {0};
    if (member->part != MS_PART_AWAITED) continue;
    if (member->up) {
      if (ms_load_resume(session, member, run, &trouble) != 0) give_up(session, member, &trouble);
    } else if (session->road->now() > member->due) {
      ms_error_set(&trouble, MS_WRK,
                   "worker %u died and its replacement (pid %ld) did not come up in %d s",
                   member->number + 1, member->pid, UP_WAIT / 1000);
      give_up(session, member, &trouble);
    }
  }
}
