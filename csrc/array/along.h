/* SPDX-License-Identifier: MIT
 *
 * Reductions along one dimension: of the elements that differ in no other subscript.
 *
 * Those of a dense array are added as reduce.h says; the entries of a sparse array one after the
 * other, in double. Pure functions. */
#ifndef MS_ARRAY_ALONG_H
#define MS_ARRAY_ALONG_H

#include "array/reduce.h"

/* Reduces `x` along dimension `dim` (from 0). `values` receives a number for each combination of
 * the other subscripts, row-major; `places`, unless it is NULL, where along `dim` (from 1) the
 * least or largest element stands first. MS_ARR for an int64 beyond 2^53, for the least or largest
 * of none, and of a sparse array. */
MS_API int ms_array_reduce_along(const ms_array *x, int dim, int reduction, double *values,
                                 int64_t *places, ms_error *err);

#endif
