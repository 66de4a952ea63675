/* SPDX-License-Identifier: MIT
 *
 * One job on a worker: how it begins, goes on from block to block, and ends. One thread, the
 * worker's. */
#ifndef MS_WORKER_WORKER_JOB_H
#define MS_WORKER_WORKER_JOB_H

#include "worker/worker_state.h"

/* Makes a job of the task that has come in; tells the driver if it cannot. */
int ms_worker_job_begin(ms_worker *worker, ms_error *err);

/* Sends DONE with what is left of the report; of a failed job only printed text. */
int ms_worker_job_end(ms_worker *worker, ms_error *err);

/* The block at the present position is over: the next one's turn. */
void ms_worker_job_advance(ms_worker *worker);

/* Waits until the driver's window has room; false when the job is cancelled or the driver gone. */
bool ms_worker_job_room(ms_worker *worker, ms_error *err);

/* True when the job is to stop at the next block end. */
bool ms_worker_job_cancelled(const ms_worker *worker);

#endif
