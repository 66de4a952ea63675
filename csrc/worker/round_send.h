/* SPDX-License-Identifier: MIT
 *
 * Versions that blocks of rounds have made, on their way to the workers that read them, where
 * memory is not shared. One thread, the worker's. */
#ifndef MS_WORKER_ROUND_SEND_H
#define MS_WORKER_ROUND_SEND_H

#include "worker/worker_state.h"

/* Sends the versions that our finished blocks from `from` on have made to those who read them. */
int ms_round_send(ms_worker *worker, uint32_t from, ms_error *err);

#endif
