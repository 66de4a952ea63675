/* SPDX-License-Identifier: MIT
 *
 * Reductions with one defined order of addition, the same for contiguous and strided elements.
 *
 * Elements are taken in row-major order and cut into chunks of MS_REDUCE_CHUNK. In a chunk element
 * k is added to partial sum k mod L, where L is 16 partial sums of type float for float arrays and
 * 8 of type double for all others; then partial sums k and k + L/2 are added, L is halved, until
 * one is left. The chunks' sums are added in double, in order. Products of `dot` are rounded to the
 * type of the partial sums before they are added. One chunk is summed by lanes.h. Pure functions.
 */
#ifndef MS_ARRAY_REDUCE_H
#define MS_ARRAY_REDUCE_H

#include "array/lanes.h"
#include "array/view.h"

/* The number, from 0, of the first element that is `value`, or of the first nan if that is one; -1
 * if there is none. */
int64_t ms_reduce_place_view(const ms_view *x, double value);

/* Reductions for LuaJIT: of whole arrays, and of rows of `count` elements `stride` apart. */
typedef enum ms_reduction {
  MS_REDUCTION_SUM,
  MS_REDUCTION_MAGNITUDES,
  MS_REDUCTION_SQUARES,
  MS_REDUCTION_LEAST,
  MS_REDUCTION_MOST,
  MS_REDUCTION_PRODUCT,
  MS_REDUCTION_SPREAD
} ms_reduction;

/* What `reduction` (ms_reduction) makes of all elements. MS_ARR: where there is none, say. */
MS_API double ms_reduce_array(const ms_array *x, int reduction, ms_error *err);
/* Where the least or largest element stands first: its number in row-major order (of a sparse
 * array: of the entry), from 0; -1 with MS_ARR when there is none. */
MS_API int64_t ms_reduce_place(const ms_array *x, int reduction, ms_error *err);
MS_API double ms_reduce_dot(const ms_array *x, const ms_array *y, ms_error *err);
MS_API double ms_reduce_row(int type, void *x, int64_t stride, int64_t count, int reduction,
                            ms_error *err);
MS_API double ms_reduce_dot_row(int x_type, void *x, int64_t x_stride, int y_type, void *y,
                                int64_t y_stride, int64_t count, ms_error *err);

#endif
