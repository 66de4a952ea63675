/* SPDX-License-Identifier: MIT
 *
 * Reductions: see reduce.h. Four registers of the narrowest vector unit hold the partial sums:
 * partial sum k is lane k mod W of register k / W (W = 4 floats or 2 doubles), so the order does
 * not depend on the machine, and every machine keeps them in registers. Elements that are missing
 * at the end add nothing: a partial sum is never -0, because all start at 0. */
#include "array/reduce.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define REGISTERS    4
#define FLOAT_WIDTH  4
#define DOUBLE_WIDTH 2
#define FLOAT_LANES  (REGISTERS * FLOAT_WIDTH)
#define DOUBLE_LANES (REGISTERS * DOUBLE_WIDTH)

typedef float floats __attribute__((vector_size(FLOAT_WIDTH * sizeof(float))));
typedef double doubles __attribute__((vector_size(DOUBLE_WIDTH * sizeof(double))));

static inline floats load_floats(const float *x) {
  floats lanes;
  memcpy(&lanes, x, sizeof lanes);
  return lanes;
}

static inline doubles load_doubles(const double *x) {
  doubles lanes;
  memcpy(&lanes, x, sizeof lanes);
  return lanes;
}

/* The last elements, fewer than a register holds. */
static inline floats load_last_floats(const float *x, size_t count) {
  return (floats){count > 0 ? x[0] : 0, count > 1 ? x[1] : 0, count > 2 ? x[2] : 0, 0};
}

static inline doubles load_last_double(const double *x, size_t count) {
  return (doubles){count > 0 ? x[0] : 0, 0};
}

static inline float add_floats(floats s0, floats s1, floats s2, floats s3) {
  s0 = (s0 + s2) + (s1 + s3);
  return (s0[0] + s0[2]) + (s0[1] + s0[3]);
}

static inline double add_doubles(doubles s0, doubles s1, doubles s2, doubles s3) {
  s0 = (s0 + s2) + (s1 + s3);
  return s0[0] + s0[1];
}

/* The body of the four functions below: TERM(i) gives a register of terms from element i on,
 * LAST(i, n) one of the n < WIDTH last terms. */
#define REDUCE(vector, WIDTH, TERM, LAST, ADD)                           \
  do {                                                                   \
    vector s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};                       \
    size_t i = 0;                                                        \
    for (; i + REGISTERS * (WIDTH) <= count; i += REGISTERS * (WIDTH)) { \
      s0 += TERM(i);                                                     \
      s1 += TERM(i + (WIDTH));                                           \
      s2 += TERM(i + 2 * (WIDTH));                                       \
      s3 += TERM(i + 3 * (WIDTH));                                       \
    }                                                                    \
    size_t whole = (count - i) / (WIDTH), last = i + whole * (WIDTH);    \
    if (whole > 0) s0 += TERM(i);                                        \
    if (whole > 1) s1 += TERM(i + (WIDTH));                              \
    if (whole > 2) s2 += TERM(i + 2 * (WIDTH));                          \
    if (last < count) {                                                  \
      vector terms = LAST(last, count - last);                           \
      if (whole == 0) s0 += terms;                                       \
      if (whole == 1) s1 += terms;                                       \
      if (whole == 2) s2 += terms;                                       \
      if (whole == 3) s3 += terms;                                       \
    }                                                                    \
    return ADD(s0, s1, s2, s3);                                          \
  } while (0)

float ms_sum_float(const float *x, size_t count) {
#define TERM(at)        load_floats(x + (at))
#define LAST(at, count) load_last_floats(x + (at), count)
  REDUCE(floats, FLOAT_WIDTH, TERM, LAST, add_floats);
#undef TERM
#undef LAST
}

double ms_sum_double(const double *x, size_t count) {
#define TERM(at)        load_doubles(x + (at))
#define LAST(at, count) load_last_double(x + (at), count)
  REDUCE(doubles, DOUBLE_WIDTH, TERM, LAST, add_doubles);
#undef TERM
#undef LAST
}

float ms_dot_float(const float *x, const float *y, size_t count) {
#define TERM(at)        load_floats(x + (at)) * load_floats(y + (at))
#define LAST(at, count) load_last_floats(x + (at), count) * load_last_floats(y + (at), count)
  REDUCE(floats, FLOAT_WIDTH, TERM, LAST, add_floats);
#undef TERM
#undef LAST
}

double ms_dot_double(const double *x, const double *y, size_t count) {
#define TERM(at)        load_doubles(x + (at)) * load_doubles(y + (at))
#define LAST(at, count) load_last_double(x + (at), count) * load_last_double(y + (at), count)
  REDUCE(doubles, DOUBLE_WIDTH, TERM, LAST, add_doubles);
#undef TERM
#undef LAST
}

/* Elements of one chunk as they are: where they lie, or gathered into `room`. */
static const void *native_chunk(const ms_view *x, int64_t first, size_t count, void *room) {
  const void *direct = ms_view_direct(x, first, (int64_t)count);
  if (direct != NULL) return direct;
  ms_view_gather(x, first, (int64_t)count, room);
  return room;
}

typedef union room {
  float floats[MS_REDUCE_CHUNK];
  double doubles[MS_REDUCE_CHUNK];
} room;

/* Elements of one chunk as doubles; NULL with MS_ARR for an int64 beyond 2^53. */
static const double *wide_chunk(const ms_view *x, int64_t first, size_t count, room *native,
                                room *wide, ms_error *err) {
  const void *elements = native_chunk(x, first, count, native);
  if (x->type == MS_DOUBLE) return elements;
  if (x->ops->widen(elements, wide->doubles, count) == count) return wide->doubles;
  ms_error_set(err, MS_ARR, "an element is beyond 2^53 and no exact number");
  return NULL;
}

static size_t chunk_size(int64_t first, int64_t count) {
  return count - first < MS_REDUCE_CHUNK ? (size_t)(count - first) : MS_REDUCE_CHUNK;
}

int ms_view_sum(const ms_view *x, double *sum, ms_error *err) {
  room native, wide;
  double total = 0;
  for (int64_t first = 0; first < x->count; first += MS_REDUCE_CHUNK) {
    size_t n = chunk_size(first, x->count);
    if (x->type == MS_FLOAT) {
      total += (double)ms_sum_float(native_chunk(x, first, n, &native), n);
      continue;
    }
    const double *elements = wide_chunk(x, first, n, &native, &wide, err);
    if (elements == NULL) return -1;
    total += ms_sum_double(elements, n);
  }
  *sum = total;
  return 0;
}

int ms_view_dot(const ms_view *x, const ms_view *y, double *dot, ms_error *err) {
  room native_x, native_y, wide_x, wide_y;
  double total = 0;
  if (x->count != y->count) {
    return ms_error_set(err, MS_ARR, "dot of %" PRId64 " and %" PRId64 " elements", x->count,
                        y->count);
  }
  for (int64_t first = 0; first < x->count; first += MS_REDUCE_CHUNK) {
    size_t n = chunk_size(first, x->count);
    if (x->type == MS_FLOAT && y->type == MS_FLOAT) {
      total += (double)ms_dot_float(native_chunk(x, first, n, &native_x),
                                    native_chunk(y, first, n, &native_y), n);
      continue;
    }
    const double *a = wide_chunk(x, first, n, &native_x, &wide_x, err);
    const double *b = wide_chunk(y, first, n, &native_y, &wide_y, err);
    if (a == NULL || b == NULL) return -1;
    total += ms_dot_double(a, b, n);
  }
  *dot = total;
  return 0;
}

int ms_view_magnitudes(const ms_view *x, double *sum, ms_error *err) {
  room native, wide, magnitudes;
  double total = 0;
  for (int64_t first = 0; first < x->count; first += MS_REDUCE_CHUNK) {
    size_t n = chunk_size(first, x->count);
    if (x->type == MS_FLOAT) {
      const float *elements = native_chunk(x, first, n, &native);
      for (size_t i = 0; i < n; i++) magnitudes.floats[i] = fabsf(elements[i]);
      total += (double)ms_sum_float(magnitudes.floats, n);
      continue;
    }
    const double *elements = wide_chunk(x, first, n, &native, &wide, err);
    if (elements == NULL) return -1;
    for (size_t i = 0; i < n; i++) magnitudes.doubles[i] = fabs(elements[i]);
    total += ms_sum_double(magnitudes.doubles, n);
  }
  *sum = total;
  return 0;
}

int ms_view_extremes(const ms_view *x, double *least, double *most, ms_error *err) {
  room native, wide;
  if (x->count == 0) return ms_error_set(err, MS_ARR, "an empty array has no least element");
  double low = INFINITY, high = -INFINITY;
  for (int64_t first = 0; first < x->count; first += MS_REDUCE_CHUNK) {
    size_t n = chunk_size(first, x->count);
    const double *elements = wide_chunk(x, first, n, &native, &wide, err);
    if (elements == NULL) return -1;
    for (size_t i = 0; i < n; i++) {
      if (isnan(elements[i])) {
        *least = *most = elements[i];
        return 0;
      }
      if (elements[i] < low) low = elements[i];
      if (elements[i] > high) high = elements[i];
    }
  }
  *least = low;
  *most = high;
  return 0;
}

static double reduce(const ms_view *x, int reduction, ms_error *err) {
  double result = 0, other = 0;
  switch (reduction) {
    case MS_REDUCTION_SUM:
      ms_view_sum(x, &result, err);
      return result;
    case MS_REDUCTION_MAGNITUDES:
      ms_view_magnitudes(x, &result, err);
      return result;
    case MS_REDUCTION_SQUARES:
      ms_view_dot(x, x, &result, err);
      return result;
    case MS_REDUCTION_LEAST:
      ms_view_extremes(x, &result, &other, err);
      return result;
    case MS_REDUCTION_MOST:
      ms_view_extremes(x, &other, &result, err);
      return result;
    default:
      ms_error_set(err, MS_BUG, "no reduction has the number %d", reduction);
      return result;
  }
}

double ms_array_reduce(const ms_array *x, int reduction, ms_error *err) {
  if (ms_array_check(x, err) != 0) return 0;
  ms_view view = ms_view_of(x);
  return reduce(&view, reduction, err);
}

double ms_row_reduce(int type, void *x, int64_t stride, int64_t count, int reduction,
                     ms_error *err) {
  ms_view view = ms_view_row(type, x, stride, count);
  return reduce(&view, reduction, err);
}

double ms_array_dot(const ms_array *x, const ms_array *y, ms_error *err) {
  double result = 0;
  if (ms_array_check(x, err) != 0 || ms_array_check(y, err) != 0) return 0;
  if (x->sparse || y->sparse) {
    ms_error_set(err, MS_ARR, "dot is for dense arrays");
    return 0;
  }
  ms_view a = ms_view_of(x), b = ms_view_of(y);
  ms_view_dot(&a, &b, &result, err);
  return result;
}

double ms_row_dot(int x_type, void *x, int64_t x_stride, int y_type, void *y, int64_t y_stride,
                  int64_t count, ms_error *err) {
  if (x_stride == 1 && y_stride == 1 && count <= MS_REDUCE_CHUNK && x_type == y_type) {
    if (x_type == MS_FLOAT) return 0.0 + (double)ms_dot_float(x, y, (size_t)count);
    if (x_type == MS_DOUBLE) return 0.0 + ms_dot_double(x, y, (size_t)count);
  }
  double result = 0;
  ms_view a = ms_view_row(x_type, x, x_stride, count), b = ms_view_row(y_type, y, y_stride, count);
  ms_view_dot(&a, &b, &result, err);
  return result;
}
