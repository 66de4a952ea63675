/* SPDX-License-Identifier: MIT
 *
 * Triples: see triples.h. Pieces of the file are read into batches by several threads; their id
 * maps are joined in the order of the file. Then the array is made, the batches are copied into it
 * with their positions in the order of the ids, and duplicates are dealt with. */
#include "read/triples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "read/pipeline.h"
#include "read/triple_batch.h"

typedef struct reader {
  ms_triple_format format;
  ms_ids ids[2];
  bool shared; /* rows and columns have one id map, the first */
  ms_triple_batch *batches, **last;
  int64_t batch_count, count;
  bool only_header[2]; /* all ids of the column but the first line's are integers */
  bool any_range;
  uint32_t file; /* the number of the file that is being read */
} reader;

static int out_of_memory(ms_error *err) {
  return ms_error_memory(err, MS_ARR, "the entries of the file");
}

static int look(void *owner, const ms_byte_range *range, ms_error *err) {
  reader *r = owner;
  r->any_range = true;
  if (r->format.columns > 0) return 1; /* an earlier file showed it */
  return ms_triple_format_learn(&r->format, range, err);
}

static void *read_range(const void *owner, const ms_byte_range *range, ms_error *err) {
  return ms_triple_batch_read(&((const reader *)owner)->format, range, err);
}

static void drop(void *result) {
  ms_triple_batch_free(result);
}

/* Numbers the ids of a batch among those of the file. */
static int join_ids(reader *r, ms_triple_batch *batch, ms_error *err) {
  if (r->format.options->like != NULL) return 0;
  for (int d = 0; d < (r->shared ? 1 : 2); d++) {
    batch->place[d] = malloc(((size_t)batch->ids[d].count + 1) * sizeof *batch->place[d]);
    if (batch->place[d] == NULL) return out_of_memory(err);
    if (ms_ids_join(&r->ids[d], &batch->ids[d], batch->place[d], err) != 0) return -1;
    ms_ids_free(&batch->ids[d]);
  }
  if (r->shared) batch->place[1] = batch->place[0];
  return 0;
}

static int join(void *owner, void *result, ms_error *err) {
  reader *r = owner;
  ms_triple_batch *batch = result;
  *r->last = batch;
  r->last = &batch->next;
  r->batch_count++;
  batch->first = r->count;
  batch->file = r->file;
  r->count += batch->count;
  for (int d = 0; d < 2; d++) r->only_header[d] = r->only_header[d] && batch->integers[d];
  if (r->count > MS_ARRAY_ENTRIES / 2) {
    return ms_error_set(err, MS_ARR, "more than %" PRId64 " entries", MS_ARRAY_ENTRIES / 2);
  }
  return join_ids(r, batch, err);
}

/* What shows only when everything was read; `path` is the first file. */
static int check_all(const reader *r, const char *path, ms_error *err) {
  if (r->count == 0) {
    ms_error_set(err, MS_FIL, "the file has no entries%s", r->any_range ? "" : ": it is empty");
    return ms_error_place(err, path, 0);
  }
  for (int d = 0; d < 2; d++) {
    if (!r->format.maybe_header || !r->only_header[d] || r->count <= 1) continue;
    ms_error_set(err, MS_FIL,
                 "the only id of column %d that is no integer is in the first line: a header line? "
                 "then use skip = %" PRId64 ", else skip = 0",
                 d + 1, r->format.first_line);
    return ms_error_place(err, path, (int)r->format.first_line);
  }
  return 0;
}

static int read_files(reader *r, const char *const *paths, int64_t count, ms_error *err) {
  const ms_triples *options = r->format.options;
  ms_pipeline pipeline = {.range_bytes = (size_t)options->range_bytes,
                          .threads = options->threads,
                          .progress = options->progress,
                          .look = look,
                          .read = read_range,
                          .join = join,
                          .drop = drop};
  for (int64_t k = 0; k < count; k++) {
    r->file = (uint32_t)k;
    if (ms_pipeline_run(&pipeline, paths[k], r, err) != 0) return -1;
  }
  return check_all(r, paths[0], err);
}

/* Uses the id maps and extents of the array given as `like`. */
static int prepare_like(reader *r, ms_error *err) {
  const ms_array *like = r->format.options->like;
  if (like == NULL) return 0;
  if (ms_array_check(like, err) != 0) return -1;
  if (like->dim_count != 2) {
    return ms_error_set(err, MS_ARR, "like: the array must have 2 dimensions, not %d",
                        like->dim_count);
  }
  for (int d = 0; d < 2; d++) {
    ms_labels *labels = like->labels[d];
    if (labels != NULL && ms_labels_prepare(labels, err) != 0) return -1;
    r->ids[d].fixed = r->format.fixed[d].fixed = labels;
    r->ids[d].fixed_extent = r->format.fixed[d].fixed_extent = like->dims[d];
  }
  return 0;
}

/* The labels of dimension d, made or shared; and the new positions of its ids. */
static int take_labels(reader *r, int d, ms_labels **labels, uint32_t **moved, ms_error *err) {
  const ms_array *like = r->format.options->like;
  if (like != NULL) {
    labels[d] = like->labels[d];
    ms_labels_retain(labels[d]);
  } else if (d == 1 && r->shared) {
    labels[1] = labels[0];
    ms_labels_retain(labels[1]);
  } else {
    labels[d] = ms_ids_labels(&r->ids[d], &moved[d], err);
    if (labels[d] == NULL) return -1;
  }
  return 0;
}

/* Copying batches into the array, by several threads. */
typedef struct filling {
  ms_array *array;
  uint32_t *const *moved; /* by dimension: the new position of each, or NULL */
  ms_triple_batch **batches;
} filling;

static void fill_coords(const filling *f, const ms_triple_batch *batch, int d) {
  const uint32_t *at = batch->at[d], *place = batch->place[d], *moved = f->moved[d];
  int32_t *coords = f->array->coords[d] + batch->first;
  for (int64_t e = 0; e < batch->count; e++) {
    uint32_t p = at[e];
    if (place != NULL) p = place[p];
    coords[e] = (int32_t)(moved != NULL ? moved[p] : p);
  }
}

static void fill(void *context, int64_t b) {
  const filling *f = context;
  const ms_type_ops *ops = ms_type_of(f->array->type);
  ms_triple_batch *batch = f->batches[b];
  for (int d = 0; d < 2; d++) fill_coords(f, batch, d);
  char *values = (char *)f->array->data + (size_t)batch->first * ops->size;
  ops->narrow(batch->values, values, (size_t)batch->count);
  ms_triple_batch_clear(batch);
}

/* Copies the batches into the array. */
static int fill_array(reader *r, ms_array *array, uint32_t *const *moved, ms_error *err) {
  ms_triple_batch **list = malloc(((size_t)r->batch_count + 1) * sizeof *list);
  if (list == NULL) return out_of_memory(err);
  uint32_t *const by_dim[2] = {moved[0], r->shared ? moved[0] : moved[1]};
  filling f = {array, by_dim, list};
  int64_t b = 0;
  for (ms_triple_batch *each = r->batches; each != NULL; each = each->next) list[b++] = each;
  int threads = r->format.options->threads;
  if (threads == 0) threads = ms_threads_count();
  ms_threads_each(threads, b, fill, &f);
  free(list);
  return 0;
}

static ms_array *make_array(reader *r, ms_error *err) {
  ms_labels *labels[2] = {NULL, NULL};
  uint32_t *moved[2] = {NULL, NULL};
  int64_t dims[2];
  for (int d = 0; d < 2; d++) dims[d] = ms_ids_count(&r->ids[r->shared ? 0 : d]);
  ms_array *array = NULL;
  if (take_labels(r, 0, labels, moved, err) == 0 && take_labels(r, 1, labels, moved, err) == 0) {
    array = ms_array_sparse(r->format.options->type, 2, dims, r->count, err);
  }
  if (array != NULL && fill_array(r, array, moved, err) != 0) {
    ms_array_release(array);
    array = NULL;
  }
  if (array != NULL) {
    array->labels[0] = labels[0];
    array->labels[1] = labels[1];
  } else {
    ms_labels_release(&labels[0]);
    ms_labels_release(&labels[1]);
  }
  free(moved[0]);
  free(moved[1]);
  return array;
}

/* The line and the file of every entry. */
static int collect_places(const reader *r, ms_places *places, ms_error *err) {
  places->lines = malloc(((size_t)r->count + 1) * sizeof *places->lines);
  places->files = malloc(((size_t)r->count + 1) * sizeof *places->files);
  if (places->lines == NULL || places->files == NULL) return out_of_memory(err);
  for (const ms_triple_batch *each = r->batches; each != NULL; each = each->next) {
    memcpy(places->lines + each->first, each->line_of, (size_t)each->count * sizeof(uint32_t));
    for (int64_t e = 0; e < each->count; e++) places->files[each->first + e] = each->file;
  }
  return 0;
}

static int merge(const reader *r, ms_array *array, const char *const *paths, ms_error *err) {
  int duplicates = r->format.options->duplicates;
  bool refused = duplicates == MS_DUPLICATES_ERROR;
  if (duplicates == MS_DUPLICATES_KEEP) return 0;
  ms_places places = {.paths = paths};
  int status = refused ? collect_places(r, &places, err) : 0;
  if (status == 0) status = ms_duplicates_merge(array, duplicates, refused ? &places : NULL, err);
  free(places.lines);
  free(places.files);
  return status;
}

static void free_reader(reader *r) {
  while (r->batches != NULL) {
    ms_triple_batch *each = r->batches;
    r->batches = each->next;
    ms_triple_batch_free(each);
  }
  for (int d = 0; d < 2; d++) ms_ids_free(&r->ids[d]);
}

ms_array *ms_triples_read_files(const char *const *paths, int64_t count, const ms_triples *options,
                                ms_error *err) {
  reader r = {.format = {.options = options},
              .shared = options->square && options->like == NULL,
              .only_header = {true, true}};
  r.last = &r.batches;
  ms_array *array = NULL;
  if (prepare_like(&r, err) == 0 && read_files(&r, paths, count, err) == 0) {
    array = make_array(&r, err);
  }
  if (array != NULL && merge(&r, array, paths, err) != 0) {
    ms_array_release(array);
    array = NULL;
  }
  free_reader(&r);
  ms_memory_trim();
  return array;
}
