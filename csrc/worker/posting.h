/* SPDX-License-Identifier: MIT
 *
 * Posts: workers tell each other, in the midst of their blocks, what they have left in shared
 * memory. One thread, the worker's. */
#ifndef MS_WORKER_POSTING_H
#define MS_WORKER_POSTING_H

#include "worker/worker_state.h"

/* Whether it need not be waited for more posts than those of which `seen` was the number, modulo
 * 2^32. */
bool ms_posting_changed(const ms_worker *worker, uint32_t seen);

#endif
