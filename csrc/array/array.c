/* SPDX-License-Identifier: MIT
 *
 * DistArray: see array.h. Creation, references, and what happens to contents that were lost.
 * Headers come in chunks that are never given back to the system. */
#include "array/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/csr.h"
#include "array/index.h"
#include "array/labels.h"
#include "array/overlap.h"
#include "array/partition.h"
#include "array/watch.h"

#define HEADERS_A_CHUNK 64
#define ALIGNMENT       64

/* Headers are never given back; the list keeps them findable for leak checkers. */
typedef struct chunk {
  struct chunk *next;
  ms_array headers[HEADERS_A_CHUNK];
} chunk;

static chunk *chunks;
static ms_array *free_headers;
static uint64_t last_id; /* of arrays and stores */

/* Arrays with references queued to be given up, the oldest first; as many at most. */
#define MOST_RELEASED 4096
static struct {
  ms_array *first, *last;
  uint32_t count;
} released;

ms_store *ms_store_new(size_t size, ms_error *err) {
  ms_store *store = calloc(1, sizeof *store);
  if (store == NULL) {
    ms_error_memory(err, MS_ARR, "an array");
    return NULL;
  }
  if (ms_segment_block_take(&store->block, size, err) != 0) {
    free(store);
    return NULL;
  }
  store->id = ++last_id;
  store->references = 1;
  return store;
}

void ms_store_retain(ms_store *store) {
  store->references++;
}

void ms_store_release(ms_store **store) {
  ms_store *old = *store;
  *store = NULL;
  if (old == NULL || --old->references > 0) return;
  ms_watch_end(old->watch);
  ms_segment_block_release(&old->block);
  free(old);
}

static int add_headers(ms_error *err) {
  chunk *fresh = calloc(1, sizeof *fresh);
  if (fresh == NULL) return ms_error_memory(err, MS_ARR, "arrays");
  fresh->next = chunks;
  chunks = fresh;
  for (int i = 0; i < HEADERS_A_CHUNK; i++) {
    fresh->headers[i].next = free_headers;
    free_headers = &fresh->headers[i];
  }
  return 0;
}

static ms_array *new_header(ms_error *err) {
  if (free_headers == NULL && add_headers(err) != 0) return NULL;
  ms_array *array = free_headers;
  free_headers = array->next;
  /* 0 is what `readable` is while contents are lost, so no generation is 0. */
  int32_t generation = array->generation == INT32_MAX ? 1 : array->generation + 1;
  *array = (ms_array){.id = ++last_id,
                      .references = 1,
                      .generation = generation,
                      .readable = generation,
                      .writable = generation};
  return array;
}

/* The product of extents, or -1 when it or the bytes of that many elements overflow; also when they
 * would without the extents that are 0: strides are products of the others. */
static int64_t element_count(int dim_count, const int64_t *dims, size_t element) {
  int64_t count = 1;
  bool empty = false;
  for (int d = 0; d < dim_count; d++) {
    if (dims[d] == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(count, dims[d], &count)) {
      return -1;
    }
  }
  if (count > (int64_t)(INT64_MAX / element)) return -1;
  return empty ? 0 : count;
}

/* Checks type and extents; on success the table of the type's operations. */
static const ms_type_ops *check_shape(int type, int dim_count, const int64_t *dims, ms_error *err) {
  const ms_type_ops *ops = ms_type_of(type);
  if (ops == NULL) {
    ms_error_set(err, MS_ARR, "no element type has the number %d", type);
    return NULL;
  }
  if (dim_count < 1 || dim_count > MS_ARRAY_DIMS) {
    ms_error_set(err, MS_ARR, "an array has 1 to %d dimensions, not %d", MS_ARRAY_DIMS, dim_count);
    return NULL;
  }
  for (int d = 0; d < dim_count; d++) {
    if (dims[d] >= 0 && dims[d] <= MS_ARRAY_EXTENT) continue;
    ms_error_set(err, MS_ARR, "extent %" PRId64 " of dimension %d is not in 0..%d", dims[d], d + 1,
                 MS_ARRAY_EXTENT);
    return NULL;
  }
  return ops;
}

static void set_shape(ms_array *array, int type, int dim_count, const int64_t *dims) {
  array->type = type;
  array->dim_count = dim_count;
  int64_t stride = 1;
  for (int d = dim_count - 1; d >= 0; d--) {
    array->dims[d] = dims[d];
    array->strides[d] = stride;
    /* Of a sparse array the product may be too large for any integer, and is not used. */
    if (__builtin_mul_overflow(stride, dims[d], &stride)) stride = 0;
  }
}

void ms_array_attach(ms_array *array, ms_store *store) {
  array->store = store;
  array->next = store->arrays;
  array->link = &store->arrays;
  if (array->next != NULL) array->next->link = &array->next;
  store->arrays = array;
}

ms_array *ms_array_dense(int type, int dim_count, const int64_t *dims, ms_error *err) {
  const ms_type_ops *ops = check_shape(type, dim_count, dims, err);
  if (ops == NULL) return NULL;
  int64_t count = element_count(dim_count, dims, ops->size);
  if (count < 0) {
    ms_error_set(err, MS_ARR, "the array would have more elements than any memory holds");
    return NULL;
  }
  ms_store *store = ms_store_new((size_t)count * ops->size, err);
  if (store == NULL) return NULL;
  ms_array *array = new_header(err);
  if (array == NULL) {
    ms_store_release(&store);
    return NULL;
  }
  set_shape(array, type, dim_count, dims);
  array->count = count;
  array->data = ms_segment_block_at(&store->block);
  ms_array_attach(array, store);
  return array;
}

ms_array *ms_array_sparse(int type, int dim_count, const int64_t *dims, int64_t count,
                          ms_error *err) {
  const ms_type_ops *ops = check_shape(type, dim_count, dims, err);
  if (ops == NULL) return NULL;
  if (count < 0 || count > MS_ARRAY_ENTRIES) {
    ms_error_set(err, MS_ARR, "a sparse array cannot have %" PRId64 " entries", count);
    return NULL;
  }
  size_t vector = ((size_t)count * sizeof(int32_t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  ms_store *values = ms_store_new((size_t)count * ops->size, err);
  ms_store *coords = values == NULL ? NULL : ms_store_new(vector * (size_t)dim_count, err);
  ms_array *array = coords == NULL ? NULL : new_header(err);
  if (array == NULL) {
    ms_store_release(&coords);
    ms_store_release(&values);
    return NULL;
  }
  set_shape(array, type, dim_count, dims);
  array->sparse = 1;
  array->count = count;
  array->version = 1;
  array->data = ms_segment_block_at(&values->block);
  array->coord_store = coords;
  for (int d = 0; d < dim_count; d++) {
    array->coords[d] =
        (int32_t *)(void *)((char *)ms_segment_block_at(&coords->block) + vector * (size_t)d);
  }
  ms_array_attach(array, values);
  return array;
}

ms_array *ms_array_foreign(int type, int dim_count, const int64_t *dims, const int64_t *strides,
                           void *data, int32_t *const *coords, int64_t count, ms_error *err) {
  const ms_type_ops *ops = check_shape(type, dim_count, dims, err);
  ms_array *array = ops == NULL ? NULL : new_header(err);
  if (array == NULL) return NULL;
  set_shape(array, type, dim_count, dims);
  array->data = data;
  array->sparse = coords != NULL;
  array->version = 1;
  array->count = coords != NULL ? count : element_count(dim_count, dims, ops->size);
  for (int d = 0; d < dim_count; d++) {
    if (coords != NULL) array->coords[d] = coords[d];
    if (strides != NULL) array->strides[d] = strides[d];
  }
  return array;
}

int ms_array_check_coords(const ms_array *array, ms_error *err) {
  for (int d = 0; d < array->dim_count; d++) {
    const uint32_t extent = (uint32_t)array->dims[d];
    const int32_t *at = array->coords[d];
    for (int64_t e = 0; e < array->count; e++) {
      if ((uint32_t)at[e] < extent) continue;
      return ms_error_set(err, MS_ARR,
                          "entry %" PRId64 ": subscript %" PRId64
                          " of dimension %d is outside 1..%" PRId64,
                          e + 1, (int64_t)at[e] + 1, d + 1, array->dims[d]);
    }
  }
  return 0;
}

static void detach(ms_array *array) {
  if (array->store == NULL) return;
  *array->link = array->next;
  if (array->next != NULL) array->next->link = array->link;
  array->next = NULL;
  array->link = NULL;
  ms_store_release(&array->store);
}

void ms_array_free(ms_array *array) {
  if (array->id == 0) return;
  array->id = 0;
  array->readable = 0;
  array->writable = 0;
  array->count = 0;
  array->data = NULL;
  for (int d = 0; d < MS_ARRAY_DIMS; d++) {
    array->dims[d] = 0;
    array->coords[d] = NULL;
    ms_labels_release(&array->labels[d]);
  }
  ms_index_destroy(&array->index);
  ms_csr_destroy(&array->rows);
  ms_partition_drop_all(array);
  detach(array);
  ms_store_release(&array->coord_store);
  free((void *)(uintptr_t)array->invalid);
  array->invalid = NULL;
  /* Whoever remembers the old generation is refused from now on, by reads and by writes. */
  array->generation = array->generation == INT32_MAX ? 1 : array->generation + 1;
}

void ms_array_release(ms_array *array) {
  if (array == NULL || --array->references > 0) return;
  ms_array_free(array);
  array->next = free_headers;
  free_headers = array;
}

/* Gives up the references of the array that has waited longest. */
static void release_first(void) {
  ms_array *array = released.first;
  uint32_t count = array->releases;
  released.first = array->next_released;
  released.count--;
  array->releases = 0;
  while (count-- > 0) ms_array_release(array);
}

void ms_array_release_later(ms_array *array) {
  if (array->releases++ > 0) return;
  array->next_released = NULL;
  if (released.first == NULL) {
    released.first = array;
  } else {
    released.last->next_released = array;
  }
  released.last = array;
  if (++released.count > MOST_RELEASED) release_first();
}

void ms_array_drain(void) {
  while (released.first != NULL) release_first();
}

/* Marks one array; `why` NULL makes it readable. */
static void set_invalid(ms_array *array, const char *why) {
  free((void *)(uintptr_t)array->invalid);
  array->invalid = why == NULL ? NULL : strdup(why);
  array->readable = why == NULL ? array->generation : 0;
}

void ms_array_invalidate(ms_array *array, const char *why) {
  if (array->id == 0) return;
  if (array->store == NULL) {
    set_invalid(array, why);
    return;
  }
  bool already = false;
  for (ms_array *each = array->store->arrays; each != NULL; each = each->next) {
    already = already || (each->readable == 0 && array->store->lost_by != array->id);
    if (each == array || ms_array_overlap(array, each)) set_invalid(each, why);
  }
  array->store->lost_by = already ? 0 : array->id;
}

/* Whether an array covers everything in its store. */
static bool covers_store(const ms_array *array) {
  const ms_type_ops *ops = ms_type_of(array->type);
  return (size_t)array->count * ops->size == array->store->block.size;
}

void ms_array_overwritten(ms_array *array) {
  if (array->id == 0 || array->readable != 0) return;
  if (array->store == NULL) {
    set_invalid(array, NULL);
    return;
  }
  if (!covers_store(array) && array->store->lost_by != array->id) return;
  for (ms_array *each = array->store->arrays; each != NULL; each = each->next) {
    set_invalid(each, NULL);
  }
}

int ms_array_check(const ms_array *array, ms_error *err) {
  if (array->id == 0) return ms_error_set(err, MS_ARR, "the array was freed");
  if (array->readable != 0) return 0;
  return ms_error_set(
      err, MS_ARR, "the array's contents are lost: %s; overwrite all of it first, by fill or copy",
      array->invalid != NULL ? array->invalid : "a loop failed");
}

void ms_array_freeze(ms_array *array) {
  array->writable = 0;
}

const char *ms_array_held_words(const ms_array *array) {
  switch (array->held) {
    case MS_BARRED_ROUNDS:
      return "cannot be written while the 'stop' of rounds that use it is asked; clone() it";
    case MS_BARRED_REPLICAS:
      return "is captured by meissa.replicas, whose replicas share it, and cannot be written: each "
             "writes its own rows by r.shard, or a clone()";
    case MS_BARRED_MERGED:
      return "gets what its replicas come to when their loop ends, so what 'on_round' writes to it "
             "would be lost: answer {stop = true}, and write it after the loop; or clone() it";
    default:
      return "is a snapshot and cannot be written; clone() it";
  }
}

int ms_array_check_writable(const ms_array *array, ms_error *err) {
  if (array->id == 0) return ms_error_set(err, MS_ARR, "the array was freed");
  if (array->writable != 0) return 0;
  return ms_error_set(err, MS_ARR, "the array %s", ms_array_held_words(array));
}

uint64_t ms_array_bytes(const ms_array *array) {
  const ms_type_ops *ops = ms_type_of(array->type);
  uint64_t each = ops == NULL ? 0 : ops->size;
  if (array->sparse) each += (uint64_t)array->dim_count * sizeof(int32_t);
  return (uint64_t)array->count * each;
}

bool ms_array_is_row_major(uint32_t dim_count, const int64_t *dims, const int64_t *strides) {
  int64_t stride = 1;
  for (uint32_t d = dim_count; d-- > 0;) {
    if (dims[d] > 1 && strides[d] != stride) return false;
    stride *= dims[d] > 0 ? dims[d] : 1;
  }
  return true;
}

int ms_array_contiguous(const ms_array *array) {
  return array->count == 0 ||
         ms_array_is_row_major((uint32_t)array->dim_count, array->dims, array->strides);
}
