/* SPDX-License-Identifier: MIT
 *
 * Segments: anonymous shared memory (memfd) that arrays live in.
 *
 * A segment has no name in any file system, so nothing is left behind when processes die. Other
 * processes get its file descriptor over an inherited socketpair and map it. Small blocks share
 * pooled segments; a large block has a segment of its own. Used by one thread. */
#ifndef MS_ARRAY_SEGMENT_H
#define MS_ARRAY_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/api.h"
#include "base/error.h"

typedef struct ms_segment {
  uint64_t id; /* unique in the process that made it, never reused */
  int fd;      /* the memfd; owned by the segment */
  unsigned char *base;
  size_t size;     /* bytes mapped, a multiple of the page size */
  uint32_t blocks; /* blocks handed out and not yet released */
} ms_segment;

/* A piece of a segment. */
typedef struct ms_segment_block {
  ms_segment *segment;
  size_t offset, size;
} ms_segment_block;

/* Takes `size` zeroed bytes aligned to 64 (size 0 gives a valid, empty block). The size is checked
 * against MemAvailable and the cgroup's limit before anything is allocated; MS_ARR names both. */
int ms_segment_block_take(ms_segment_block *block, size_t size, ms_error *err);

/* Gives a block back; its segment is unmapped with its last block. The last ones of whole pages are
 * kept for a while, up to 64 MB, which counts as memory that can be taken. */
void ms_segment_block_release(ms_segment_block *block);

/* Gives back what is kept. */
void ms_segment_trim(void);

/* The address of a block in this process. */
static inline void *ms_segment_block_at(const ms_segment_block *block) {
  return block->segment->base + block->offset;
}

/* Called with the id of every segment that is unmapped, so that processes which mapped it can be
 * told. One listener at a time; NULL removes it. */
void ms_segment_listen(void (*gone)(uint64_t id, void *context), void *context);

/* Called when memory is short, before a block is refused: gives back what is only kept for later.
 * One listener at a time; NULL removes it. */
void ms_segment_reclaim(void (*give_back)(void *context), void *context);

/* Whether so many bytes could be taken, without taking any; MS_ARR as above if not. For what takes
 * many blocks, of which it would have to give the first ones back. Looking takes longer than small
 * blocks are worth: they always can. */
MS_API int ms_segment_check(size_t size, ms_error *err);

/* Bytes in blocks that are handed out, and the number of segments mapped. */
MS_API uint64_t ms_segment_bytes(void);
uint32_t ms_segment_count(void);

#endif
