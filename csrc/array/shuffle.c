/* SPDX-License-Identifier: MIT
 *
 * Shuffling: copies of arrays with the subscripts of some dimensions exchanged at random. See
 * array.h. */
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/labels.h"
#include "base/philox.h"

/* Tells these draws from those of rand, randn and split with the same seed; one a dimension. */
#define SHUFFLE_STREAM 16

/* A random permutation of 0..extent-1 (Knuth, The Art of Computer Programming, 3.4.2, algorithm P),
 * from malloc: place[i] is where i goes. */
static int32_t *permutation(int64_t extent, uint64_t seed, int dim, ms_error *err) {
  int32_t *place = malloc(((size_t)extent + 1) * sizeof *place);
  if (place == NULL) {
    ms_error_memory(err, MS_ARR, "a permutation");
    return NULL;
  }
  for (int64_t i = 0; i < extent; i++) place[i] = (int32_t)i;
  for (int64_t i = extent - 1; i > 0; i--) {
    ms_philox block = ms_philox_at(seed, (uint64_t)i, (uint64_t)(SHUFFLE_STREAM + dim));
    int64_t j = (int64_t)(ms_philox_unit(ms_philox_half(&block, 0)) * (double)(i + 1));
    int32_t swap = place[i];
    place[i] = place[j];
    place[j] = swap;
  }
  return place;
}

/* The dimension whose permutation dimension d uses: an earlier one with the same id map, or d. */
static int same_as(const ms_array *array, uint32_t dims, int d) {
  for (int e = 0; e < d; e++) {
    if ((dims >> e & 1) && array->labels[e] != NULL && array->labels[e] == array->labels[d])
      return e;
  }
  return d;
}

static void shuffle_sparse(ms_array *to, const ms_array *from, int32_t *const *place) {
  for (int d = 0; d < from->dim_count; d++) {
    for (int64_t e = 0; e < from->count; e++) {
      int32_t at = from->coords[d][e];
      to->coords[d][e] = place[d] != NULL ? place[d][at] : at;
    }
  }
  memcpy(to->data, from->data, (size_t)from->count * ms_type_of(from->type)->size);
}

/* Copies the part of a dense array with some leading subscripts; rows of the last dimension go
 * element by element. */
static void shuffle_dense(ms_array *to, const ms_array *from, int32_t *const *place, int d,
                          int64_t to_offset, int64_t from_offset) {
  size_t size = ms_type_of(from->type)->size;
  for (int64_t i = 0; i < from->dims[d]; i++) {
    int64_t target = to_offset + (place[d] != NULL ? place[d][i] : i) * to->strides[d];
    int64_t source = from_offset + i * from->strides[d];
    if (d + 1 < from->dim_count) {
      shuffle_dense(to, from, place, d + 1, target, source);
    } else {
      memcpy((char *)to->data + target * (int64_t)size,
             (const char *)from->data + source * (int64_t)size, size);
    }
  }
}

/* Gives dimension d of the copy its labels. */
static int move_labels(ms_array *to, const ms_array *from, int d, int same, const int32_t *place,
                       ms_error *err) {
  if (same != d) {
    to->labels[d] = to->labels[same];
    ms_labels_retain(to->labels[d]);
    return 0;
  }
  if (place == NULL) {
    to->labels[d] = from->labels[d];
    ms_labels_retain(to->labels[d]);
    return 0;
  }
  to->labels[d] = ms_labels_moved(from->labels[d], place, from->dims[d], err);
  return to->labels[d] != NULL ? 0 : -1;
}

static ms_array *shuffle(const ms_array *array, uint32_t dims, int32_t *const *place,
                         ms_error *err) {
  ms_array *made =
      array->sparse ? ms_array_sparse(array->type, array->dim_count, array->dims, array->count, err)
                    : ms_array_dense(array->type, array->dim_count, array->dims, err);
  if (made == NULL) return NULL;
  if (array->sparse) {
    shuffle_sparse(made, array, place);
  } else {
    shuffle_dense(made, array, place, 0, 0, 0);
  }
  for (int d = 0; d < array->dim_count; d++) {
    int same = dims >> d & 1 ? same_as(array, dims, d) : d;
    if (move_labels(made, array, d, same, place[d], err) == 0) continue;
    ms_array_release(made);
    return NULL;
  }
  return made;
}

ms_array *ms_array_shuffle(const ms_array *array, uint32_t dims, uint64_t seed, ms_error *err) {
  if (ms_array_check(array, err) != 0) return NULL;
  int32_t *place[MS_ARRAY_DIMS] = {NULL};
  ms_array *made = NULL;
  bool good = true;
  for (int d = 0; good && d < array->dim_count; d++) {
    if (!(dims >> d & 1)) continue;
    int same = same_as(array, dims, d);
    place[d] = same != d ? place[same] : permutation(array->dims[d], seed, d, err);
    good = place[d] != NULL;
  }
  if (good) made = shuffle(array, dims, place, err);
  for (int d = 0; d < array->dim_count; d++) {
    if (place[d] != NULL && same_as(array, dims, d) == d) free(place[d]);
  }
  return made;
}
