/* SPDX-License-Identifier: MIT
 *
 * Staged runs: a loop with buffers, one job a stage, and after each what its blocks have put into
 * buffers is merged.
 *
 * A loop is a transaction over all of its stages: one log (job/loop_undo.h) has what the arrays
 * were when it began. A loop that needs none, because it has no buffers or is no transaction, is
 * just its jobs. The caller holds the session, which rules of merging may stop: each call says
 * which it is. */
#ifndef MS_DRIVER_STAGED_H
#define MS_DRIVER_STAGED_H

#include "driver/session.h"
#include "job/loop_undo.h"
#include "sync/merge.h"

/* What is merged after each stage, in this order: `parts` are filled in. */
typedef struct ms_staged_merge {
  ms_merge merge;
  uint32_t buffer; /* number among those that blocks put something into */
} ms_staged_merge;

typedef struct ms_staged {
  const ms_job *loop;
  ms_staged_merge *merges;
  uint32_t merge_count;
  uint32_t stage;     /* the present one */
  ms_job job;         /* its job */
  ms_outcome outcome; /* of the stage that has failed */
  ms_outcome total;   /* the outcomes of all stages that have ended, added up */
  uint64_t *loads;    /* of the present stage */
  ms_loop_undo undo;
  ms_segment_block room; /* the log's */
  bool logs;
} ms_staged;

/* Begins a loop. All that it is given stays the caller's, and stays; a staged run must not move.
 * MS_ARR, MS_WRK. To be ended in any case. */
int ms_staged_begin(ms_staged *run, ms_session *session, const ms_job *loop,
                    ms_staged_merge *merges, uint32_t merge_count, ms_error *err);

/* Runs the present stage; its outcome is run->outcome. Of a loop that fails nothing remains; if it
 * is no transaction, the outcome says whether something is lost. Errors as ms_session_run. */
int ms_staged_run(ms_staged *run, ms_session *session, ms_error *err);

/* Merges what the stage's blocks have put into buffers and goes on to the next stage. Failures as
 * above; errors as ms_merge_all. */
int ms_staged_advance(ms_staged *run, ms_error *err);

/* Puts back what stages that have ended have changed, or says in run->outcome that it is lost: what
 * the calls above do when they fail. */
void ms_staged_undo(ms_staged *run);

/* Whether all stages have ended; then run->total is the outcome. */
bool ms_staged_ended(const ms_staged *run);

/* Frees what the run has; `session` NULL: it was stopped. */
void ms_staged_end(ms_staged *run, ms_session *session);

#endif
