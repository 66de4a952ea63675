/* SPDX-License-Identifier: MIT
 *
 * Products of dense matrices, block by block, in several threads; each element is the dot product
 * of a row and a column as reduce.h adds it up, whoever computes it. */
#ifndef MS_ARRAY_PRODUCT_BLOCK_H
#define MS_ARRAY_PRODUCT_BLOCK_H

#include "array/array.h"

/* Writes A B into product, row-major, for dense A (m x k) and B (k x n). MS_ARR: memory, an int64
 * beyond 2^53. */
int ms_product_blocks(double *product, const ms_array *a, const ms_array *b, ms_error *err);

#endif
