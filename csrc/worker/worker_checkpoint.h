/* SPDX-License-Identifier: MIT
 *
 * Checkpoints from a worker's side: images of the blocks that it begins, and going on where
 * another process has ended. One thread, the worker's. */
#ifndef MS_WORKER_WORKER_CHECKPOINT_H
#define MS_WORKER_WORKER_CHECKPOINT_H

#include "worker/worker_state.h"

/* Goes on where the process that this one replaces has ended, if it replaces one. */
int ms_worker_checkpoint_resume(ms_worker *worker, ms_error *err);

/* Keeps what is needed to undo the block that begins now, unless that takes too long for blocks
 * like this: then the whole loop is undone if the worker dies in it. */
void ms_worker_checkpoint_keep(ms_worker *worker, uint32_t block);

#endif
