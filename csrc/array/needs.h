/* SPDX-License-Identifier: MIT
 *
 * Needs: which elements of an array each block of a loop will read.
 *
 * Lists of runs of the array's row-major sequence, a list for each block, filled block by block
 * from what the prefetch of a loop has marked (array/pending.h; Orion: Wei et al., EuroSys 2019,
 * "bulk prefetching"). The caller owns it and frees it; no thread but one uses it. */
#ifndef MS_ARRAY_NEEDS_H
#define MS_ARRAY_NEEDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/api.h"
#include "base/error.h"

/* `count` elements from element `first` (from 0) on. */
typedef struct ms_span {
  int64_t first, count;
} ms_span;

typedef struct ms_needs {
  uint64_t id; /* not 0, of these lists alone in this process */
  int64_t blocks, elements;
  int64_t filled;       /* blocks that have their lists */
  int64_t *start;       /* block b needs the runs start[b] .. start[b + 1] */
  ms_span *runs;        /* of a block: ascending and apart */
  int64_t run_capacity; /* that there is room for */
} ms_needs;

/* Empty lists for `blocks` blocks and an array of `elements`; NULL and MS_ARR when memory is out.
 */
MS_API ms_needs *ms_needs_new(int64_t blocks, int64_t elements, ms_error *err);

/* Adds the list of the next block: the elements that are not zero in what ms_pending_take gave.
 * MS_BUG for bytes that are no runs of such an array, or a block too many; MS_ARR when memory is
 * out; then the list stays as it was. */
MS_API int ms_needs_add(ms_needs *needs, const char *bytes, size_t size, ms_error *err);

/* Elements that block `block` needs. */
MS_API int64_t ms_needs_count(const ms_needs *needs, int64_t block);

MS_API void ms_needs_free(ms_needs *needs);

#endif
