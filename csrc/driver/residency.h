/* SPDX-License-Identifier: MIT
 *
 * Residency: what a worker has of operands that stay with it from job to job: rows of cached ones,
 * elements on lists of served ones. What it lacks for a job is posted; see worker_handle.h. */
#ifndef MS_DRIVER_RESIDENCY_H
#define MS_DRIVER_RESIDENCY_H

#include <stdint.h>

#include "base/error.h"
#include "driver/session.h"

typedef struct ms_worker_handle ms_worker_handle;
typedef struct ms_run ms_run;

/* What a worker has of a cached or served operand. */
typedef struct ms_residency {
  uint64_t id, version, size;
  uint64_t segment; /* the driver's shared segment that it lies in; 0: none */
  uint64_t used;    /* the last job that used it */
  int64_t lo, hi;   /* these rows, */
  uint64_t list;    /* or the elements of the list with this copy's number; 0: rows */
} ms_residency;

/* Posts what a worker does not have yet of the rows of cached operand `number` that its blocks
 * need. */
int ms_residency_load(ms_session *session, ms_worker_handle *member, ms_run *run, uint32_t number,
                      ms_error *err);

/* Posts the elements on the worker's list of served operand `number` that it does not have yet, or
 * all of the operand if that is less. */
int ms_residency_serve(ms_session *session, ms_worker_handle *member, ms_run *run, uint32_t number,
                       ms_error *err);

/* Posts the elements on its list of written operand `number`, or all of the operand if that is
 * less: what it has of them from earlier jobs is old. */
int ms_residency_lend(ms_session *session, ms_worker_handle *member, ms_run *run, uint32_t number,
                      ms_error *err);

/* Posts the further parts of what is served, after all else and in the order of need. */
int ms_residency_serve_rest(ms_worker_handle *member, const ms_run *run, ms_error *err);

/* The job may do anything to the worker's copy of operand `id`: it counts as not there. */
void ms_residency_disown(ms_worker_handle *member, uint64_t id);

/* Lets go of operands and lists that jobs before number `now` have not used for long: their owner
 * may be gone. What had a segment to itself went with it; small pieces share one. */
void ms_residency_trim(ms_worker_handle *member, uint64_t now);

#endif
