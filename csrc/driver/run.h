/* SPDX-License-Identifier: MIT
 *
 * Run: one job on its way, and what the driver knows of it. It belongs to ms_session_run; the files
 * that move it are load.c (what workers are sent), collect.c (what comes back), failure.c (a block
 * fails), replace.c (a worker dies), recover.c (the job is undone) and outcome.c (its results). */
#ifndef MS_DRIVER_RUN_H
#define MS_DRIVER_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/failure.h"
#include "driver/recover.h"
#include "driver/session.h"
#include "job/block_checkpoint.h"
#include "job/elements.h"
#include "job/undo.h"

/* It is open; then settling, once one of its blocks has failed (first.any), until nothing is left
 * that may fail before; then ending, once it has failed; and over when nothing is expected of
 * anyone. */
typedef struct ms_run {
  const ms_job *job;
  ms_outcome *outcome;
  ms_error *err;
  ms_operand *operands;  /* of the job, completed */
  ms_elements *elements; /* of the operands, in the driver */
  ms_text task, task_with_kernel;
  ms_undo undo;                   /* of a transaction */
  ms_block_checkpoint checkpoint; /* where workers can be replaced one by one; else without slots */
  ms_failure first;
  bool failed;       /* err is filled; only waiting for the rest */
  bool lost;         /* a worker died while the job was prepared: prepare again */
  uint64_t deadline; /* ns: workers still running then are killed; 0: none */
  uint64_t finished, progressed, warned; /* blocks; ns when last changed; ns when last told */
  uint64_t interrupted;                  /* ns when that was seen; 0: it was not */
  uint32_t stuck;                        /* looks in a row at which everyone waited */
  bool may_spin;                         /* one more wait may begin with looking */
  ms_deaths deaths;                      /* the last: most of it is seldom needed */
} ms_run;

#endif
