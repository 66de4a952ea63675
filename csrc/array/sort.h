/* SPDX-License-Identifier: MIT
 *
 * Sorting along one dimension: of the elements that differ in no other subscript.
 *
 * Equal elements keep their order, in both directions, and 0 equals -0. A nan is greater than all
 * numbers. Large arrays are shared out to threads, which does not change the result. */
#ifndef MS_ARRAY_SORT_H
#define MS_ARRAY_SORT_H

#include "array/array.h"

/* The first elements of each lane of a dense array in order: `values`, of x's type, and `places`,
 * int64, receive them and where along `dim` (from 1) they stand. Both are dense arrays of the
 * caller with x's extents, but along `dim`, where they are as long as the caller wants, and no
 * longer than x. `descending`: the greatest first. MS_ARR: lost or freed, memory. */
MS_API int ms_array_sort(const ms_array *x, int dim, int descending, ms_array *values,
                         ms_array *places, ms_error *err);

#endif
