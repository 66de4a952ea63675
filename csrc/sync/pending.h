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

#include "base/api.h"
#include "base/error.h"

/* Room for the runs of so many elements, in bytes: behind each head there is an element, and behind
 * each run but the last so many zeros that the next head takes no more than they would. */
#define MS_PENDING_ROOM(count) (8 * (size_t)(count) + 16)

/* Writes the runs of the non-zero elements of pending[0 .. count) into `out`, which has
 * MS_PENDING_ROOM, and makes the vector zero again. Returns how many bytes they take. */
MS_API size_t ms_pending_take(double *pending, int64_t count, char *out);

/* Adds runs to sum[0 .. count). MS_BUG for bytes that are no runs of a vector of
 * `count` elements; then some of them may have been added. */
MS_API int ms_pending_add(double *sum, int64_t count, const char *bytes, size_t size,
                          ms_error *err);

/* Lists the non-zero elements of runs in their order: `at`, which of 0 .. count - 1 each is, and
 * its `value`; both have room for size / 8 of them. Returns how many there are, or -1 as above. */
MS_API int64_t ms_pending_list(const char *bytes, size_t size, int64_t count, int64_t *at,
                               double *value, ms_error *err);

#endif
