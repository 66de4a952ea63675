/* SPDX-License-Identifier: MIT
 *
 * Failures from a worker's side: what it tells of them, and which blocks are run all the same.
 * One thread, the worker's. */
#ifndef MS_WORKER_WORKER_FAILURE_H
#define MS_WORKER_WORKER_FAILURE_H

#include "worker/worker_state.h"

/* The job ends for this worker, because of an error of the core's. */
int ms_worker_failure_stop(ms_worker *worker, ms_code code, const char *text, ms_error *err);

/* The same, because of `trouble`; and with it the job's last frames. */
int ms_worker_failure_give_up(ms_worker *worker, ms_error *trouble, ms_error *err);

/* The last turn whose blocks are to be run; UINT32_MAX: all are. */
uint32_t ms_worker_failure_last_turn(const ms_worker *worker);

/* Whether a block has to be run although another one has failed, if one has. */
bool ms_worker_failure_needs(ms_worker *worker, uint32_t block);

/* The block before the present position is over: tells everybody. */
int ms_worker_failure_publish(ms_worker *worker, ms_error *err);

#endif
