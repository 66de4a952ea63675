/* SPDX-License-Identifier: MIT
 *
 * Recovery: a job that fails leaves the arrays as they were; one whose worker died and could not be
 * replaced alone (replace.c) runs again.
 *
 * Nobody works on the job any more when it is undone, and plans fix every bit of their results, so
 * running it again from the start gives what it would have given. Printed text and results of a
 * failed attempt were shown to nobody and go with it. Where memory is shared the workers log what
 * they are about to write; where it is not, the driver's arrays change only when elements return,
 * and the driver itself logs an array before the first of them. */
#include "driver/recover.h"

#include <stdlib.h>
#include <string.h>

#include "driver/interrupt.h"
#include "driver/session_state.h"

#define SMALL_LOG    ((size_t)4 << 20)  /* not worth giving back */
#define IDLE_FACTOR  8                  /* a log so much larger than needed ... */
#define IDLE_JOBS    64                 /* ... by so many jobs in a row is given back */
#define ROUNDED_LOG  ((size_t)64 << 20) /* up to here logs grow to powers of two */
#define SMALLEST_LOG ((size_t)4096)

/* What to ask for, so that loops that grow a little each time do not get a new log each time. */
static size_t rounded(size_t size) {
  if (size > ROUNDED_LOG) return size;
  size_t room = SMALLEST_LOG;
  while (room < size) room *= 2;
  return room;
}

int ms_recover_room(ms_segment_block *log, uint32_t *idle, size_t size, ms_error *err) {
  bool large = log->size > SMALL_LOG && log->size / IDLE_FACTOR > size;
  *idle = large ? *idle + 1 : 0;
  if (log->size >= size && *idle < IDLE_JOBS) return 0;
  *idle = 0;
  ms_segment_block_release(log);
  if (size == 0 || ms_segment_block_take(log, rounded(size), NULL) == 0) return 0;
  return ms_undo_room(log, size, err);
}

static int take_log(ms_session *session, size_t size, ms_error *err) {
  return ms_recover_room(&session->undo, &session->undo_idle, size, err);
}

/* Takes room for the log and, where there is enough, for slots. */
static int take_room(ms_session *session, ms_run *run) {
  ms_undo *undo = &run->undo;
  ms_block_checkpoint *checkpoint = &run->checkpoint;
  if (checkpoint->size > 0 && take_log(session, undo->size + checkpoint->size, NULL) == 0) return 0;
  checkpoint->size = 0;
  return take_log(session, undo->size, run->err);
}

int ms_recover_prepare(ms_session *session, ms_run *run) {
  const ms_job *job = run->job;
  ms_undo *undo = &run->undo;
  ms_block_checkpoint *checkpoint = &run->checkpoint;
  uint32_t workers = session->schedule->workers;
  if (job->transaction && ms_undo_divide(undo, &job->grid, &job->bounds, run->operands,
                                         job->operand_count, run->err) != 0) {
    return -1;
  }
  if (job->transaction && ms_session_has_lanes(session) &&
      ms_block_checkpoint_divide(checkpoint, undo, workers, run->err) != 0) {
    return -1;
  }
  if (take_room(session, run) != 0) return -1;
  if (undo->size + checkpoint->size == 0) return 0;
  unsigned char *memory = ms_segment_block_at(&session->undo);
  void **data = calloc((size_t)job->operand_count + 1, sizeof *data);
  if (data == NULL) return ms_error_memory(run->err, MS_WRK, "the log of a loop's stores");
  for (uint32_t i = 0; i < job->operand_count; i++) data[i] = job->operands[i].data;
  ms_undo_attach(undo, memory, data);
  ms_undo_clear(undo);
  free(data);
  ms_block_checkpoint_attach(checkpoint, memory + undo->size);
  for (uint32_t w = 0; checkpoint->size > 0 && w < workers; w++)
    ms_block_checkpoint_clear(checkpoint, w);
  return 0;
}

void ms_recover_undo(ms_run *run) {
  if (run->job->transaction) ms_undo_restore(&run->undo);
  run->outcome->lost = !run->job->transaction || run->job->unlogged;
}

/* ------------------------------------------------------------------------------- deaths */

uint32_t ms_recover_finished(const ms_session *session, uint32_t worker) {
  uint64_t progress = session->road->status(session, worker, MS_STATUS_PROGRESS);
  return ms_status_value(progress, session->jobs, 0);
}

/* Takes blocks that are finished off the list of suspects. */
static void clear_suspects(const ms_session *session, ms_deaths *deaths) {
  const ms_schedule *schedule = session->schedule;
  for (uint32_t s = deaths->suspect_count; s-- > 0;) {
    uint32_t block = deaths->suspects[s];
    uint32_t owner = ms_schedule_owner(schedule, block);
    if (ms_schedule_rank(schedule, block) >= ms_recover_finished(session, owner)) continue;
    deaths->suspects[s] = deaths->suspects[--deaths->suspect_count];
  }
}

void ms_recover_note(ms_session *session, const ms_worker_handle *member, uint32_t block) {
  ms_deaths *deaths = &session->run->deaths;
  clear_suspects(session, deaths);
  if (block == MS_NO_BLOCK || deaths->fresh_count == MS_MOST_REDOS) return;
  ms_death *death = &deaths->fresh[deaths->fresh_count++];
  *death = (ms_death){.worker = member->number,
                      .block = block,
                      .pid = member->pid,
                      .signal = ms_child_cause(&member->child)};
  ms_child_describe(&member->child, death->how, sizeof death->how);
}

static bool is_suspect(const ms_deaths *deaths, uint32_t block) {
  for (uint32_t s = 0; s < deaths->suspect_count; s++) {
    if (deaths->suspects[s] == block) return true;
  }
  return false;
}

bool ms_recover_suspects(ms_session *session, uint32_t block) {
  ms_deaths *deaths = &session->run->deaths;
  clear_suspects(session, deaths);
  return is_suspect(deaths, block);
}

static void suspect(ms_deaths *deaths, uint32_t block) {
  if (deaths->suspect_count < MS_MOST_REDOS) deaths->suspects[deaths->suspect_count++] = block;
}

void ms_recover_suspect(ms_session *session, uint32_t block) {
  suspect(&session->run->deaths, block);
}

/* Tells of a block of the present attempt that had ended a worker before, if there is one. */
static bool convict(ms_run *run) {
  ms_deaths *deaths = &run->deaths;
  ms_outcome *outcome = run->outcome;
  for (uint32_t f = 0; f < deaths->fresh_count; f++) {
    const ms_death *death = &deaths->fresh[f];
    if (!is_suspect(deaths, death->block)) continue;
    outcome->repeated = true;
    outcome->worker = death->worker;
    outcome->block = death->block;
    outcome->pid = death->pid;
    outcome->signal = death->signal;
    ms_error_clear(run->err);
    ms_error_set(run->err, MS_WRK, "worker %u (pid %ld) %s", death->worker + 1, death->pid,
                 death->how);
    return true;
  }
  for (uint32_t f = 0; f < deaths->fresh_count; f++) suspect(deaths, deaths->fresh[f].block);
  deaths->fresh_count = 0;
  return false;
}

static void reset_outcome(ms_outcome *outcome) {
  ms_outcome kept = *outcome;
  ms_outcome_free(outcome);
  *outcome = (ms_outcome){.worker = UINT32_MAX,
                          .block = UINT32_MAX,
                          .moved = kept.moved,
                          .deaths = kept.deaths,
                          .redone = kept.redone,
                          .repeats = kept.repeats + 1};
}

bool ms_recover_again(ms_session *session, ms_run *run) {
  ms_outcome *outcome = run->outcome;
  ms_deaths *deaths = &run->deaths;
  if (!run->job->transaction || run->err->code != MS_WRK || outcome->pid == 0) return false;
  clear_suspects(session, deaths);
  if (convict(run)) return false;
  if (ms_interrupt_seen()) {
    ms_error_clear(run->err);
    ms_error_set(run->err, MS_INT, "interrupted");
    return false;
  }
  if (deaths->redos == MS_MOST_REDOS) {
    ms_error last = *run->err;
    ms_error_clear(run->err);
    ms_error_set(run->err, MS_WRK, "workers died %d times while the loop ran, at last %s",
                 MS_MOST_REDOS + 1, last.message);
    return false;
  }
  deaths->redos++;
  ms_text_format(&session->notices, "%s and is replaced; the loop is undone and run again\n",
                 run->err->message);
  reset_outcome(outcome);
  ms_error_clear(run->err);
  run->failed = run->lost = false;
  run->deadline = run->finished = 0;
  run->stuck = 0;
  return true;
}
