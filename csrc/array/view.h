/* SPDX-License-Identifier: MIT
 *
 * Elements of a dense array, or of a sparse one's values, as one row-major sequence.
 *
 * A view is a small description on the stack: neighbouring dimensions that lie in memory as one
 * are merged, so that a contiguous array has one dimension of stride 1. It borrows the memory. */
#ifndef MS_ARRAY_VIEW_H
#define MS_ARRAY_VIEW_H

#include "array/array.h"

typedef struct ms_view {
  const ms_type_ops *ops;
  int32_t type;
  int dim_count;
  int64_t dims[MS_ARRAY_DIMS], strides[MS_ARRAY_DIMS]; /* in elements */
  int64_t count;
  char *data;
} ms_view;

/* The elements of an array (the values of a sparse one). */
ms_view ms_view_of(const ms_array *array);

/* `count` elements `stride` apart. */
ms_view ms_view_row(int type, void *data, int64_t stride, int64_t count);

/* The address of elements [first, first + count) if they lie side by side, else NULL. */
void *ms_view_direct(const ms_view *view, int64_t first, int64_t count);

/* Copies elements [first, first + count) to `out`, or from `in` to them. */
void ms_view_gather(const ms_view *view, int64_t first, int64_t count, void *out);
void ms_view_scatter(const ms_view *view, int64_t first, int64_t count, const void *in);

#endif
