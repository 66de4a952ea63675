/* SPDX-License-Identifier: MIT
 *
 * What a worker tells the history (base/history.h) of its blocks. One thread, the worker's. */
#ifndef MS_WORKER_BLOCK_HISTORY_H
#define MS_WORKER_BLOCK_HISTORY_H

#include "worker/worker_state.h"

/* Tells the history that a block begins, with what it reads, that it has ended, and that it has
 * failed or is passed over. */
void ms_block_history_begin(ms_worker *worker, uint32_t block);
void ms_block_history_end(ms_worker *worker, uint32_t block);
void ms_block_history_leave(ms_worker *worker, uint32_t block);

#endif
