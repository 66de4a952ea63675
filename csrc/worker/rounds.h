/* SPDX-License-Identifier: MIT
 *
 * Rounds from a worker's side: what its blocks wait for, and which versions they see. One
 * thread, the worker's. */
#ifndef MS_WORKER_ROUNDS_H
#define MS_WORKER_ROUNDS_H

#include "worker/worker_state.h"

/* Makes the gate of a job of rounds; MS_NET for sets that are none. */
int ms_rounds_prepare(ms_worker *worker, ms_error *err);

/* Who waits for a block of a job with a gate, in place of the schedule's edges: how many, and each
 * by number from 0. */
uint32_t ms_rounds_listeners(const ms_worker *worker, uint32_t block);
uint32_t ms_rounds_listener(const ms_worker *worker, uint32_t block, uint32_t number);

/* The end of blocks that `block` waits for, by number from 0; false: there are no more. One whose
 * count is 0 need not be waited for. */
bool ms_rounds_before(const ms_worker *worker, uint32_t block, uint32_t number, ms_awaited *end);

/* Where who is late may be left out: whether a block of a round need not wait any more, for nobody
 * or for few enough; and waits until that is so, or takes too long. 0 also when the job ends. */
bool ms_rounds_excuse(const ms_worker *worker);
bool ms_rounds_are_open(const ms_worker *worker, uint32_t block);
int ms_rounds_await(ms_worker *worker, uint32_t block, ms_error *err);

/* Whether worker `to` may read what range `range` makes. */
bool ms_rounds_reads(const ms_worker *worker, uint32_t to, uint32_t range);

/* Makes ready for `block`, which begins now: the versions that it sees. */
int ms_rounds_begin(ms_worker *worker, uint32_t block, ms_error *err);

/* Ends the job's gate. */
void ms_rounds_close(ms_worker *worker);

#endif
