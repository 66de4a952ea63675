/* SPDX-License-Identifier: MIT
 *
 * Random numbers of loop bodies for LuaJIT: see draws.h. */
#ifndef MS_KERNEL_EMIT_RANDOM_H
#define MS_KERNEL_EMIT_RANDOM_H

#include "base/api.h"
#include "kernel/emit/draws.h"

/* The loops that the driver has executed since the seed was set. */
typedef struct MS_API_TYPE ms_draws_loops {
  uint64_t seed;
  double executed;
} ms_draws_loops;

/* What `normal` of a record is to be: the polynomials of base/normal.h, constant data. */
MS_API const void *ms_random_normal_pieces(void);

/* Uniform in [0, 1). */
MS_API double ms_random_unit(ms_draws *draws);

/* A whole number from lo to hi; nan if there is none, or the limits are no whole numbers. */
MS_API double ms_random_whole(ms_draws *draws, double lo, double hi);

/* Normal with mean 0 and deviation 1. */
MS_API double ms_random_deviate(ms_draws *draws);

#endif
