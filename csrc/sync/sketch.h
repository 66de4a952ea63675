/* SPDX-License-Identifier: MIT
 *
 * Sketch: signed changes of many elements in a table of depth x width numbers.
 *
 * A count sketch (Charikar, Chen, Farach-Colton, 2002): each row gives an element a cell and a
 * sign; what is added to the element is added to that cell with the sign, and the median over the
 * rows of sign times cell estimates what was added. Sketches of equal shape and seed add up cell by
 * cell. Its ledger holds by row: a row's sum is that of the signed changes that were added.
 *
 * Takes depth * width * 8 bytes and a few words. One thread; the caller owns it. */
#ifndef MS_SYNC_SKETCH_H
#define MS_SYNC_SKETCH_H

#include <stdint.h>

#include "base/api.h"
#include "base/error.h"

#define MS_SKETCH_DEPTH 32u /* at most */

typedef struct MS_API_TYPE ms_sketch {
  uint32_t width, depth;
  uint64_t seed;
  double *cells; /* row-major, depth x width */
} ms_sketch;

/* An empty sketch. NULL: MS_OPT for a width or depth of 0 or beyond 2^31 cells, MS_ARR. */
MS_API ms_sketch *ms_sketch_new(uint32_t width, uint32_t depth, uint64_t seed, ms_error *err);
MS_API void ms_sketch_free(ms_sketch *sketch);

/* Makes it the sketch of no change: all cells 0. */
MS_API void ms_sketch_clear(ms_sketch *sketch);

/* Adds change[0 .. count), elements from 0. */
MS_API void ms_sketch_add(ms_sketch *sketch, const double *change, int64_t count);

/* Fills estimate[0 .. count) with what the sketch tells of each element. */
MS_API void ms_sketch_estimate(const ms_sketch *sketch, double *estimate, int64_t count);

/* Bytes that the cells take. */
MS_API double ms_sketch_bytes(const ms_sketch *sketch);

#endif
