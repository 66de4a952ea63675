/* SPDX-License-Identifier: MIT
 *
 * Random numbers of loop bodies: each is a pure function of the session's seed, the ordinal of the
 * executed loop, the iteration and the number of draws that the iteration has made before. So it
 * does not matter who runs an iteration, when, or how often.
 *
 * This text is compiled twice: as part of the core, and in front of every native kernel
 * (prelude.h), where ahead.h has the same numbers sooner. A record belongs to one thread. */
#ifndef MS_KERNEL_EMIT_DRAWS_H
#define MS_KERNEL_EMIT_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/normal.h"
#include "base/philox.h"
#include "kernel/emit/lua_bit.h"

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
  const void *normal; /* an ms_normal */
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

/* The present iteration's indices in one number. */
static inline uint64_t ms_draws_mix(const ms_draws *draws) {
  uint64_t mixed = 0;
  for (int d = 0; d < MS_DRAWS_DIMS; d++)
    mixed = (mixed + (uint64_t)(int64_t)draws->index[d]) * MS_DRAWS_MIX;
  return mixed;
}

static inline uint64_t ms_draws_key(const ms_draws *draws) {
  return (draws->seed + 1) * MS_DRAWS_KEY;
}

/* The next 64 random bits. */
static inline uint64_t ms_draws_next(ms_draws *draws) {
  if (draws->draw == 0) draws->iteration = ms_draws_mix(draws);
  uint64_t high = (uint64_t)draws->ordinal << 32 | draws->draw;
  ms_philox words = ms_philox_at(ms_draws_key(draws), draws->iteration, high);
  if (++draws->draw == 0) draws->index[MS_DRAWS_DIMS - 1] += 1;
  return ms_philox_half(&words, 0);
}

/* Uniform in [0, 1). */
static inline double ms_draw_unit(uint64_t bits) {
  return ms_philox_unit(bits);
}

/* Whether whole numbers can be drawn from [lo, hi]. */
static inline bool ms_is_draw_range(double lo, double hi) {
  return ms_fits_int64(lo) && ms_fits_int64(hi) && lo <= hi && hi - lo < 0x1p53;
}

/* A whole number from lo to hi of a uniform one, for which ms_is_draw_range holds; all equally
 * likely, but for what 53 bits cannot divide. */
static inline double ms_draw_whole(double unit, double lo, double hi) {
  return lo + __builtin_floor(unit * (hi - lo + 1));
}

/* Normal with mean 0 and deviation 1, by inversion. */
static inline double ms_draw_normal(uint64_t bits, const ms_draws *draws) {
  return ms_normal_of((const ms_normal *)draws->normal, bits);
}

#endif
