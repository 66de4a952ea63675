/* SPDX-License-Identifier: MIT
 *
 * Worker processes: what the driver does to what stands behind a worker handle. On this host these
 * are processes that it starts (ms_worker_processes); a test has threads. */
#ifndef MS_DRIVER_WORKER_PROCESS_H
#define MS_DRIVER_WORKER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/worker_handle.h"

typedef struct ms_processes {
  /* Starts one for a member, with its link; it will say hello. MS_WRK, MS_NET: the caller ends what
   * there is of it. */
  int (*start)(ms_session *session, ms_worker_handle *member, ms_error *err);

  /* Gives it the descriptor of a segment. MS_WRK when it does not take it. */
  int (*share)(ms_worker_handle *member, const ms_segment *segment, ms_error *err);

  /* Tells it that the segment `id` is no more. */
  void (*unshare)(ms_worker_handle *member, uint64_t id);

  /* Whether it is seen to have gone, without waiting; its last frames may not have been taken. */
  bool (*gone)(const ms_worker_handle *member);

  /* Asks it to end, or with `now` kills it; it may be dead. Its channel stays open: one that closes
   * says that the driver is dying. */
  void (*stop)(ms_worker_handle *member, bool now);

  /* Whether it ends within so many ms; then member->child says how. */
  bool (*ended)(ms_worker_handle *member, int patience);

  /* Kills what is left of it, and closes what leads to it. */
  void (*end)(ms_worker_handle *member);
} ms_processes;

extern const ms_processes ms_worker_processes;

#endif
