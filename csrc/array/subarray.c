/* SPDX-License-Identifier: MIT
 *
 * Sub-arrays: dense arrays that show a part of another one's elements, or in another order of
 * dimensions. They share its store. See array.h. */
#include <inttypes.h>

#include "array/array.h"

static int check_dim(const ms_array *array, int dim, ms_error *err) {
  if (ms_array_check(array, err) != 0) return -1;
  if (array->sparse) {
    return ms_error_set(err, MS_ARR, "a sparse array has no views; loop over its entries");
  }
  if (dim >= 0 && dim < array->dim_count) return 0;
  return ms_error_set(err, MS_ARR, "dimension %d is outside 1..%d", dim + 1, array->dim_count);
}

ms_array *ms_array_view(ms_array *array, int dim_count, const int64_t *dims, const int64_t *strides,
                        void *data, ms_error *err) {
  ms_array *view = ms_array_foreign(array->type, dim_count, dims, strides, data, NULL, 0, err);
  if (view != NULL && array->writable == 0) {
    view->writable = 0;
    view->held = array->held;
  }
  if (view == NULL || array->store == NULL) return view;
  ms_store_retain(array->store);
  ms_array_attach(view, array->store);
  return view;
}

/* A view of everything, to be cut down by the caller. */
static ms_array *view_of(ms_array *array, ms_error *err) {
  return ms_array_view(array, array->dim_count, array->dims, array->strides, array->data, err);
}

static void advance(ms_array *view, int64_t elements) {
  if (view->count == 0) return;
  view->data = (char *)view->data + elements * (int64_t)ms_type_of(view->type)->size;
}

static void recount(ms_array *view) {
  view->count = 1;
  for (int d = 0; d < view->dim_count; d++) view->count *= view->dims[d];
}

ms_array *ms_array_narrow(ms_array *array, int dim, int64_t first, int64_t length, ms_error *err) {
  if (check_dim(array, dim, err) != 0) return NULL;
  int64_t extent = array->dims[dim];
  if (first < 0 || length < 0 || first > extent || length > extent - first) {
    ms_error_set(err, MS_ARR,
                 "range %" PRId64 "..%" PRId64 " is outside 1..%" PRId64 " (dimension %d)",
                 first + 1, first + length, extent, dim + 1);
    return NULL;
  }
  ms_array *view = view_of(array, err);
  if (view == NULL) return NULL;
  advance(view, first * view->strides[dim]);
  view->dims[dim] = length;
  recount(view);
  for (int d = 0; d < view->dim_count; d++) ms_array_keep_labels(view, d, array, d);
  return view;
}

ms_array *ms_array_select(ms_array *array, int dim, int64_t position, ms_error *err) {
  if (check_dim(array, dim, err) != 0) return NULL;
  if (array->dim_count == 1) {
    ms_error_set(err, MS_ARR, "select needs two dimensions or more; use A[%" PRId64 "]",
                 position + 1);
    return NULL;
  }
  if (position < 0 || position >= array->dims[dim]) {
    ms_error_set(err, MS_ARR, "subscript %" PRId64 " is outside 1..%" PRId64 " (dimension %d)",
                 position + 1, array->dims[dim], dim + 1);
    return NULL;
  }
  ms_array *view = view_of(array, err);
  if (view == NULL) return NULL;
  advance(view, position * view->strides[dim]);
  for (int d = dim; d + 1 < view->dim_count; d++) {
    view->dims[d] = view->dims[d + 1];
    view->strides[d] = view->strides[d + 1];
  }
  view->dim_count--;
  view->dims[view->dim_count] = 0;
  recount(view);
  for (int d = 0; d < view->dim_count; d++)
    ms_array_keep_labels(view, d, array, d < dim ? d : d + 1);
  return view;
}

ms_array *ms_array_transpose(ms_array *array, int one, int other, ms_error *err) {
  if (check_dim(array, one, err) != 0 || check_dim(array, other, err) != 0) return NULL;
  ms_array *view = view_of(array, err);
  if (view == NULL) return NULL;
  view->dims[one] = array->dims[other];
  view->dims[other] = array->dims[one];
  view->strides[one] = array->strides[other];
  view->strides[other] = array->strides[one];
  for (int d = 0; d < view->dim_count; d++) {
    int from = d == one ? other : d == other ? one : d;
    ms_array_keep_labels(view, d, array, from);
  }
  return view;
}
