/* SPDX-License-Identifier: MIT
 *
 * Needs: which elements of an array each block of a loop will read.
 *
 * A block marks elements in a vector of doubles, one for each element of the array in row-major
 * order: what is not zero is needed. The marks travel as runs in few bytes, and the driver keeps a
 * list of runs for each block (bulk prefetching; Orion: Wei et al., EuroSys 2019). The caller owns
 * the lists and frees them; no thread but one uses them. */
#ifndef MS_PLAN_NEEDS_H
#define MS_PLAN_NEEDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/api.h"
#include "base/error.h"

/* Writes the runs of marks[0 .. count) into `out`, which has room for count + 1 bytes, and makes
 * the vector zero again; how many bytes they take. */
size_t ms_marks_take(double *marks, int64_t count, char *out);

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

/* Adds the list of the next block from what ms_marks_take gave. MS_BUG for bytes that are no runs
 * of such an array, or a block too many; MS_ARR when memory is out; then nothing is added. */
MS_API int ms_needs_add(ms_needs *needs, const char *bytes, size_t size, ms_error *err);

/* Frees them (NULL: nothing). */
MS_API void ms_needs_free(ms_needs *needs);

#endif
