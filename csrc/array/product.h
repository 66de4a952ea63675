/* SPDX-License-Identifier: MIT
 *
 * Products of matrices and vectors. Of dense ones they are formed in the one order of addition of
 * reduce.h: an element of a product is the dot product of a row and a column, so that it has the
 * bits of `dot`. One factor may be a sparse matrix, see product_sparse.h. Large products are shared
 * out to threads, which does not change a bit.
 *
 * The result is beta times what was there plus alpha times the product, formed in double; with beta
 * 0 what was there is not read. Element types may differ; operands may overlap the result, which is
 * written when everything else is known to be good. */
#ifndef MS_ARRAY_PRODUCT_H
#define MS_ARRAY_PRODUCT_H

#include "array/array.h"

typedef struct ms_scale {
  double beta, alpha;
} ms_scale;

/* y = beta y + alpha A x: A is m x n, x has n elements, y m. MS_ARR: shapes, results that do not
 * fit into y's type, lost or freed arrays, memory. */
MS_API int ms_product_gemv(ms_array *y, const ms_scale *scale, ms_array *a, ms_array *x,
                           ms_error *err);

/* A = beta A + alpha x y': A is m x n, x has m elements, y n. */
MS_API int ms_product_ger(ms_array *a, const ms_scale *scale, const ms_array *x, const ms_array *y,
                          ms_error *err);

/* C = beta C + alpha A B: A is m x k, B k x n, C m x n. */
MS_API int ms_product_gemm(ms_array *c, const ms_scale *scale, ms_array *a, ms_array *b,
                           ms_error *err);

#endif
