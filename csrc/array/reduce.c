/* SPDX-License-Identifier: MIT
 *
 * Reductions: see reduce.h; the sums of one chunk are in lanes.h. */
#include "array/reduce.h"

#include <inttypes.h>
#include <math.h>

#include "array/magnitudes.h"
#include "array/rowwise.h"

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

/* Sums over any number of elements. MS_ARR for int64 beyond 2^53, or views of unequal count. */
static int view_sum(const ms_view *x, double *sum, ms_error *err) {
  room native, wide;
  double total = 0;
  for (int64_t first = 0; first < x->count; first += MS_REDUCE_CHUNK) {
    size_t n = ms_chunk_size(first, x->count);
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

static int view_dot(const ms_view *x, const ms_view *y, double *dot, ms_error *err) {
  room native_x, native_y, wide_x, wide_y;
  double total = 0;
  if (x->count != y->count) {
    return ms_error_set(err, MS_ARR, "dot of %" PRId64 " and %" PRId64 " elements", x->count,
                        y->count);
  }
  for (int64_t first = 0; first < x->count; first += MS_REDUCE_CHUNK) {
    size_t n = ms_chunk_size(first, x->count);
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

/* The sum of magnitudes; nan if any element is nan. */
static int view_magnitudes(const ms_view *x, double *sum, ms_error *err) {
  room native, wide, magnitudes;
  double total = 0;
  for (int64_t first = 0; first < x->count; first += MS_REDUCE_CHUNK) {
    size_t n = ms_chunk_size(first, x->count);
    if (x->type == MS_FLOAT) {
      const float *elements = native_chunk(x, first, n, &native);
      total += (double)ms_sum_float(ms_magnitudes_float(elements, 1, n, magnitudes.floats), n);
      continue;
    }
    const double *elements = wide_chunk(x, first, n, &native, &wide, err);
    if (elements == NULL) return -1;
    total += ms_sum_double(ms_magnitudes_double(elements, 1, n, magnitudes.doubles), n);
  }
  *sum = total;
  return 0;
}

/* Least and largest element; nan if any element is nan. MS_ARR when there are no elements. */
static int view_extremes(const ms_view *x, double *least, double *most, ms_error *err) {
  room native, wide;
  if (x->count == 0)
    return ms_error_set(err, MS_ARR, "an empty array has no least and no greatest element");
  double low = INFINITY, high = -INFINITY;
  for (int64_t first = 0; first < x->count; first += MS_REDUCE_CHUNK) {
    size_t n = ms_chunk_size(first, x->count);
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

int64_t ms_reduce_place_view(const ms_view *x, double value) {
  room native, wide;
  for (int64_t first = 0; first < x->count; first += MS_REDUCE_CHUNK) {
    ms_error none = {0};
    size_t n = ms_chunk_size(first, x->count);
    const double *elements = wide_chunk(x, first, n, &native, &wide, &none);
    for (size_t i = 0; elements != NULL && i < n; i++) {
      if (elements[i] == value || (isnan(value) && isnan(elements[i]))) return first + (int64_t)i;
    }
  }
  return -1;
}

/* The product, one element after the other; 1 without elements. Formed in double for all types. */
static int view_product(const ms_view *x, double *product, ms_error *err) {
  room native, wide;
  *product = 1;
  for (int64_t first = 0; first < x->count; first += MS_REDUCE_CHUNK) {
    size_t n = ms_chunk_size(first, x->count);
    const double *elements = wide_chunk(x, first, n, &native, &wide, err);
    if (elements == NULL) return -1;
    for (size_t i = 0; i < n; i++) *product *= elements[i];
  }
  return 0;
}

/* The mean in double, of floats too. */
static int mean_of(const ms_view *x, double *mean, ms_error *err) {
  room native, wide;
  double total = 0;
  for (int64_t first = 0; first < x->count; first += MS_REDUCE_CHUNK) {
    size_t n = ms_chunk_size(first, x->count);
    const double *elements = wide_chunk(x, first, n, &native, &wide, err);
    if (elements == NULL) return -1;
    total += ms_sum_double(elements, n);
  }
  *mean = total / (double)x->count;
  return 0;
}

/* The sum of squared differences from the mean. Formed in double for all types. */
static int view_spread(const ms_view *x, double *spread, ms_error *err) {
  room native, wide, apart;
  double mean, total = 0;
  if (mean_of(x, &mean, err) != 0) return -1;
  for (int64_t first = 0; first < x->count; first += MS_REDUCE_CHUNK) {
    size_t n = ms_chunk_size(first, x->count);
    const double *elements = wide_chunk(x, first, n, &native, &wide, err);
    if (elements == NULL) return -1;
    for (size_t i = 0; i < n; i++) apart.doubles[i] = elements[i] - mean;
    total += ms_dot_double(apart.doubles, apart.doubles, n);
  }
  *spread = total;
  return 0;
}

static double reduce(const ms_view *x, int reduction, ms_error *err) {
  double result = 0, other = 0;
  switch (reduction) {
    case MS_REDUCTION_SUM:
      view_sum(x, &result, err);
      return result;
    case MS_REDUCTION_MAGNITUDES:
      view_magnitudes(x, &result, err);
      return result;
    case MS_REDUCTION_SQUARES:
      view_dot(x, x, &result, err);
      return result;
    case MS_REDUCTION_LEAST:
      view_extremes(x, &result, &other, err);
      return result;
    case MS_REDUCTION_MOST:
      view_extremes(x, &other, &result, err);
      return result;
    case MS_REDUCTION_PRODUCT:
      view_product(x, &result, err);
      return result;
    case MS_REDUCTION_SPREAD:
      view_spread(x, &result, err);
      return result;
    default:
      ms_error_set(err, MS_BUG, "no reduction has the number %d", reduction);
      return result;
  }
}

double ms_reduce_array(const ms_array *x, int reduction, ms_error *err) {
  if (ms_array_check(x, err) != 0) return 0;
  ms_view view = ms_view_of(x);
  return reduce(&view, reduction, err);
}

int64_t ms_reduce_place(const ms_array *x, int reduction, ms_error *err) {
  if (ms_array_check(x, err) != 0) return -1;
  ms_view view = ms_view_of(x);
  double value = reduce(&view, reduction, err);
  return err->code != MS_OK ? -1 : ms_reduce_place_view(&view, value);
}

double ms_reduce_row(int type, void *x, int64_t stride, int64_t count, int reduction,
                     ms_error *err) {
  ms_view view = ms_view_row(type, x, stride, count);
  return reduce(&view, reduction, err);
}

double ms_reduce_dot(const ms_array *x, const ms_array *y, ms_error *err) {
  double result = 0;
  if (ms_array_check(x, err) != 0 || ms_array_check(y, err) != 0) return 0;
  if (x->sparse || y->sparse) {
    ms_error_set(err, MS_ARR, "dot is for dense arrays");
    return 0;
  }
  ms_view a = ms_view_of(x), b = ms_view_of(y);
  view_dot(&a, &b, &result, err);
  return result;
}

double ms_reduce_dot_row(int x_type, void *x, int64_t x_stride, int y_type, void *y,
                         int64_t y_stride, int64_t count, ms_error *err) {
  if (x_type == MS_FLOAT && y_type == MS_FLOAT)
    return ms_row_dot_float_float(x, x_stride, y, y_stride, count);
  if (x_type == MS_FLOAT && y_type == MS_DOUBLE)
    return ms_row_dot_float_double(x, x_stride, y, y_stride, count);
  if (x_type == MS_DOUBLE && y_type == MS_FLOAT)
    return ms_row_dot_double_float(x, x_stride, y, y_stride, count);
  if (x_type == MS_DOUBLE && y_type == MS_DOUBLE)
    return ms_row_dot_double_double(x, x_stride, y, y_stride, count);
  double result = 0;
  ms_view a = ms_view_row(x_type, x, x_stride, count), b = ms_view_row(y_type, y, y_stride, count);
  view_dot(&a, &b, &result, err);
  return result;
}
