/* SPDX-License-Identifier: MIT
 *
 * History of jobs: what the driver tells the history (base/history.h) of a job: what its workers
 * are about to do, and how it has ended. */
#ifndef MS_DRIVER_JOB_HISTORY_H
#define MS_DRIVER_JOB_HISTORY_H

#include "driver/session_state.h"

/* Before any worker is told of the session's job. */
void ms_job_history_begin(const ms_session *session, const ms_job *job);

/* The job is over, or undone. */
void ms_job_history_end(const ms_session *session, bool failed);

#endif
