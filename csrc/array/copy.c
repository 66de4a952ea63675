/* SPDX-License-Identifier: MIT
 *
 * Copies of arrays: whole ones, and the two parts of a random split. See array.h. */
#include <math.h>
#include <string.h>

#include "array/array.h"
#include "array/labels.h"
#include "array/view.h"
#include "base/philox.h"

/* Tells a split's draws from those of rand and randn with the same seed. */
#define SPLIT_STREAM 3

void ms_array_share_labels(ms_array *to, const ms_array *from) {
  for (int d = 0; d < from->dim_count; d++) {
    to->labels[d] = from->labels[d];
    ms_labels_retain(to->labels[d]);
  }
}

void ms_array_keep_labels(ms_array *view, int dim, const ms_array *array, int from) {
  if (view->dims[dim] != array->dims[from]) return;
  ms_labels_release(&view->labels[dim]);
  view->labels[dim] = array->labels[from];
  ms_labels_retain(view->labels[dim]);
}

static ms_array *clone_dense(const ms_array *array, ms_error *err) {
  ms_array *copy = ms_array_dense(array->type, array->dim_count, array->dims, err);
  if (copy == NULL) return NULL;
  ms_view from = ms_view_of(array);
  ms_view_gather(&from, 0, from.count, copy->data);
  return copy;
}

static ms_array *clone_sparse(const ms_array *array, ms_error *err) {
  ms_array *copy = ms_array_sparse(array->type, array->dim_count, array->dims, array->count, err);
  if (copy == NULL) return NULL;
  for (int d = 0; d < array->dim_count; d++) {
    memcpy(copy->coords[d], array->coords[d], (size_t)array->count * sizeof(int32_t));
  }
  memcpy(copy->data, array->data, (size_t)array->count * ms_type_of(array->type)->size);
  return copy;
}

ms_array *ms_array_clone(const ms_array *array, ms_error *err) {
  if (ms_array_check(array, err) != 0) return NULL;
  ms_array *copy = array->sparse ? clone_sparse(array, err) : clone_dense(array, err);
  if (copy != NULL) ms_array_share_labels(copy, array);
  return copy;
}

static void copy_entry(ms_array *to, int64_t place, const ms_array *from, int64_t entry) {
  size_t size = ms_type_of(from->type)->size;
  for (int d = 0; d < from->dim_count; d++) to->coords[d][place] = from->coords[d][entry];
  memcpy((char *)to->data + (size_t)place * size, (const char *)from->data + (size_t)entry * size,
         size);
}

/* Selection sampling (Knuth, The Art of Computer Programming, 3.4.2, algorithm S). */
static void deal_out(const ms_array *array, uint64_t seed, ms_array *first, ms_array *second) {
  int64_t to_first = 0, to_second = 0;
  for (int64_t e = 0; e < array->count; e++) {
    ms_philox block = ms_philox_at(seed, (uint64_t)e, SPLIT_STREAM);
    double u = ms_philox_unit(ms_philox_half(&block, 0));
    if (u * (double)(array->count - e) < (double)(first->count - to_first)) {
      copy_entry(first, to_first++, array, e);
    } else {
      copy_entry(second, to_second++, array, e);
    }
  }
}

int ms_array_split(const ms_array *array, double share, uint64_t seed, ms_array **first,
                   ms_array **second, ms_error *err) {
  if (ms_array_check(array, err) != 0) return -1;
  if (!array->sparse) return ms_error_set(err, MS_ARR, "only sparse arrays can be split");
  if (!(share >= 0 && share <= 1)) {
    return ms_error_set(err, MS_ARR, "the fraction %g is not in 0..1", share);
  }
  int64_t count = (int64_t)nearbyint(share * (double)array->count);
  *first = ms_array_sparse(array->type, array->dim_count, array->dims, count, err);
  if (*first == NULL) return -1;
  *second = ms_array_sparse(array->type, array->dim_count, array->dims, array->count - count, err);
  if (*second == NULL) {
    ms_array_release(*first);
    *first = NULL;
    return -1;
  }
  deal_out(array, seed, *first, *second);
  ms_array_share_labels(*first, array);
  ms_array_share_labels(*second, array);
  return 0;
}
