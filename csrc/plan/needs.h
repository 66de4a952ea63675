/* SPDX-License-Identifier: MIT
 *
 * Needs: which elements of an array each block of a loop will read, or may write.
 *
 * A block marks elements in a vector of doubles, one for each element of the array in row-major
 * order: what is not zero is needed. The marks travel as the bytes that the driver keeps as the
 * block's list (bulk prefetching; Orion: Wei et al., EuroSys 2019). Which ones it writes is known
 * otherwise: iterations have left their numbers there (depend/inspector.h). The caller owns the
 * lists and frees them; no thread but one uses them. */
#ifndef MS_PLAN_NEEDS_H
#define MS_PLAN_NEEDS_H

#include <stddef.h>
#include <stdint.h>

#include "array/touched.h"
#include "base/api.h"
#include "base/error.h"
#include "plan/element_lists.h"
#include "plan/layout.h"

/* Writes the runs of marks[0 .. count) into `out`, which has room for count + 1 bytes, and makes
 * the vector zero again; how many bytes they take. */
size_t ms_needs_take(double *marks, int64_t count, char *out);

/* The same where it is known what may not be zero (array/touched.h): nothing else is looked at, and
 * `touched` is zero again, too. */
size_t ms_needs_take_touched(double *marks, int64_t count, uint8_t *touched, char *out);

typedef struct ms_needs {
  uint64_t id;            /* not 0, of these lists alone in this process */
  ms_element_lists lists; /* in memory of their own, or moved */
  int64_t filled;         /* blocks that have their lists */
  void *head;             /* NULL: moved */
  char *bytes;
  size_t room; /* bytes there */
} ms_needs;

/* Empty lists for `blocks` blocks and an array of `elements`; NULL and MS_ARR when memory is out,
 * or the elements too many. */
MS_API ms_needs *ms_needs_new(int64_t blocks, int64_t elements, ms_error *err);

/* Adds the list of the next block from what ms_needs_take gave. MS_BUG for bytes that are no runs
 * of such an array, or a block too many; MS_ARR when memory is out; then nothing is added. */
MS_API int ms_needs_add(ms_needs *needs, const char *bytes, size_t size, ms_error *err);

/* Lists of the elements whose number, from 1, is that of an iteration of the block; 0: of none.
 * `numbers` has one for each of `elements`; iterations are numbered row-major over the extents of
 * the layout's dimensions. NULL where more than `most` elements have one, or blocks are no boxes of
 * the space; with MS_BUG for numbers that no iteration has, MS_ARR as above. */
MS_API ms_needs *ms_needs_of_numbers(const double *numbers, int64_t elements, int64_t most,
                                     const ms_layout *layout, ms_error *err);

/* Bytes of the lists, and moving them to memory that has room for these and is aligned to 8, and
 * which the lists must not outlive. All blocks have their lists. */
MS_API size_t ms_needs_size(const ms_needs *needs);
MS_API void ms_needs_move(ms_needs *needs, void *memory);

/* Frees them (NULL: nothing). */
MS_API void ms_needs_free(ms_needs *needs);

#endif
