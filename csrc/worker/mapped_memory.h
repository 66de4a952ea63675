/* SPDX-License-Identifier: MIT
 *
 * Mapped memory: what a worker has of the driver's arrays.
 *
 * Either mappings of the driver's segments, or, where nothing is shared, private copies: zero
 * pages of the array's full size that are only committed where they are touched, so one of which a
 * job needs some elements costs hardly more than these. A copy lives as
 * long as the jobs name it; those of cached operands until they are forgotten. One thread. */
#ifndef MS_WORKER_MAPPED_MEMORY_H
#define MS_WORKER_MAPPED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "job/elements.h"

typedef struct ms_mapped_memory_piece {
  uint64_t id;
  size_t size;
  unsigned char *base;
  unsigned char *pristine; /* copies: elements before the job, one after the other; NULL when not
                              asked for */
  size_t pristine_size;
  uint64_t job; /* copies: the last job that used it */
  bool keep;    /* copies: cached */
} ms_mapped_memory_piece;

typedef struct ms_mapped_memory {
  ms_mapped_memory_piece *segments, *copies;
  uint32_t segment_count, copy_count;
} ms_mapped_memory;

/* Maps a segment (closes `fd`), replacing an older one of the same id. */
int ms_mapped_memory_map(ms_mapped_memory *mapped, uint64_t id, uint64_t size, int fd,
                         ms_error *err);

/* Unmaps a segment; unknown ids are ignored. */
void ms_mapped_memory_unmap(ms_mapped_memory *mapped, uint64_t id);

/* A mapped segment, NULL when it is unknown or of another size. */
unsigned char *ms_mapped_memory_segment(const ms_mapped_memory *mapped, uint64_t id, uint64_t size);

/* The private copy of `size` bytes for `id`, made when there is none of that size. */
ms_mapped_memory_piece *ms_mapped_memory_copy(ms_mapped_memory *mapped, uint64_t id, size_t size,
                                              uint64_t job, bool keep, ms_error *err);

/* The copy of `id`, NULL when there is none. */
const ms_mapped_memory_piece *ms_mapped_memory_find(const ms_mapped_memory *mapped, uint64_t id);

/* Remembers what the elements of the copy are at present in `pristine`. */
int ms_mapped_memory_remember(ms_mapped_memory_piece *copy, const ms_elements *all, ms_error *err);

/* Frees the copy of `id` unless `job` (0: none) uses it. */
void ms_mapped_memory_forget(ms_mapped_memory *mapped, uint64_t id, uint64_t job);

/* Frees all copies that are neither kept nor used by `job`. */
void ms_mapped_memory_sweep(ms_mapped_memory *mapped, uint64_t job);

/* Unmaps everything. */
void ms_mapped_memory_release(ms_mapped_memory *mapped);

#endif
