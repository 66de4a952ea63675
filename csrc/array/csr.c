/* SPDX-License-Identifier: MIT
 *
 * Compressed rows: see csr.h. They are the entries in the order of the array's index, gathered. */
#include "array/csr.h"

#include <stdlib.h>
#include <string.h>

#include "array/index.h"

/* Fewer rows than this are always listed. */
#define FEW_ROWS 1024
/* Otherwise rows of which there are more than this many times the entries are not. */
#define SPARSE_ROWS 4
#define ALIGNMENT   ((size_t)64)

int ms_csr_suit(const ms_array *array) {
  if (!array->sparse || array->dim_count < 2) return 0;
  return array->dims[0] <= FEW_ROWS || array->dims[0] / SPARSE_ROWS <= array->count;
}

static size_t aligned(size_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Takes the memory of all vectors and places them in it. */
static int take_memory(ms_csr *rows, const ms_array *array, ms_error *err) {
  size_t count = (size_t)array->count;
  size_t starts = aligned(((size_t)array->dims[0] + 1) * sizeof *rows->start);
  size_t column = aligned(count * sizeof(int32_t));
  rows->structure = ms_store_new(starts + column * (size_t)(array->dim_count - 1), err);
  if (rows->structure == NULL) return -1;
  rows->value_store = ms_store_new(count * ms_type_of(array->type)->size, err);
  if (rows->value_store == NULL) return -1;
  char *base = ms_segment_block_at(&rows->structure->block);
  rows->start = (int64_t *)(void *)base;
  for (int d = 1; d < array->dim_count; d++) {
    rows->columns[d] = (int32_t *)(void *)(base + starts + column * (size_t)(d - 1));
  }
  rows->values = ms_segment_block_at(&rows->value_store->block);
  return 0;
}

static void list_structure(ms_csr *rows, const ms_array *array, const uint32_t *order) {
  for (int64_t e = 0; e < array->count; e++) rows->start[array->coords[0][e] + 1]++;
  for (int64_t row = 0; row < array->dims[0]; row++) rows->start[row + 1] += rows->start[row];
  for (int d = 1; d < array->dim_count; d++) {
    for (int64_t k = 0; k < array->count; k++) {
      rows->columns[d][k] = array->coords[d][order[k]] + 1;
    }
  }
}

static void copy_values(ms_csr *rows, const ms_array *array, const uint32_t *order) {
  if (ms_type_of(array->type)->size == 4) {
    const uint32_t *from = array->data;
    uint32_t *to = rows->values;
    for (int64_t k = 0; k < array->count; k++) to[k] = from[order[k]];
  } else {
    const uint64_t *from = array->data;
    uint64_t *to = rows->values;
    for (int64_t k = 0; k < array->count; k++) to[k] = from[order[k]];
  }
  rows->version = array->version;
}

static ms_csr *build(const ms_array *array, const uint32_t *order, ms_error *err) {
  ms_csr *rows = calloc(1, sizeof *rows);
  if (rows == NULL) {
    ms_error_memory(err, MS_ARR, "the rows of a sparse array");
    return NULL;
  }
  if (take_memory(rows, array, err) != 0) {
    ms_csr_destroy(&rows);
    return NULL;
  }
  list_structure(rows, array, order);
  copy_values(rows, array, order);
  return rows;
}

const ms_csr *ms_csr_list(ms_array *array, ms_error *err) {
  if (ms_array_check(array, err) != 0) return NULL;
  if (array->rows != NULL && array->rows->version == array->version) return array->rows;
  const ms_index *index = ms_index_get(array, err);
  if (index == NULL) return NULL;
  if (array->rows != NULL) {
    copy_values(array->rows, array, index->order);
  } else {
    array->rows = build(array, index->order, err);
  }
  return array->rows;
}

const ms_csr *ms_csr_get(ms_array *array, ms_error *err) {
  bool listed = array->rows != NULL && array->rows->version == array->version;
  if (!listed && ms_array_check(array, err) == 0 && !ms_csr_suit(array)) {
    ms_error_set(err, MS_ARR, "only sparse matrices and tensors without too many rows have rows");
    return NULL;
  }
  return ms_csr_list(array, err);
}

/* The first place in [low, high) whose subscript in this vector is at least `value`. */
static int64_t first_from(const int32_t *column, int64_t low, int64_t high, int64_t value) {
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (column[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void ms_csr_range(const ms_csr *rows, const int32_t *at, int count, int64_t *first, int64_t *last) {
  int64_t low = rows->start[at[0]], high = rows->start[at[0] + 1];
  for (int d = 1; d < count; d++) {
    low = first_from(rows->columns[d], low, high, (int64_t)at[d] + 1);
    high = first_from(rows->columns[d], low, high, (int64_t)at[d] + 2);
  }
  *first = low;
  *last = high;
}

int ms_csr_foreign(ms_array *array, int64_t *start, int32_t *const *columns, void *values,
                   ms_error *err) {
  ms_csr_destroy(&array->rows);
  if (start == NULL) return 0;
  ms_csr *rows = calloc(1, sizeof *rows);
  if (rows == NULL) return ms_error_memory(err, MS_ARR, "the rows of a sparse array");
  rows->version = array->version;
  rows->start = start;
  rows->values = values;
  for (int d = 1; d < array->dim_count; d++) rows->columns[d] = columns[d];
  array->rows = rows;
  return 0;
}

void ms_csr_destroy(ms_csr **rows) {
  ms_csr *old = *rows;
  *rows = NULL;
  if (old == NULL) return;
  ms_store_release(&old->value_store);
  ms_store_release(&old->structure);
  free(old);
}
