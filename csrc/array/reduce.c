/* SPDX-License-Identifier: MIT
 *
 * Reductions: see reduce.h. Vector types of the compiler hold the partial sums; lane k of a vector
 * is partial sum k, so the order does not depend on the width of the machine's registers. */
#include "array/reduce.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define FLOAT_LANES  16
#define DOUBLE_LANES 8

typedef float floats __attribute__((vector_size(FLOAT_LANES * sizeof(float))));
typedef double doubles __attribute__((vector_size(DOUBLE_LANES * sizeof(double))));

static float add_floats(const floats *lanes) {
  float sums[FLOAT_LANES];
  memcpy(sums, lanes, sizeof sums);
  for (int half = FLOAT_LANES / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; k++) sums[k] += sums[k + half];
  }
  return sums[0];
}

static double add_doubles(const doubles *lanes) {
  double sums[DOUBLE_LANES];
  memcpy(sums, lanes, sizeof sums);
  for (int half = DOUBLE_LANES / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; k++) sums[k] += sums[k + half];
  }
  return sums[0];
}

/* Loads lanes from unaligned memory; of the last elements only `count`, the rest 0 (which
 * leaves a partial sum as it is: none is ever -0, because all start at 0). */
static void load_floats(floats *lanes, const float *x, size_t count) {
  *lanes = (floats){0};
  memcpy(lanes, x, (count < FLOAT_LANES ? count : FLOAT_LANES) * sizeof *x);
}

static void load_doubles(doubles *lanes, const double *x, size_t count) {
  *lanes = (doubles){0};
  memcpy(lanes, x, (count < DOUBLE_LANES ? count : DOUBLE_LANES) * sizeof *x);
}

float ms_sum_float(const float *x, size_t count) {
  floats sums = {0}, lanes;
  size_t i = 0;
  for (; i + FLOAT_LANES <= count; i += FLOAT_LANES) {
    memcpy(&lanes, x + i, sizeof lanes);
    sums += lanes;
  }
  if (i < count) {
    load_floats(&lanes, x + i, count - i);
    sums += lanes;
  }
  return add_floats(&sums);
}

double ms_sum_double(const double *x, size_t count) {
  doubles sums = {0}, lanes;
  size_t i = 0;
  for (; i + DOUBLE_LANES <= count; i += DOUBLE_LANES) {
    memcpy(&lanes, x + i, sizeof lanes);
    sums += lanes;
  }
  if (i < count) {
    load_doubles(&lanes, x + i, count - i);
    sums += lanes;
  }
  return add_doubles(&sums);
}

float ms_dot_float(const float *x, const float *y, size_t count) {
  floats sums = {0}, a, b;
  size_t i = 0;
  for (; i + FLOAT_LANES <= count; i += FLOAT_LANES) {
    memcpy(&a, x + i, sizeof a);
    memcpy(&b, y + i, sizeof b);
    sums += a * b;
  }
  if (i < count) {
    load_floats(&a, x + i, count - i);
    load_floats(&b, y + i, count - i);
    sums += a * b;
  }
  return add_floats(&sums);
}

double ms_dot_double(const double *x, const double *y, size_t count) {
  doubles sums = {0}, a, b;
  size_t i = 0;
  for (; i + DOUBLE_LANES <= count; i += DOUBLE_LANES) {
    memcpy(&a, x + i, sizeof a);
    memcpy(&b, y + i, sizeof b);
    sums += a * b;
  }
  if (i < count) {
    load_doubles(&a, x + i, count - i);
    load_doubles(&b, y + i, count - i);
    sums += a * b;
  }
  return add_doubles(&sums);
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
