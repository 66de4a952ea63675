/* SPDX-License-Identifier: MIT
 *
 * Draws of many iterations, for bodies that draw the same in each.
 *
 * The bits are those of draws.h: draw d of all iterations of a batch is made at once, so that the
 * loop over them reads memory, and has no state that it would wait for. This text stands in front
 * of every native kernel (kernel/native/prelude.h); c_draws.h says which ones have batches. */
#ifndef MS_KERNEL_EMIT_BATCH_H
#define MS_KERNEL_EMIT_BATCH_H

#include "kernel/emit/draws.h"
#include "kernel/emit/philox_lanes.h"

#define MS_BATCH 96 /* iterations: whole MS_LANES_COUNTERS */

typedef struct ms_batch {
  uint64_t key, high; /* of the loop */
  uint64_t low, step; /* of the first iteration that has not been drawn for, and between two */
} ms_batch;

static inline ms_batch ms_batch_new(const ms_draws *place) {
  return (ms_batch){.key = ms_draws_key(place), .high = (uint64_t)place->ordinal << 32};
}

/* Begins with the iteration of these indices: the last of them goes on by steps. */
static inline void ms_batch_begin(ms_batch *batch, int dims, const double *index, double step) {
  ms_draws place = {.draw = 0};
  for (int d = 0; d < dims; d++) place.index[d] = index[d];
  batch->low = ms_draws_mix(&place);
  place.index[dims - 1] += step;
  batch->step = ms_draws_mix(&place) - batch->low; /* mixing is linear */
}

/* Draw number `draw`, from 0, of the next `count` iterations: MS_BATCH numbers from 0 to 1, or as
 * many times 64 bits. */
static inline void ms_batch_draw(const ms_batch *batch, uint32_t draw, int64_t count, bool units,
                                 void *out) {
  ms_lanes_draw(batch->key, batch->low, batch->step, batch->high | draw, count, units, out);
}

/* So many iterations have been drawn for. */
static inline void ms_batch_advance(ms_batch *batch, int64_t count) {
  batch->low += (uint64_t)count * batch->step;
}

#endif
