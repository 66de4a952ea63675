/* SPDX-License-Identifier: MIT
 *
 * Hand-overs between blocks of one job, from worker to worker, over a road (net/road.h). One
 * thread, the worker's. */
#ifndef MS_WORKER_HANDOVER_H
#define MS_WORKER_HANDOVER_H

#include "worker/worker_state.h"

/* Waits until `before` is finished, or come to; 0 also when the job ends otherwise: the caller sees
 * why. */
int ms_handover_await(ms_worker *worker, const ms_awaited *before, ms_error *err);

/* Takes one frame from another worker, if one is there: 1 taken, 0 none, -1 failed. */
int ms_handover_take(ms_worker *worker, ms_error *err);

/* True when `block` is known to be finished, and what it wrote has arrived. */
bool ms_handover_finished(const ms_worker *worker, uint32_t block);

/* Somebody told of `block` of another worker: it is finished, and so are those before it. */
void ms_handover_told(ms_worker *worker, uint32_t block);

/* Whether `block`'s predecessors are finished and what they hand over has arrived. */
bool ms_handover_ready(const ms_worker *worker, uint32_t block);

/* Waits until that is so; 0 also when the job ends otherwise. */
int ms_handover_wait(ms_worker *worker, uint32_t block, ms_error *err);

/* Tells the owners of `block`'s successors that it is finished, and hands over what travels. */
int ms_handover_send(ms_worker *worker, uint32_t block, ms_error *err);

/* How many of worker `number`'s blocks are known here to be finished. */
uint32_t ms_handover_progress(const ms_worker *worker, uint32_t number);

/* Sends what is held back of that. */
int ms_handover_flush(ms_worker *worker, ms_error *err);

#endif
