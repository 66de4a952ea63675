/* SPDX-License-Identifier: MIT
 *
 * Meetings: all workers of a job wait for each other in the midst of their blocks. One thread,
 * the worker's. */
#ifndef MS_WORKER_MEETING_H
#define MS_WORKER_MEETING_H

#include "worker/worker_state.h"

/* To how many meetings of the job a worker has come. */
uint32_t ms_meeting_count(const ms_worker *worker, uint32_t number);

/* Whether all workers of the job can be in their blocks at once, and see where the others are. */
bool ms_meeting_possible(const ms_worker *worker);

#endif
