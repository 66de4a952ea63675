/* SPDX-License-Identifier: MIT
 *
 * Picking: sparse arrays of some entries of another one, and arrays like another one. See array.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/index.h"
#include "array/labels.h"

static int check_sparse(const ms_array *array, ms_error *err) {
  if (ms_array_check(array, err) != 0) return -1;
  return array->sparse ? 0 : ms_error_set(err, MS_ARR, "the array is dense");
}

ms_array *ms_array_retyped(const ms_array *array, int type, ms_error *err) {
  if (ms_array_check(array, err) != 0) return NULL;
  ms_array *made = array->sparse
                       ? ms_array_sparse(type, array->dim_count, array->dims, array->count, err)
                       : ms_array_dense(type, array->dim_count, array->dims, err);
  if (made == NULL) return NULL;
  for (int d = 0; array->sparse && array->count > 0 && d < array->dim_count; d++) {
    memcpy(made->coords[d], array->coords[d], (size_t)array->count * sizeof(int32_t));
  }
  ms_array_share_labels(made, array);
  return made;
}

static void copy_values(ms_array *to, const ms_array *from, const uint32_t *entries) {
  size_t size = ms_type_of(from->type)->size;
  for (int64_t k = 0; k < to->count; k++) {
    memcpy((char *)to->data + (size_t)k * size, (const char *)from->data + entries[k] * size, size);
  }
}

ms_array *ms_array_pick(const ms_array *array, const uint32_t *entries, int64_t count,
                        ms_error *err) {
  if (check_sparse(array, err) != 0) return NULL;
  ms_array *made = ms_array_sparse(array->type, array->dim_count, array->dims, count, err);
  if (made == NULL) return NULL;
  for (int d = 0; d < array->dim_count; d++) {
    for (int64_t k = 0; k < count; k++) made->coords[d][k] = array->coords[d][entries[k]];
  }
  copy_values(made, array, entries);
  ms_array_share_labels(made, array);
  return made;
}

static int compare_entries(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* The places in the index that hold the rows [first, first + length). */
static int row_places(ms_array *array, int64_t first, int64_t length, int64_t *from, int64_t *to,
                      ms_error *err) {
  *from = *to = 0;
  if (length == 0 || array->count == 0) return ms_index_get(array, err) != NULL ? 0 : -1;
  int64_t unused;
  const int32_t low = (int32_t)first, high = (int32_t)(first + length - 1);
  if (ms_index_range(array, &low, 1, from, &unused, err) != 0) return -1;
  return ms_index_range(array, &high, 1, &unused, to, err);
}

/* The entries inside the ranges, ascending, from malloc. */
static uint32_t *find_inside(ms_array *array, const int64_t *first, const int64_t *length,
                             int64_t *count, ms_error *err) {
  int64_t from, to;
  if (row_places(array, first[0], length[0], &from, &to, err) != 0) return NULL;
  uint32_t *found = malloc(((size_t)(to - from) + 1) * sizeof *found);
  if (found == NULL) {
    ms_error_memory(err, MS_ARR, "the entries of a part");
    return NULL;
  }
  *count = 0;
  for (int64_t k = from; k < to; k++) {
    uint32_t e = array->index->order[k];
    bool inside = true;
    for (int d = 1; inside && d < array->dim_count; d++) {
      inside = array->coords[d][e] >= first[d] && array->coords[d][e] < first[d] + length[d];
    }
    if (inside) found[(*count)++] = e;
  }
  qsort(found, (size_t)*count, sizeof *found, compare_entries);
  return found;
}

static ms_array *gather(const ms_array *array, const uint32_t *entries, int64_t count,
                        const int64_t *first, const int64_t *length, const int32_t *keep,
                        ms_error *err) {
  int64_t dims[MS_ARRAY_DIMS];
  int from[MS_ARRAY_DIMS], rank = 0;
  for (int d = 0; d < array->dim_count; d++) {
    if (!keep[d]) continue;
    from[rank] = d;
    dims[rank++] = length[d];
  }
  ms_array *made = ms_array_sparse(array->type, rank, dims, count, err);
  if (made == NULL) return NULL;
  for (int r = 0; r < rank; r++) {
    const int32_t *at = array->coords[from[r]];
    const int32_t offset = (int32_t)first[from[r]];
    for (int64_t k = 0; k < count; k++) made->coords[r][k] = at[entries[k]] - offset;
  }
  copy_values(made, array, entries);
  for (int r = 0; r < rank; r++) {
    ms_labels *labels = array->labels[from[r]];
    if (labels == NULL) continue;
    made->labels[r] = ms_labels_slice(labels, first[from[r]], length[from[r]], err);
    if (made->labels[r] == NULL) {
      ms_array_release(made);
      return NULL;
    }
  }
  return made;
}

ms_array *ms_array_cut(ms_array *array, const int64_t *first, const int64_t *length,
                       const int32_t *keep, ms_error *err) {
  int64_t count;
  if (check_sparse(array, err) != 0) return NULL;
  uint32_t *entries = find_inside(array, first, length, &count, err);
  if (entries == NULL) return NULL;
  ms_array *made = gather(array, entries, count, first, length, keep, err);
  free(entries);
  return made;
}

static ms_array *view_vectors(ms_array *array, int type, int rank, const int64_t *dims,
                              const int64_t *strides, void *data, ms_store *store, ms_error *err) {
  ms_array *view = ms_array_foreign(type, rank, dims, strides, data, NULL, 0, err);
  if (view == NULL) return NULL;
  if (store != NULL) {
    ms_store_retain(store);
    ms_array_attach(view, store);
  }
  if (array->readable == 0) view->readable = 0;
  ms_array_freeze(view);
  return view;
}

ms_array *ms_array_coords(ms_array *array, ms_error *err) {
  if (check_sparse(array, err) != 0) return NULL;
  const int64_t dims[] = {array->dim_count, array->count};
  int64_t apart = array->dim_count > 1 ? array->coords[1] - array->coords[0] : array->count;
  const int64_t strides[] = {apart, 1};
  return view_vectors(array, MS_INT32, 2, dims, strides, array->coords[0], array->coord_store, err);
}

ms_array *ms_array_values(ms_array *array, ms_error *err) {
  if (check_sparse(array, err) != 0) return NULL;
  const int64_t stride = 1;
  return view_vectors(array, array->type, 1, &array->count, &stride, array->data, array->store,
                      err);
}
