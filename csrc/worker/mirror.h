/* SPDX-License-Identifier: MIT
 *
 * Mirror: this worker's copy of an exchanged operand (exchange.h), and what has to be known of it
 * to tell others what our blocks changed.
 *
 * Where blocks have lists of the elements that they hand over (plan/block_flow.h), the values of
 * these elements go in VALUES frames, without places: all workers have the lists. Else the elements
 * that our blocks may have written are compared with those that were last sent or applied, and
 * differences go in RUNS frames, with their places. Belongs to the worker's job; its vectors lie in
 * the job's arena. One thread. */
#ifndef MS_WORKER_MIRROR_H
#define MS_WORKER_MIRROR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "job/elements.h"
#include "job/listed.h"
#include "job/report.h"
#include "net/frame.h"
#include "worker/worker_road.h"

/* The elements of the operand that blocks may write: as they are `now`, and as they were `before`,
 * when changes were last sent or applied. Where there are lists, `now` is the whole operand, and
 * `handed` has the elements that each block hands over. */
typedef struct ms_mirror {
  uint32_t operand;
  ms_elements now;
  unsigned char *before; /* NULL: it has lists */
  bool *dirty;           /* pieces of MS_MIRROR_PIECE elements that have changed in the job */
  ms_element_lists handed;
  ms_listed_share *coming; /* by worker: how much has come of the values that it has sent last */
} ms_mirror;

#define MS_MIRROR_PIECE 512

/* Makes the mirror of its operand, which has its contents. MS_ARR for lists that are none; MS_WRK
 * when memory is out. */
int ms_mirror_open(ms_worker *worker, ms_mirror *mirror, ms_error *err);

/* Applies a VALUES or RUNS frame of worker `from`, whose last block is one of that worker's; -1: it
 * does not fit. */
int ms_mirror_apply(const ms_worker *worker, ms_mirror *mirror, uint32_t from,
                    const ms_frame *frame, const char *payload);

/* A walk over what some of our finished blocks changed. */
typedef struct ms_mirror_walk {
  uint32_t from, last; /* the first and the last one */
  ms_change_runs runs;
  ms_listed_share share;
} ms_mirror_walk;

/* What our finished blocks from `from` on have changed. */
ms_mirror_walk ms_mirror_changes(const ms_worker *worker, const ms_mirror *mirror, uint32_t from);

/* The next frame of a walk, whole but for the job's number, and its payload in `packed`, which has
 * room for MS_FRAME_PAYLOAD bytes: the payload's size; 0 at the end, -1 for a list that is none. */
int64_t ms_mirror_pack(ms_mirror *mirror, ms_mirror_walk *walk, ms_frame *frame, char *packed);

/* Sends the pieces that changed in the job to the driver, unless they go by lists. */
int ms_mirror_return(ms_worker *worker, const ms_mirror *mirror, ms_error *err);

#endif
