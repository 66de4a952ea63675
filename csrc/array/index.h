/* SPDX-License-Identifier: MIT
 *
 * Index of a sparse array: its entries in row-major order of coordinates, duplicates in file
 * order, with the start of every first-dimension row. Built when first asked for, owned by the
 * array. Coordinates never change, so it stays true until the array is freed. */
#ifndef MS_ARRAY_INDEX_H
#define MS_ARRAY_INDEX_H

#include "array/array.h"

typedef struct ms_index {
  uint32_t *order;    /* entry numbers */
  int64_t *row_start; /* dims[0] + 1; NULL when the rows are too many: search instead */
  int32_t repeats;    /* whether several entries have equal coordinates; -1: not looked at yet */
} ms_index;

/* Stable order of all entries by coordinates, row-major, from malloc; NULL with MS_ARR. */
uint32_t *ms_index_order(const ms_array *array, ms_error *err);

/* The array's index, built if need be; NULL with MS_ARR. */
const ms_index *ms_index_get(ms_array *array, ms_error *err);

/* Frees an index and nulls the caller's pointer. */
void ms_index_destroy(ms_index **index);

/* The places [first, last) in `order` whose leading `count` coordinates (0-based) are these. */
MS_API int ms_index_range(ms_array *array, const int32_t *at, int count, int64_t *first,
                          int64_t *last, ms_error *err);

/* The entry at these coordinates (0-based, one a dimension), -1 when there is none. Several
 * entries there, or no memory, give -2 with MS_ARR. */
MS_API int64_t ms_index_find(ms_array *array, const int32_t *at, ms_error *err);

/* 1 if several entries have equal coordinates, 0 if not; -1 with MS_ARR. */
MS_API int ms_index_repeats(ms_array *array, ms_error *err);

#endif
