/* SPDX-License-Identifier: MIT
 *
 * Status: a page of shared memory by which the driver sees what a worker is doing.
 *
 * It needs no message and survives the worker, so a dead worker's last block is known exactly. The
 * driver makes one for each worker and writes only `cancel`; the worker writes the rest. */
#ifndef MS_RUNTIME_STATUS_H
#define MS_RUNTIME_STATUS_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct ms_status {
  _Atomic uint64_t cancel;   /* number of the job to stop at the next block end; 0 none */
  _Atomic uint64_t running;  /* 1 + the block being run; 0 none */
  _Atomic uint64_t awaiting; /* 1 + the block whose end is waited for; 0 none */
  _Atomic uint64_t finished; /* blocks finished since the worker started */
  _Atomic uint64_t began;    /* CLOCK_MONOTONIC, ns, when the job's first block began */
} ms_status;

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "shared between processes: must not need a lock");

#endif
