/* SPDX-License-Identifier: MIT
 *
 * Merging: see merge.h. */
#include "sync/merge.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "array/arith.h"
#include "base/threads.h"

#define SLICE   ((int64_t)8192)   /* elements: 64 KB stay in a cache while all blocks are added */
#define BATCH   ((int64_t)16384)  /* elements that a rule is given at once */
#define THREADS ((size_t)4 << 20) /* bytes of parts that are worth more than one thread */
#define FEW     ((size_t)64)      /* parts for which no memory is asked */

static void note(const ms_merge_log *log, const ms_array *array, int64_t first, int64_t count) {
  if (log != NULL) log->note(log->context, array, first, count);
}

/* ------------------------------------------------------------------------------------- sums */

/* Brings all cursors to the first runs that reach behind element `first`. */
static int seek(const ms_merge *merge, int64_t count, int64_t first, ms_pending_cursor *cursors,
                ms_error *err) {
  for (size_t p = 0; p < merge->part_count; p++) {
    int got;
    do {
      got = ms_pending_next(&merge->parts[p], count, &cursors[p], err);
      if (got > 0) ms_pending_pass(&cursors[p], first);
    } while (got > 0 && cursors[p].length == 0);
    if (got < 0) return -1;
  }
  return 0;
}

/* Adds what a part has before element `end`; *noted says whether the log was told of the slice. */
static int add_part(double *sum, int64_t count, const ms_merge *merge, size_t number,
                    ms_pending_cursor *cursor, int64_t first, int64_t end, bool *noted,
                    const ms_merge_log *log, ms_error *err) {
  const ms_pending_part *part = &merge->parts[number];
  while (cursor->length > 0 && cursor->first < end) {
    if (!*noted) note(log, merge->arrays[0], first, end - first);
    *noted = true;
    ms_pending_add(part, cursor, end, sum);
    if (ms_pending_next(part, count, cursor, err) < 0) return -1;
  }
  return 0;
}

int ms_merge_range(double *sum, int64_t count, const ms_merge *merge, int64_t first, int64_t end,
                   int64_t slice, const ms_merge_log *log, ms_error *err) {
  ms_pending_cursor few[FEW] = {0}, *cursors = few;
  if (merge->part_count > FEW) cursors = calloc(merge->part_count, sizeof *cursors);
  if (cursors == NULL) {
    return ms_error_memory(err, MS_ARR, "merging what is pending in a buffer");
  }
  int failed = seek(merge, count, first, cursors, err);
  while (failed == 0 && first < end) {
    int64_t next = end - first < slice ? end : first + slice;
    bool noted = false;
    for (size_t p = 0; failed == 0 && p < merge->part_count; p++) {
      failed = add_part(sum, count, merge, p, &cursors[p], first, next, &noted, log, err);
    }
    first = next;
  }
  if (cursors != few) free(cursors);
  return failed;
}

/* A vector that is merged into by several threads, in ranges of whole slices. */
typedef struct shared_sum {
  double *sum;
  int64_t count, range;
  const ms_merge *merge;
  const ms_merge_log *log;
  atomic_bool failed;
  ms_error err; /* of the first that fails */
} shared_sum;

static void add_shared(void *context, int64_t k) {
  shared_sum *shared = context;
  int64_t first = k * shared->range;
  int64_t end = shared->count - first < shared->range ? shared->count : first + shared->range;
  ms_error err;
  ms_error_clear(&err);
  int failed = ms_merge_range(shared->sum, shared->count, shared->merge, first, end, SLICE,
                              shared->log, &err);
  if (failed != 0 && !atomic_exchange(&shared->failed, true)) shared->err = err;
}

static size_t bytes_of(const ms_merge *merge) {
  size_t bytes = 0;
  for (size_t p = 0; p < merge->part_count; p++) bytes += merge->parts[p].size;
  return bytes;
}

static int add_all(double *sum, int64_t count, const ms_merge *merge, const ms_merge_log *log,
                   ms_error *err) {
  int threads = bytes_of(merge) >= THREADS && count > SLICE ? ms_threads_count() : 1;
  if (threads == 1) return ms_merge_range(sum, count, merge, 0, count, SLICE, log, err);
  int64_t slices = (count + SLICE - 1) / SLICE;
  shared_sum shared = {.sum = sum,
                       .count = count,
                       .range = (slices + threads - 1) / threads * SLICE,
                       .merge = merge,
                       .log = log};
  int64_t ranges = (count + shared.range - 1) / shared.range;
  ms_threads_each(threads, ranges, add_shared, &shared);
  if (!shared.failed) return 0;
  return ms_error_set(err, (ms_code)shared.err.code, "%s", shared.err.message);
}

/* ------------------------------------------------------------------------------------ rules */

/* Elements that a rule is about to be given. */
typedef struct batch {
  const ms_merge *merge;
  double *const *vectors;
  const ms_merge_log *log;
  int64_t noted; /* the slice that the log was told of last; -1: none */
  int64_t count;
  int64_t at[BATCH];
  double pending[BATCH];
} batch;

/* Tells the log of the slices that a run lies in, unless the last one was in the same. */
static void note_run(batch *some, const ms_pending_cursor *run) {
  int64_t total = some->merge->arrays[0]->count;
  int64_t last = (run->first + run->length - 1) / SLICE;
  for (int64_t slice = run->first / SLICE; slice <= last; slice++) {
    if (slice == some->noted) continue;
    some->noted = slice;
    int64_t first = slice * SLICE, count = total - first < SLICE ? total - first : SLICE;
    for (uint32_t a = 0; a < some->merge->array_count; a++) {
      note(some->log, some->merge->arrays[a], first, count);
    }
  }
}

static int apply_batch(batch *some) {
  if (some->count == 0) return 0;
  int64_t count = some->count;
  some->count = 0;
  return some->merge->apply(some->merge->context, some->at, some->pending, count, some->vectors);
}

/* Gives the rule what is left of a part's present run. */
static int apply_run(batch *some, const ms_pending_part *part, const ms_pending_cursor *cursor) {
  if (some->log != NULL) note_run(some, cursor);
  for (int64_t k = 0; k < cursor->length;) {
    int64_t to = some->count, room = BATCH - to;
    int64_t end = cursor->length - k < room ? cursor->length : k + room;
    for (; k < end; k++) {
      double pending = ms_pending_element(part, cursor, k);
      some->at[to] = cursor->first + k;
      some->pending[to] = pending;
      to += pending != 0; /* a gap between two runs is none */
    }
    some->count = to;
    if (to == BATCH && apply_batch(some) != 0) return -1;
  }
  return 0;
}

static int apply_parts(batch *some, ms_error *err) {
  const ms_merge *merge = some->merge;
  int64_t total = merge->arrays[0]->count;
  for (size_t p = 0; p < merge->part_count; p++) {
    ms_pending_cursor cursor = {0};
    int got;
    while ((got = ms_pending_next(&merge->parts[p], total, &cursor, err)) > 0) {
      if (apply_run(some, &merge->parts[p], &cursor) != 0) return -1;
      ms_pending_pass(&cursor, total);
    }
    if (got < 0) return -1;
  }
  return apply_batch(some);
}

static int apply_all(double *const *vectors, const ms_merge *merge, const ms_merge_log *log,
                     ms_error *err) {
  batch *some = malloc(sizeof *some);
  if (some == NULL) {
    return ms_error_memory(err, MS_ARR, "merging what is pending in a buffer");
  }
  some->merge = merge;
  some->vectors = vectors;
  some->log = log;
  some->noted = -1;
  some->count = 0;
  int failed = apply_parts(some, err);
  free(some);
  return failed;
}

/* ----------------------------------------------------------------------------------- arrays */

/* A buffer's arrays as vectors. */
typedef struct wide_arrays {
  double **vectors;
  ms_array **copies; /* NULL: the vector is the array's own memory */
} wide_arrays;

/* Whether an array's own memory is a row-major vector of doubles that may be written. */
static bool is_vector(const ms_array *array) {
  return array->type == MS_DOUBLE && array->writable != 0 && array->readable != 0 &&
         ms_array_contiguous(array);
}

static bool shares_memory(const ms_merge *merge, uint32_t number) {
  for (uint32_t a = 0; a < number; a++) {
    if (merge->arrays[a]->store == merge->arrays[number]->store) return true;
  }
  return false;
}

static int widen(const ms_merge *merge, wide_arrays *wide, ms_error *err) {
  for (uint32_t a = 0; a < merge->array_count; a++) {
    const ms_array *array = merge->arrays[a];
    wide->vectors[a] = array->data;
    if (is_vector(array) && !shares_memory(merge, a)) continue;
    ms_array *copy = ms_array_dense(MS_DOUBLE, array->dim_count, array->dims, err);
    wide->copies[a] = copy;
    if (copy == NULL || ms_arith_array(MS_ARITH_COPY, copy, array, 0, err) != 0) return -1;
    wide->vectors[a] = copy->data;
  }
  return 0;
}

/* Writes the copies back. */
static int narrow(const ms_merge *merge, const wide_arrays *wide, const ms_merge_log *log,
                  ms_error *err) {
  for (uint32_t a = 0; a < merge->array_count; a++) {
    ms_array *array = merge->arrays[a];
    if (wide->copies[a] == NULL) continue;
    note(log, array, 0, array->count);
    if (ms_arith_array(MS_ARITH_COPY, array, wide->copies[a], 0, err) != 0) return -1;
  }
  return 0;
}

/* What the log has to know of while elements are merged: not of copies. */
static const ms_merge_log *log_of(const wide_arrays *wide, uint32_t count,
                                  const ms_merge_log *log) {
  for (uint32_t a = 0; a < count; a++) {
    if (wide->copies[a] == NULL) return log;
  }
  return NULL;
}

/* Keeps a rule from freeing what is merged into (by 1), or ends that (by -1). */
static void pin(const ms_merge *merge, int by) {
  for (uint32_t a = 0; a < merge->array_count; a++) merge->arrays[a]->pinned += by;
}

bool ms_merge_is_sure(const ms_array *array, size_t parts) {
  return is_vector(array) && parts <= FEW;
}

static int merge_one(const ms_merge *merge, const ms_merge_log *log, ms_error *err) {
  double *vector = NULL;
  ms_array *copy = NULL;
  wide_arrays wide = {&vector, &copy};
  int failed = 0;
  if (merge->array_count > 1) {
    wide = (wide_arrays){calloc(merge->array_count, sizeof *wide.vectors),
                         calloc(merge->array_count, sizeof *wide.copies)};
  }
  if (wide.vectors == NULL || wide.copies == NULL) {
    failed = ms_error_memory(err, MS_ARR, "merging what is pending in a buffer");
  }
  if (failed == 0) failed = widen(merge, &wide, err);
  pin(merge, 1);
  if (failed == 0) {
    const ms_merge_log *told = log_of(&wide, merge->array_count, log);
    int64_t count = merge->arrays[0]->count;
    failed = merge->apply == NULL ? add_all(wide.vectors[0], count, merge, told, err)
                                  : apply_all(wide.vectors, merge, told, err);
  }
  pin(merge, -1);
  if (failed == 0) failed = narrow(merge, &wide, log, err);
  for (uint32_t a = 0; wide.copies != NULL && a < merge->array_count; a++) {
    if (wide.copies[a] != NULL) ms_array_release(wide.copies[a]);
  }
  if (wide.vectors != &vector) free(wide.vectors);
  if (wide.copies != &copy) free(wide.copies);
  return failed;
}

/* Merges what is pending in the buffers that have a rule (`rules`), or in those that have none. */
static int merge_some(const ms_merge *merges, uint32_t count, bool rules, const ms_merge_log *log,
                      ms_error *err) {
  for (uint32_t m = 0; m < count; m++) {
    if (merges[m].part_count == 0 || (merges[m].apply != NULL) != rules) continue;
    if (merge_one(&merges[m], log, err) != 0) return -1;
  }
  return 0;
}

int ms_merge_all(const ms_merge *merges, uint32_t count, const ms_merge_log *log, ms_error *err) {
  if (merge_some(merges, count, false, log, err) != 0) return -1;
  return merge_some(merges, count, true, log, err);
}
