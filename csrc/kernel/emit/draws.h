/* SPDX-License-Identifier: MIT
 *
 * Random numbers of loop bodies: each is a pure function of the session's seed, the ordinal of the
 * executed loop, the iteration and the number of draws that the iteration has made before. So it
 * does not matter who runs an iteration, when, or how often.
 *
 * This text is compiled twice: as part of the core, and in front of every native kernel
 * (prelude.h). A record belongs to one thread. */
#ifndef MS_KERNEL_EMIT_DRAWS_H
#define MS_KERNEL_EMIT_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/philox.h"
#include "kernel/emit/scalar.h"

#define MS_DRAWS_DIMS 8

/* Spreads seeds over the keys, away from those of random arrays. */
#define MS_DRAWS_KEY 0xD1B54A32D192ED03u
/* 2^64 over the golden ratio: different index values below 2^31 of one or two dimensions never give
 * one counter. */
#define MS_DRAWS_MIX 0x9E3779B97F4A7C15u

/* The present place. */
typedef struct ms_draws {
  uint64_t seed;
  uint64_t iteration;          /* `index` in one number, from the iteration's first draw on */
  double index[MS_DRAWS_DIMS]; /* whole numbers */
  uint32_t ordinal;            /* of the loop, from 1; 0 outside of loops */
  uint32_t draw;
} ms_draws;

/* Says which iteration begins, by all its `dims` index values. One with the indices of the last
 * (entries with equal subscripts) goes on with its numbers. */
static inline void ms_draws_begin(ms_draws *draws, int dims, const double *index) {
  bool same = true;
  for (int d = 0; d < dims; d++) {
    same = same && draws->index[d] == index[d];
    draws->index[d] = index[d];
  }
  if (!same) draws->draw = 0;
}

/* The next four random words. */
static inline ms_philox ms_draws_next(ms_draws *draws) {
  if (draws->draw == 0) {
    uint64_t mixed = 0;
    for (int d = 0; d < MS_DRAWS_DIMS; d++)
      mixed = (mixed + (uint64_t)(int64_t)draws->index[d]) * MS_DRAWS_MIX;
    draws->iteration = mixed;
  }
  uint64_t high = (uint64_t)draws->ordinal << 32 | draws->draw;
  ms_philox words = ms_philox_at((draws->seed + 1) * MS_DRAWS_KEY, draws->iteration, high);
  if (++draws->draw == 0) draws->index[MS_DRAWS_DIMS - 1] += 1;
  return words;
}

/* Uniform in [0, 1). */
static inline double ms_draw_unit(ms_draws *draws) {
  ms_philox words = ms_draws_next(draws);
  return ms_philox_unit(ms_philox_half(&words, 0));
}

/* Whether whole numbers can be drawn from [lo, hi]. */
static inline bool ms_is_draw_range(double lo, double hi) {
  return ms_fits_int64(lo) && ms_fits_int64(hi) && lo <= hi && hi - lo < 0x1p53;
}

/* A whole number from lo to hi, for which ms_is_draw_range holds; all equally likely, but for what
 * 53 bits cannot divide. */
static inline double ms_draw_whole(ms_draws *draws, double lo, double hi) {
  return lo + __builtin_floor(ms_draw_unit(draws) * (hi - lo + 1));
}

/* Normal with mean 0 and deviation 1, by Box and Muller's method. */
static inline double ms_draw_normal(ms_draws *draws) {
  ms_philox words = ms_draws_next(draws);
  /* 1 - u is in (0, 1]: its logarithm is finite. */
  double u = 1.0 - ms_philox_unit(ms_philox_half(&words, 0));
  double angle = 6.283185307179586476925286766559 * ms_philox_unit(ms_philox_half(&words, 1));
  return __builtin_sqrt(-2.0 * ms_libm_log(u)) * ms_libm_cos(angle);
}

#endif
