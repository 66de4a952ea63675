/* SPDX-License-Identifier: MIT
 *
 * Dot products of a vector with neighbouring columns of a row-major matrix, which are the rows of
 * its transpose. Each is what ms_reduce_dot_row gives, bit for bit; all go through the matrix
 * together, in the order of its memory. */
#ifndef MS_ARRAY_PRODUCT_COLUMNS_H
#define MS_ARRAY_PRODUCT_COLUMNS_H

#include <stdint.h>

/* Most columns of one call: their partial sums stay in the nearest cache. */
#define MS_COLUMNS_MOST 256

/* out[c] = sum over k of a[k * stride + c] * x[k * x_stride], k < count, c < columns. */
void ms_product_columns_double(double *out, const double *a, int64_t stride, const double *x,
                               int64_t x_stride, int64_t columns, int64_t count);
void ms_product_columns_float(double *out, const float *a, int64_t stride, const float *x,
                              int64_t x_stride, int64_t columns, int64_t count);

#endif
