/* SPDX-License-Identifier: MIT
 *
 * What a worker's blocks have written, on its way to the driver where memory is not shared. One
 * thread, the worker's. */
#ifndef MS_WORKER_WORKER_RETURN_H
#define MS_WORKER_WORKER_RETURN_H

#include "worker/worker_state.h"

/* Keeps what scattered and exchanged operands look like before the first block. */
int ms_worker_return_remember(ms_worker *worker, ms_error *err);

/* Sends the elements of operands that are this worker's to give back. */
int ms_worker_return_operands(ms_worker *worker, ms_error *err);

#endif
