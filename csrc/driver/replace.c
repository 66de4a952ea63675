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
 * back to the job's beginning. */
#include <string.h>

#include "base/clock.h"
#include "driver/interrupt.h"
#include "driver/session_state.h"

#define UP_WAIT    10000 /* ms for a replacement to come up */
#define DEATH_WAIT 50    /* ms in which one that cannot be reached turns out to be dead */

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
  if (member->resumes && ++deaths->stillborn > MS_MOST_STILLBORN) return false;
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
  const char *rest = ms_block_checkpoint_rest(checkpoint, member->number, finished,
                                              report->length - member->reported, &size);
  if (rest == NULL) return false;
  ms_text_append(report, rest, size);
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
  uint64_t began = atomic_load(&session->page[member->number].began);
  session->run->outcome->shares[member->number] = (ms_share){.busy = atomic_load(&slot->busy),
                                                             .waited = atomic_load(&slot->waited),
                                                             .blocks = finished,
                                                             .began = began};
  ms_worker_handle_bury(member);
}

/* Starts the other process. */
static void start(ms_session *session, ms_worker_handle *member, uint32_t finished) {
  ms_run *run = session->run;
  ms_error trouble = {0};
  ms_block_checkpoint_inherit(&run->checkpoint, member->number);
  member->reported = run->outcome->reports[member->number].length;
  ms_worker_handle_bury(member);
  if (ms_worker_handle_spawn(session, member, &trouble) != 0) {
    ms_error_set(run->err, (ms_code)trouble.code, "%s", trouble.message);
    ms_run_fail(session, member->number, UINT32_MAX, 0);
    return;
  }
  member->working = member->resumes = true;
  member->from = (uint64_t)finished + 1;
  member->task_sent = 0;
  member->due = ms_clock_now() + (uint64_t)UP_WAIT * MS_MILLISECOND;
}

bool ms_replace(ms_session *session, ms_worker_handle *member, uint32_t block) {
  ms_run *run = session->run;
  uint32_t finished = ms_recover_finished(session, member->number);
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
    ms_status_page_ring(&session->page[w]);
  }
  return true;
}

/* A replacement cannot be told of the job. */
static void give_up(ms_session *session, ms_worker_handle *member, const ms_error *trouble) {
  ms_run *run = session->run;
  if (trouble->code != MS_BUG && ms_child_wait(&member->child, DEATH_WAIT)) {
    ms_session_lose(session, member, NULL);
    return;
  }
  ms_error_set(run->err, (ms_code)trouble->code, "%s", trouble->message);
  ms_run_fail(session, member->number, UINT32_MAX, 0);
}

void ms_replace_resume(ms_session *session) {
  ms_run *run = session->run;
  for (uint32_t i = 0; i < session->schedule->workers && !run->failed; i++) {
    ms_worker_handle *member = &session->members[i];
    ms_error trouble = {0};
    if (!member->working || !member->resumes) continue;
    if (member->up) {
      if (ms_load_resume(session, member, run, &trouble) != 0) give_up(session, member, &trouble);
    } else if (ms_clock_now() > member->due) {
      ms_error_set(&trouble, MS_WRK,
                   "worker %u died and its replacement (pid %ld) did not come up in %d s",
                   member->number + 1, member->pid, UP_WAIT / 1000);
      give_up(session, member, &trouble);
    }
  }
}
