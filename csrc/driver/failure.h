/* SPDX-License-Identifier: MIT
 *
 * Failure: which of a job's failing blocks the user is told of, whichever fails first by the clock.
 *
 * It is the one whose turn comes first (ms_schedule_turn), and of blocks of one turn the one whose
 * worker gives the least order, bytes that tell where in the loop's order the body failed. The turn
 * of the first failure so far is the job's limit: blocks of later turns are passed over, those of
 * earlier ones and of the same one are run, and the job fails when none of them is left.
 *
 * A block that has failed counts as finished, and so does one that is passed over: whoever waits
 * for it goes on. What it would have computed is needed only by iterations that come after the
 * failing one, whose errors are never told. */
#ifndef MS_DRIVER_FAILURE_H
#define MS_DRIVER_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "driver/worker_handle.h"

/* The failure that counts, of those that blocks of a job have had so far. */
typedef struct ms_failure {
  bool any;
  uint32_t worker, block, turn;
  uint64_t code; /* MS_OK: of the body; else the core's, and `text` is a message */
  ms_text order, text;
  size_t order_size;
} ms_failure;

/* A worker tells of a failure. */
void ms_failure_take(ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                     const char *payload);

/* Fails the job if one of its blocks has failed and none that counts is left. */
void ms_failure_settle(ms_session *session);

/* Lets go of what the present attempt knows of failures. */
void ms_failure_forget(ms_run *run);

#endif
