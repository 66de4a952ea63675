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

/* Sums over any number of elements. MS_ARR for int64 beyond 2^53, or views of unequal count. */
int ms_view_sum(const ms_view *x, double *sum, ms_error *err);
int ms_view_dot(const ms_view *x, const ms_view *y, double *dot, ms_error *err);

/* The sum of magnitudes, and least and largest element: nan if any element is nan. `extremes` is
 * MS_ARR when there are no elements. */
int ms_view_magnitudes(const ms_view *x, double *sum, ms_error *err);
int ms_view_extremes(const ms_view *x, double *least, double *most, ms_error *err);

/* The number, from 0, of the first element that is `value`, or of the first nan if that is one; -1
 * if there is none. */
int64_t ms_view_place(const ms_view *x, double value);

/* The product, one element after the other; 1 without elements. And the sum of squared differences
 * from the mean. Both are formed in double for all types. */
int ms_view_product(const ms_view *x, double *product, ms_error *err);
int ms_view_spread(const ms_view *x, double *spread, ms_error *err);

/* The same for LuaJIT: whole arrays, and rows of `count` elements `stride` apart. */
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
MS_API double ms_array_reduce(const ms_array *x, int reduction, ms_error *err);
/* Where the least or largest element stands first: its number in row-major order (of a sparse
 * array: of the entry), from 0; -1 with MS_ARR when there is none. */
MS_API int64_t ms_array_place(const ms_array *x, int reduction, ms_error *err);
MS_API double ms_array_dot(const ms_array *x, const ms_array *y, ms_error *err);
MS_API double ms_row_reduce(int type, void *x, int64_t stride, int64_t count, int reduction,
                            ms_error *err);
MS_API double ms_row_dot(int x_type, void *x, int64_t x_stride, int y_type, void *y,
                         int64_t y_stride, int64_t count, ms_error *err);

#endif
