/* SPDX-License-Identifier: MIT
 *
 * Replacement: a worker that dies in the middle of a job is replaced, and the other process goes on
 * at the same place in the plan, while the others run. */
#ifndef MS_DRIVER_REPLACE_H
#define MS_DRIVER_REPLACE_H

#include "driver/run.h"

/* A worker has ended, or cannot be talked to (`trouble` says why): it is buried; a job that needs
 * it goes on with another process, or fails. */
void ms_replace_dead(ms_session *session, ms_worker_handle *member, const ms_error *trouble);

/* Tells replacements that are up of the job; fails it when one does not come up. */
void ms_replace_resume(ms_session *session);

#endif
