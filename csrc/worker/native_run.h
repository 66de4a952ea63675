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
#include "worker/worker.h"

/* Where a block lies along one axis of the grid. */
typedef struct ms_run_axis {
  int32_t at; /* of its two bounds among the kernel's, its first one's index */
  int32_t unused;
  int64_t ranges;
  const int64_t *bounds; /* `ranges` + 1: range r is bounds[r] .. bounds[r+1] - step; or NULL: */
  int64_t first, step;   /* range r is the value first + r step alone */
} ms_run_axis;

typedef struct MS_API_TYPE ms_native_run {
  ms_native_block *entry;
  const ms_native_slot *slots;
  ms_native_slot *results;
  ms_native_fault *fault;
  int64_t *bounds;          /* the kernel's; those of dimensions without an axis are there */
  const int64_t *starts;    /* entries: block b has starts[b] .. starts[b+1]-1, from 0; or NULL */
  const ms_run_axis *axes;  /* else: in the order of the grid, the last varies fastest */
  const void *result;       /* what a block leaves, after it ran */
  int64_t axis_count, size; /* bytes of the result */
} ms_native_run;

/* Runs blocks until the job is over for this worker (0), a block reports a fault (1: the fault is
 * filled, the job goes on with ms_worker_fail), or the worker cannot go on (-1). */
int ms_native_run_blocks(ms_worker *worker, const ms_native_run *run, ms_error *err);

/* Puts the bounds of block `block` where the kernel takes them. */
void ms_native_run_place(const ms_native_run *run, uint32_t block);

#endif
