/* SPDX-License-Identifier: MIT
 *
 * Session: the driver's worker processes, and the running of jobs on them.
 *
 * A session belongs to the thread that started it. A forked child of the driver holds a copy that
 * it can neither use nor harm: every call looks at the process id first. Nothing of a session
 * outlives the driver (see exit_guard.h); sessions that were not stopped are stopped at exit. */
#ifndef MS_DRIVER_SESSION_H
#define MS_DRIVER_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "job/operand.h"
#include "job/operands.h"
#include "job/report.h"
#include "job/task.h"
#include "job/undo.h"
#include "plan/schedule.h"

typedef struct ms_session ms_session;

typedef struct ms_session_config {
  uint32_t workers;           /* 1 .. MS_MOST_WORKERS */
  bool tcp;                   /* loopback TCP with CURVE; else ipc:// in a private directory */
  bool shared;                /* arrays are in shared memory; else they travel by value */
  const char *const *command; /* what a worker is: program and arguments, NULL at the end */
} ms_session_config;

/* Starts the workers and waits until all have said hello. MS_OPT, MS_WRK, MS_NET. */
ms_session *ms_session_start(const ms_session_config *config, ms_error *err);

/* Ends the workers within 2 s, removes the session's files, and nulls the caller's pointer. */
void ms_session_stop(ms_session **session);

/* How many workers it has. */
uint32_t ms_session_workers(const ms_session *session);

/* True when all are on one host, hand over through shared memory, and speak over lanes. */
bool ms_session_has_lanes(const ms_session *session);

/* True when arrays are in shared memory; else they travel by value. */
bool ms_session_is_shared(const ms_session *session);

/* Process id of a worker, 0 while it is being replaced. */
long ms_session_pid(const ms_session *session, uint32_t worker);

/* The session's private directory, "" when it needs none. */
const char *ms_session_directory(const ms_session *session);

/* Where the session listens. */
const char *ms_session_address(const ms_session *session);

/* Jobs run so far. */
uint64_t ms_session_jobs(const ms_session *session);

/* The memory `id` is no more: workers that hold a copy free it. */
void ms_session_forget(ms_session *session, uint64_t id);

/* What a wait without progress looks like from outside. */
typedef struct ms_progress {
  double seconds; /* since a block was last finished */
  uint32_t worker, block;
} ms_progress;

typedef struct ms_job {
  const char *key; /* names the kernel; equal keys mean equal kernel bytes */
  size_t key_size;
  const void *kernel;
  size_t kernel_size;
  const void *run; /* what the kernel needs beside its memory */
  size_t run_size;
  const ms_plan *plan; /* that the loop's grid, bounds and loads are of; NULL: they are given */
  ms_grid grid;
  const uint64_t *loads; /* of each range of the space axis; NULL: all blocks are alike */
  uint32_t workers;      /* at most so many take part; 0: all */
  ms_range_starts bounds;
  const ms_job_operand *operands;
  uint32_t operand_count;
  uint32_t buffers; /* that blocks may put something into */
  ms_task_rounds rounds;
  bool transaction; /* of a failed job nothing remains; a job whose worker died runs again */
  /* A transaction whose written operands no block reads, and whose blocks cannot fail, has no log:
   * an interrupt waits for its end (for 1 s), and if it fails, as when a block ends two workers,
   * they are lost. Where memory is shared. */
  bool unlogged;
  ms_undo *fold; /* gets the log of a job that ends (ms_undo_fold); NULL: nobody needs it */
  /* Called whenever `patience` seconds (0: 10) went by without a finished block. May be NULL. */
  double patience;
  void (*stalled)(void *context, const ms_progress *progress);
  /* Called about once a second with how many blocks are finished, of how many. May be NULL. */
  void (*advanced)(void *context, uint64_t finished, uint64_t blocks);
  void *context;
} ms_job;

/* Operand number `number` of a job, with how it moves in this job's plan. */
ms_operand ms_job_operand_of(const ms_job *job, uint32_t number);

typedef struct ms_share {
  uint64_t busy, waited; /* ns */
  uint64_t moved;        /* bytes that the worker sent */
  uint64_t blocks;
  uint64_t began; /* on the clock, ns, when its first block began; 0: it ran none */
} ms_share;

/* A walk through one worker's report. */
typedef struct ms_outcome_place {
  size_t at;
  ms_record record;  /* that was read last */
  uint32_t position; /* of its block in the plan; UINT32_MAX: the end */
} ms_outcome_place;

/* What a job leaves. Everything belongs to the outcome until ms_outcome_free. */
typedef struct ms_outcome {
  uint32_t worker_count, buffer_count;
  ms_share *shares; /* for each worker */
  ms_text *reports; /* for each worker: what its blocks have left, in the plan's order */
  uint32_t results; /* blocks that gave one; */
  uint64_t each;    /* bytes of each result; UINT64_MAX: they differ */
  bool complete;    /* all blocks gave one */
  const ms_schedule
      *schedule; /* the session's, until its next job; NULL: all is in the first report */
  ms_outcome_place *places; /* for each worker; */
  uint32_t *heap, left;     /* workers by position, the least first: those with more to read; */
  uint32_t least, most;     /* records of these kinds */
  uint64_t *spent;          /* ns in blocks of each range of the space axis; NULL of a short job */
  uint32_t range_count;
  ms_text printed;  /* what blocks printed, in plan order; also of a failed job */
  ms_text notices;  /* a line for each thing that users may want to know */
  uint64_t moved;   /* bytes of arrays that the driver sent */
  uint32_t deaths;  /* of workers while the job ran */
  uint32_t redone;  /* blocks that were undone and run again alone */
  uint32_t repeats; /* times that all blocks were */
  bool interrupted; /* of one without a log: it was, and went on to its end */
  /* Only of a failed job: */
  ms_text error;   /* the body's error, as the worker gave it (err->code is MS_BDY) */
  uint32_t worker; /* who failed; UINT32_MAX: nobody in particular */
  uint32_t block;  /* the block that it was running; UINT32_MAX: none */
  long pid;        /* of a worker that died */
  int signal;      /* that killed it */
  bool repeated;   /* `block` was running when each of two workers died */
  bool lost;       /* the arrays hold what the job left behind; else they are as before */
} ms_outcome;

/* Runs one job. On failure no worker is still running it. Of a transaction nothing remains then,
 * and one whose worker died was run again before, unless the same block ended two workers. MS_BDY
 * (outcome->error), MS_WRK, MS_INT, MS_NET, MS_OPT, MS_ARR, MS_DEP. The outcome is to be freed in
 * any case. */
int ms_session_run(ms_session *session, const ms_job *job, ms_outcome *outcome, ms_error *err);

/* Begins a walk through what the blocks of a job that succeeded have left: records of the kinds
 * least .. most, in the order of the plan; good until the session's next job. Then the next record,
 * and false at the end. */
void ms_outcome_rewind(ms_outcome *outcome, uint32_t least, uint32_t most);
bool ms_outcome_next(ms_outcome *outcome, ms_record *record);

/* Frees all that belongs to an outcome. */
void ms_outcome_free(ms_outcome *outcome);

#endif
