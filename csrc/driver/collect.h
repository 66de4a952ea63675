/* SPDX-License-Identifier: MIT
 *
 * Collecting: a job from its first task to the last worker's DONE. */
#ifndef MS_DRIVER_COLLECT_H
#define MS_DRIVER_COLLECT_H

#include "driver/run.h"

/* Waits until nothing is expected of anyone in the job that is prepared. */
void ms_collect_all(ms_session *session);

/* One frame of `member` while the job is running. */
void ms_collect_frame(ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                      const char *payload);

/* The job fails, on `worker` in `block` (UINT32_MAX: on none in particular): the others are
 * cancelled and get `grace` ms. The first failure counts; the caller has filled run->err. */
void ms_collect_fail(ms_session *session, uint32_t worker, uint32_t block, uint32_t grace);

#endif
