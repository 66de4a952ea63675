/* SPDX-License-Identifier: MIT
 *
 * Native runs: a worker's blocks of a job by a compiled kernel, one after the other, without going
 * through Lua for each. Small blocks take about as long as that would.
 *
 * All memory belongs to the caller, who keeps it until the call returns. One thread. */
#ifndef MS_WORKER_NATIVE_RUN_H
#define MS_WORKER_NATIVE_RUN_H

#include "base/api.h"
#include "kernel/native/native.h"
#include "plan/layout.h"
#include "worker/worker.h"

typedef struct MS_API_TYPE ms_native_run {
  ms_native_block *entry;
  const ms_native_slot *slots;
  ms_native_slot *results;
  ms_native_fault *fault;
  int64_t *bounds; /* the kernel's */
  const ms_layout *layout;
  const void *result; /* what a block leaves, after it ran, */
  int64_t size;       /* in bytes */
} ms_native_run;

/* Runs blocks until the job is over for this worker (0), a block reports a fault (1: the fault is
 * filled, the job goes on with ms_worker_fail), or the worker cannot go on (-1). */
int ms_native_run_blocks(ms_worker *worker, const ms_native_run *run, ms_error *err);

#endif
