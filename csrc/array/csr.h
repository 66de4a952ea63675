/* SPDX-License-Identifier: MIT
 *
 * Compressed rows (CSR) of the entries of a sparse array, in shared memory, so that loop
 * bodies walk through a row and find an element without looking at other entries.
 *
 * With i the 1-based subscript of dimension 1, the entries of row i are the places
 * start[i - 1] .. start[i] - 1 of the vectors. Places are sorted by the other subscripts,
 * row-major; entries with equal subscripts stand in file order. `columns[d]` has the 1-based
 * subscripts of dimension d + 1 (d = 1, 2, ...), int32; `values` the elements of the array's type.
 *
 * Built when first asked for, owned by the array. Coordinates never change, so `start` and
 * `columns` are good as long as the array is; `values` are a copy of a version of the array's
 * values, and ms_csr_get renews it. Used by one thread. */
#ifndef MS_ARRAY_CSR_H
#define MS_ARRAY_CSR_H

#include "array/array.h"

typedef struct ms_csr {
  uint64_t version;                /* of the array, when `values` were copied */
  int64_t *start;                  /* dims[0] + 1 places */
  int32_t *columns[MS_ARRAY_DIMS]; /* from [1] on */
  void *values;
  ms_store *structure;   /* holds start and columns; NULL: memory of somebody else */
  ms_store *value_store; /* holds values; NULL likewise */
} ms_csr;

/* Whether an array can have rows: sparse, two dimensions or more, and not many more rows than
 * entries, which would be looked up faster than listed. */
MS_API int ms_csr_suit(const ms_array *array);

/* The array's rows with its present values; NULL with MS_ARR: no suitable array, freed, lost, or no
 * memory. The pointers hold until the array is freed; the values until they are renewed. */
MS_API const ms_csr *ms_csr_get(ms_array *array, ms_error *err);

/* The same of any sparse array of two dimensions or more, however many rows it has. */
const ms_csr *ms_csr_list(ms_array *array, ms_error *err);

/* The places [first, last) whose leading `count` subscripts (0-based) are these, which must lie
 * inside the extents. */
MS_API void ms_csr_range(const ms_csr *rows, const int32_t *at, int count, int64_t *first,
                         int64_t *last);

/* Gives an array over memory of somebody else (ms_array_foreign) rows over such memory, which hold
 * the array's present values and live as long as it; columns[0] is not used. Replaces rows that it
 * has; `start` NULL takes them away. MS_ARR: no memory. */
MS_API int ms_csr_foreign(ms_array *array, int64_t *start, int32_t *const *columns, void *values,
                          ms_error *err);

/* Frees compressed rows and nulls the caller's pointer. */
void ms_csr_destroy(ms_csr **rows);

#endif
