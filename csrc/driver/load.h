/* SPDX-License-Identifier: MIT
 *
 * Loading: what workers are sent of a job, its data and its task, as their windows allow. */
#ifndef MS_DRIVER_LOAD_H
#define MS_DRIVER_LOAD_H

#include "driver/run.h"

/* Prepares what takes part in the job. An error is run->err, MS_BUG to MS_WRK; run->lost says that
 * a worker died meanwhile. */
int ms_load_prepare(ms_session *session, ms_run *run);

/* Prepares a member that is awaited; it is told of the job with the next ms_load_send. */
int ms_load_resume(ms_session *session, ms_worker_handle *member, ms_run *run, ms_error *err);

/* Sends as much as windows allow. */
int ms_load_send(ms_session *session, ms_run *run);

/* Frees what was prepared. */
void ms_load_free(ms_session *session, ms_run *run);

#endif
