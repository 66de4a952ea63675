/* SPDX-License-Identifier: MIT
 *
 * Products with a sparse matrix. An element of the product is formed in double, its terms added one
 * after the other in the order of the index that is summed over, those of equal entries in file
 * order: what a loop over `nonzeros()` gives. */
#ifndef MS_ARRAY_PRODUCT_SPARSE_H
#define MS_ARRAY_PRODUCT_SPARSE_H

#include "array/array.h"

/* Writes A B into product, row-major, for A (m x k) and B (k x n), of which exactly one is sparse;
 * B may be a vector. Builds the sparse one's rows. MS_ARR: memory, an int64 beyond 2^53. */
int ms_product_sparse(double *product, ms_array *a, ms_array *b, ms_error *err);

#endif
