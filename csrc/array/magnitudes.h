/* SPDX-License-Identifier: MIT
 *
 * Sums of the magnitudes of a row's elements, as norm(1) has them, in the order of the other sums.
 *
 * As rowwise.h, which comes before it, this text is compiled twice: as part of the core, and in
 * front of every native kernel. Pure functions. */
#ifndef MS_ARRAY_MAGNITUDES_H
#define MS_ARRAY_MAGNITUDES_H

#include "array/rowwise.h"

/* norm(1): magnitudes are put side by side, a chunk at a time, and summed as they would be there.
 */
static inline const float *ms_magnitudes_float(const float *x, int64_t stride, size_t count,
                                               float *room) {
  for (size_t k = 0; k < count; k++) room[k] = __builtin_fabsf(x[(int64_t)k * stride]);
  return room;
}

static inline const double *ms_magnitudes_double(const double *x, int64_t stride, size_t count,
                                                 double *room) {
  for (size_t k = 0; k < count; k++) room[k] = __builtin_fabs(x[(int64_t)k * stride]);
  return room;
}

static inline double ms_row_magnitudes_float(const float *x, int64_t stride, int64_t count) {
  float room[MS_REDUCE_CHUNK];
#define CHUNK(at, n) ms_sum_float(ms_magnitudes_float(x + (at)*stride, stride, n, room), n)
  MS_SUM_CHUNKS(CHUNK);
#undef CHUNK
}

static inline double ms_row_magnitudes_double(const double *x, int64_t stride, int64_t count) {
  double room[MS_REDUCE_CHUNK];
#define CHUNK(at, n) ms_sum_double(ms_magnitudes_double(x + (at)*stride, stride, n, room), n)
  MS_SUM_CHUNKS(CHUNK);
#undef CHUNK
}

#endif
