/* SPDX-License-Identifier: MIT
 *
 * What a worker does with the driver's frames. One thread, the worker's. */
#ifndef MS_WORKER_WORKER_RECEIVE_H
#define MS_WORKER_WORKER_RECEIVE_H

#include "worker/worker_state.h"

/* Handles one frame of the driver. */
int ms_worker_receive(ms_worker *worker, const char *bytes, size_t size, ms_error *err);

#endif
