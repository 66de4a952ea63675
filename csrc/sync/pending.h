/* SPDX-License-Identifier: MIT
 *
 * Pending: what a block has put into a DistArray buffer, on its way to the array.
 *
 * A block accumulates into a private dense vector of doubles, one for each element of the array in
 * row-major order, all zero when the block begins. At its end the non-zero elements are taken out
 * as runs (two int64, its first element
 * from 0 and its length, then its elements); the driver merges the runs of all blocks, block by
 * block (Orion: Wei et al., EuroSys 2019, "DistArray Buffers"). An element that is zero counts as
 * not touched. Bytes are in the machine's order: they travel between processes of one session only.
 * No state. */
#ifndef MS_SYNC_PENDING_H
#define MS_SYNC_PENDING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "array/touched.h"
#include "base/api.h"
#include "base/error.h"

/* Room for the runs of so many elements, in bytes: behind each head there is an element, and behind
 * each run but the last so many zeros that the next head takes no more than they would. */
#define MS_PENDING_ROOM(count) (8 * (size_t)(count) + 16)

/* Writes the runs of the non-zero elements of pending[0 .. count) into `out`, which has
 * MS_PENDING_ROOM, and makes the vector zero again. Returns how many bytes they take. */
MS_API size_t ms_pending_take(double *pending, int64_t count, char *out);

/* The same where what may not be zero is marked (array/touched.h): nothing else is looked at, and
 * the marks are taken off. The bytes are those that ms_pending_take would write. */
size_t ms_pending_take_touched(double *pending, int64_t count, uint8_t *touched, char *out);

/* Makes the marked elements zero, and takes the marks off. */
void ms_pending_clear_touched(double *pending, int64_t count, uint8_t *touched);

/* What one block has left pending in a buffer, as runs of elements. */
typedef struct ms_pending_part {
  const char *bytes;
  size_t size;
} ms_pending_part;

/* A reader's place in a part; all zero at its beginning. */
typedef struct ms_pending_cursor {
  size_t behind;         /* byte behind the present run */
  int64_t first, length; /* what is left of that run; 0: nothing, and it ended before `first` */
} ms_pending_cursor;

/* Moves on to the next run of a part of a vector of `count` elements, if nothing is left of the
 * present one: 1 if there is something, 0 at the end, -1 with MS_BUG for bytes that are no runs of
 * such a vector, one behind the other. */
int ms_pending_next(const ms_pending_part *part, int64_t count, ms_pending_cursor *cursor,
                    ms_error *err);

/* Where element k of what is left of the present run stands, unaligned. */
static inline const char *ms_pending_bytes(const ms_pending_part *part,
                                           const ms_pending_cursor *cursor, int64_t k) {
  return part->bytes + cursor->behind - (size_t)(cursor->length - k) * sizeof(double);
}

/* That element. */
static inline double ms_pending_element(const ms_pending_part *part,
                                        const ms_pending_cursor *cursor, int64_t k) {
  double element;
  memcpy(&element, ms_pending_bytes(part, cursor, k), sizeof element);
  return element;
}

/* Passes over what is left of the present run before element `end`. */
void ms_pending_pass(ms_pending_cursor *cursor, int64_t end);

/* Adds what is left of the present run before element `end` to sum[0 .. count), and passes over
 * it. */
void ms_pending_add(const ms_pending_part *part, ms_pending_cursor *cursor, int64_t end,
                    double *sum);

#endif
