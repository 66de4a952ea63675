/* SPDX-License-Identifier: MIT
 *
 * What a worker's blocks leave for the driver: on the shelf, in frames, or with DONE. One
 * thread, the worker's. */
#ifndef MS_WORKER_WORKER_REPORT_H
#define MS_WORKER_WORKER_REPORT_H

#include "worker/worker_state.h"

/* Makes sure that the report of the last finished block outlives this process; text that the block
 * has printed is sent. */
int ms_worker_report_keep(ms_worker *worker, ms_error *err);

/* Sends the rest of the report with DONE. The shelf is the driver's from then on, and so is the
 * slot. */
int ms_worker_report_done(ms_worker *worker, ms_frame done, ms_error *err);

#endif
