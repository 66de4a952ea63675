/* SPDX-License-Identifier: MIT
 *
 * Reductions along one dimension: see along.h. */
#include "array/along.h"

#include <math.h>
#include <string.h>

/* Goes on to the next combination of subscripts but that of `dim`, row-major. */
static void step(const ms_array *x, int dim, int64_t *at, int64_t *offset) {
  for (int d = x->dim_count - 1; d >= 0; d--) {
    if (d == dim) continue;
    *offset += x->strides[d];
    if (++at[d] < x->dims[d]) return;
    *offset -= at[d] * x->strides[d];
    at[d] = 0;
  }
}

static int64_t lanes_of(const ms_array *x, int dim) {
  int64_t lanes = 1;
  for (int d = 0; d < x->dim_count; d++) lanes *= d == dim ? 1 : x->dims[d];
  return lanes;
}

static int reduce_dense(const ms_array *x, int dim, int reduction, double *values, int64_t *places,
                        ms_error *err) {
  int64_t at[MS_ARRAY_DIMS] = {0}, offset = 0, lanes = lanes_of(x, dim);
  size_t size = ms_type_of(x->type)->size;
  for (int64_t lane = 0; lane < lanes; lane++) {
    char *first = (char *)x->data + offset * (int64_t)size;
    values[lane] = ms_reduce_row(x->type, first, x->strides[dim], x->dims[dim], reduction, err);
    if (err->code != MS_OK) return -1;
    if (places != NULL) {
      ms_view view = ms_view_row(x->type, first, x->strides[dim], x->dims[dim]);
      places[lane] = ms_reduce_place_view(&view, values[lane]) + 1;
    }
    step(x, dim, at, &offset);
  }
  return 0;
}

/* The term of a reduction that an entry of this value adds. */
static double part_of(double value, int reduction) {
  if (reduction == MS_REDUCTION_MAGNITUDES) return fabs(value);
  return reduction == MS_REDUCTION_SQUARES ? value * value : value;
}

static int reduce_sparse(const ms_array *x, int dim, int reduction, double *values, ms_error *err) {
  const ms_type_ops *ops = ms_type_of(x->type);
  if (reduction > MS_REDUCTION_SQUARES) {
    return ms_error_set(err, MS_ARR, "of a sparse array only sums can be formed along a dimension");
  }
  memset(values, 0, (size_t)lanes_of(x, dim) * sizeof *values);
  for (int64_t e = 0; e < x->count; e++) {
    double value;
    if (ops->widen((char *)x->data + e * (int64_t)ops->size, &value, 1) != 1) {
      return ms_error_set(err, MS_ARR, "an element is beyond 2^53 and no exact number");
    }
    int64_t lane = 0;
    for (int d = 0; d < x->dim_count; d++) {
      if (d != dim) lane = lane * x->dims[d] + x->coords[d][e];
    }
    values[lane] += part_of(value, reduction);
  }
  return 0;
}

int ms_array_reduce_along(const ms_array *x, int dim, int reduction, double *values,
                          int64_t *places, ms_error *err) {
  if (ms_array_check(x, err) != 0) return -1;
  if (x->sparse) return reduce_sparse(x, dim, reduction, values, err);
  return reduce_dense(x, dim, reduction, values, places, err);
}
