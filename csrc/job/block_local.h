/* SPDX-License-Identifier: MIT
 *
 * Block-local memory: what blocks have to themselves, in the process that runs them, beside the
 * arrays.
 *
 * Three kinds. Scratch space has one content when a block begins, whatever an earlier block left
 * there. A vector of pending elements, what a block puts into a DistArray buffer, is zero when a
 * block begins; at its end what it holds is taken into the report, one record for each buffer that
 * was used, and the vector is zero again. A replica's copy is that of the block's replica. So who
 * runs a block, and after which other, makes no difference to any.
 *
 * All memory belongs to the caller. No state; one thread at a time. */
#ifndef MS_JOB_BLOCK_LOCAL_H
#define MS_JOB_BLOCK_LOCAL_H

#include <stdint.h>

#include "base/api.h"
#include "base/text.h"

typedef struct ms_scratch_space {
  void *elements;
  int64_t count;
  uint64_t content; /* of each element, in its first `size` bytes */
  int32_t size;     /* of an element: 4 or 8 bytes */
  int32_t unused;
} ms_scratch_space;

typedef struct ms_pending_space {
  double *elements;
  int64_t count;
  int32_t marks; /* 1: taken as marks are (plan/needs.h), 0: as what is pending */
  int32_t unused;
  /* Marks of what is put there (array/touched.h); NULL: not all of it is marked. */
  uint8_t *touched;
} ms_pending_space;

/* A replica's copy of an array: when a block begins, what row number `block` of `rows` holds; what
 * it holds at the end is taken into the report, as it is. */
typedef struct ms_replica_space {
  void *elements;
  const char *rows;
  int64_t size;    /* of a row, in bytes */
  uint32_t count;  /* rows */
  uint32_t number; /* in the report: a buffer's */
} ms_replica_space;

/* Buffers are numbered in the order of `pending`, from 0. */
typedef struct ms_block_local {
  const ms_scratch_space *scratch;
  const ms_pending_space *pending;
  const ms_replica_space *replicas;
  uint32_t scratch_count, pending_count, replica_count;
} ms_block_local;

/* Before a block: gives scratch space its content, and replicas theirs. */
MS_API void ms_block_local_begin(const ms_block_local *memory, uint32_t block);

/* After a block: appends what it has put into buffers to the report, and makes the vectors zero,
 * also when memory for the report is out (report->failed). */
void ms_block_local_take(const ms_block_local *memory, uint32_t block, ms_text *report);

/* After a block that failed: makes the vectors zero. */
MS_API void ms_block_local_discard(const ms_block_local *memory);

#endif
