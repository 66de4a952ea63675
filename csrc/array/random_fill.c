/* SPDX-License-Identifier: MIT
 *
 * Random contents: see random_fill.h. Philox block b gives elements 2b and 2b + 1. */
#include "array/random_fill.h"

#include <math.h>

#include "array/view.h"
#include "base/philox.h"

#define CHUNK 512 /* elements at a time; even, so that chunks begin with a Philox block */
/* Tells the draws of one kind from those of another with the same seed. */
#define UNIFORM_STREAM 1
#define NORMAL_STREAM  2

static const double two_pi = 6.283185307179586476925286766559;

static void draw_uniform(double *out, int64_t first, int64_t count, uint64_t seed, double scale) {
  for (int64_t i = 0; i < count; i += 2) {
    ms_philox block = ms_philox_at(seed, (uint64_t)(first + i) / 2, UNIFORM_STREAM);
    out[i] = scale * ms_philox_unit(ms_philox_half(&block, 0));
    out[i + 1] = scale * ms_philox_unit(ms_philox_half(&block, 1));
  }
}

static void draw_normal(double *out, int64_t first, int64_t count, uint64_t seed, double scale) {
  for (int64_t i = 0; i < count; i += 2) {
    ms_philox block = ms_philox_at(seed, (uint64_t)(first + i) / 2, NORMAL_STREAM);
    /* 1 - u is in (0, 1]: its logarithm is finite. */
    double radius = sqrt(-2.0 * log(1.0 - ms_philox_unit(ms_philox_half(&block, 0))));
    double angle = two_pi * ms_philox_unit(ms_philox_half(&block, 1));
    out[i] = scale * (radius * cos(angle));
    out[i + 1] = scale * (radius * sin(angle));
  }
}

/* Keeps numbers below `scale` that rounding to the type would lift to it. */
static void stay_below(double *numbers, int64_t count, int type, double scale) {
  double most = type == MS_FLOAT ? (double)nextafterf((float)scale, 0.0f) : scale;
  for (int64_t i = 0; i < count; i++) {
    if (type == MS_FLOAT) {
      if (fabs((double)(float)numbers[i]) >= fabs(scale)) numbers[i] = most;
    } else if (type != MS_DOUBLE) {
      numbers[i] = floor(numbers[i]);
    }
  }
}

static int fill(ms_array *array, uint64_t seed, double scale, bool normal, ms_error *err) {
  if (ms_array_check_writable(array, err) != 0) return -1;
  ms_view view = ms_view_of(array);
  double numbers[CHUNK], packed[CHUNK]; /* `packed` has room for any element type */
  for (int64_t first = 0; first < view.count; first += CHUNK) {
    int64_t n = view.count - first < CHUNK ? view.count - first : CHUNK;
    if (normal) {
      draw_normal(numbers, first, n, seed, scale);
    } else {
      draw_uniform(numbers, first, n, seed, scale);
      stay_below(numbers, n, array->type, scale);
    }
    if (view.ops->narrow(numbers, packed, (size_t)n) != (size_t)n) {
      return ms_error_set(err, MS_ARR, "random numbers below %g do not fit into type %s", scale,
                          view.ops->name);
    }
    ms_view_scatter(&view, first, n, packed);
  }
  if (array->sparse) array->version++;
  ms_array_overwritten(array);
  return 0;
}

int ms_random_fill_uniform(ms_array *array, uint64_t seed, double scale, ms_error *err) {
  return fill(array, seed, scale, false, err);
}

int ms_random_fill_normal(ms_array *array, uint64_t seed, double scale, ms_error *err) {
  if (ms_type_of(array->type)->integer) {
    return ms_error_set(err, MS_ARR, "normal numbers are no integers: use type float or double");
  }
  return fill(array, seed, scale, true, err);
}
