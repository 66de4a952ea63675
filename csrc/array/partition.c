/* SPDX-License-Identifier: MIT
 *
 * Partition: see partition.h. Building one is a histogram of the cut dimensions, a counting sort by
 * block, and a shuffle of each block while it is in cache (or, before the sort, a stable order by
 * coordinates). Threads share each of these steps; the sort takes the entries in slices, each of
 * which has its own place in every block, so that the result is the same however many there are.
 * The cache of an array's partitions is in partition_cache.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/index.h"
#include "array/partition_build.h"
#include "base/philox.h"
#include "base/threads.h"

#define CHUNK     1024 /* entries whose block numbers are computed together */
#define ALIGNMENT ((size_t)64)
/* Index values beyond this many, and beyond four an entry, share a histogram bucket. */
#define BUCKETS ((int64_t)1 << 22)
/* A slice of the entries for a thread has at least so many. */
#define SLICE ((int64_t)1 << 16)

/* What building needs besides the result. */
typedef struct builder {
  const ms_array *array;
  ms_partition *made;
  uint32_t *order;                   /* entries by coordinates, or NULL: as they stand */
  int shift[MS_ARRAY_DIMS];          /* an index's bucket is index >> shift */
  uint32_t *block_of[MS_ARRAY_DIMS]; /* by bucket: range number times the blocks it spans */
  int threads;
  int64_t slices;  /* into which the entries are divided for the sort */
  int64_t *cursor; /* by slice and block: where the slice's next entry goes */
  ms_error errors[MS_ARRAY_DIMS];
} builder;

static int out_of_memory(ms_error *err) {
  return ms_error_memory(err, MS_ARR, "cutting the array into blocks");
}

/* Finds the ranges of the c-th cut dimension: its bounds and, for now, the range by bucket. */
static int cut_dimension(builder *b, uint32_t c, ms_error *err) {
  ms_cut *cut = &b->made->cut;
  const int32_t *at = b->array->coords[cut->dims[c]];
  int64_t extent = b->array->dims[cut->dims[c]], count = b->array->count;
  int64_t most = count > BUCKETS / 4 ? count * 4 : BUCKETS;
  int shift = 0;
  while (extent > 0 && (extent - 1) >> shift >= most) shift++;
  int64_t buckets = extent == 0 ? 0 : ((extent - 1) >> shift) + 1;
  int64_t ranges = cut->ranges[c] < buckets ? cut->ranges[c] : buckets;
  int64_t *weights = calloc((size_t)buckets + 1, sizeof *weights);
  int64_t *bounds = calloc((size_t)ranges + 1, sizeof *bounds);
  b->block_of[c] = calloc((size_t)buckets + 1, sizeof *b->block_of[c]);
  b->made->bounds[c] = bounds;
  if (weights == NULL || bounds == NULL || b->block_of[c] == NULL) {
    free(weights);
    return out_of_memory(err);
  }
  for (int64_t e = 0; e < count; e++) weights[at[e] >> shift]++;
  cut->ranges[c] = (uint32_t)ms_cut_weights(weights, buckets, ranges, bounds);
  free(weights);
  for (uint32_t r = 0; r < cut->ranges[c]; r++) {
    for (int64_t i = bounds[r]; i < bounds[r + 1]; i++) b->block_of[c][i] = r;
    bounds[r] = (bounds[r] << shift) + 1;
  }
  bounds[cut->ranges[c]] = extent + 1;
  b->shift[c] = shift;
  return 0;
}

/* Turns range numbers into their share of a block number, row-major. */
static int number_blocks(builder *b, ms_error *err) {
  ms_cut *cut = &b->made->cut;
  int64_t span = 1;
  for (uint32_t c = cut->count; c-- > 0;) {
    int64_t extent = b->array->dims[cut->dims[c]];
    int64_t buckets = extent == 0 ? 0 : ((extent - 1) >> b->shift[c]) + 1;
    for (int64_t i = 0; i < buckets; i++) b->block_of[c][i] *= (uint32_t)span;
    span *= cut->ranges[c];
    if (span > MS_PARTITION_BLOCKS) {
      return ms_error_set(err, MS_OPT, "a grid has at most %" PRId64 " blocks",
                          MS_PARTITION_BLOCKS);
    }
  }
  b->made->blocks = span;
  b->made->offsets = ms_store_new(((size_t)span + 1) * sizeof *b->made->start, err);
  if (b->made->offsets == NULL) return -1;
  b->made->start = (int64_t *)(void *)ms_segment_block_at(&b->made->offsets->block);
  int64_t count = b->made->count, most = count / SLICE, threads = b->threads;
  b->slices = threads < most ? threads : most;
  /* Cursors are not to take more memory, or time, than the entries. */
  if (b->slices > 1 && b->slices * span > count) b->slices = count / span;
  if (b->slices < 1) b->slices = 1;
  b->cursor = calloc((size_t)(span * b->slices) + 1, sizeof *b->cursor);
  return b->cursor == NULL ? out_of_memory(err) : 0;
}

/* Block numbers of the entries at places [first, first + count) of the order. */
static void block_numbers(const builder *b, int64_t first, size_t count, uint32_t *blocks) {
  memset(blocks, 0, count * sizeof *blocks);
  for (uint32_t c = 0; c < b->made->cut.count; c++) {
    const int32_t *at = b->array->coords[b->made->cut.dims[c]];
    const uint32_t *block_of = b->block_of[c];
    int shift = b->shift[c];
    if (b->order == NULL) {
      for (size_t i = 0; i < count; i++) blocks[i] += block_of[at[first + (int64_t)i] >> shift];
    } else {
      const uint32_t *order = b->order + first;
      for (size_t i = 0; i < count; i++) blocks[i] += block_of[at[order[i]] >> shift];
    }
  }
}

static int64_t slice_start(const builder *b, int64_t slice) {
  return b->made->count / b->slices * slice + b->made->count % b->slices * slice / b->slices;
}

/* Counts the entries of a slice by block, into its cursors. */
static void count_slice(void *context, int64_t slice) {
  const builder *b = context;
  uint32_t blocks[CHUNK];
  int64_t *counts = b->cursor + slice * b->made->blocks, last = slice_start(b, slice + 1);
  for (int64_t first = slice_start(b, slice); first < last; first += CHUNK) {
    size_t n = last - first < CHUNK ? (size_t)(last - first) : CHUNK;
    block_numbers(b, first, n, blocks);
    for (size_t i = 0; i < n; i++) counts[blocks[i]]++;
  }
}

/* Turns the counts into places: those of a block's slices follow each other. */
static void place_slices(const builder *b) {
  int64_t at = 0, blocks = b->made->blocks;
  for (int64_t block = 0; block < blocks; block++) {
    b->made->start[block] = at;
    for (int64_t slice = 0; slice < b->slices; slice++) {
      int64_t *cursor = &b->cursor[slice * blocks + block], count = *cursor;
      *cursor = at;
      at += count;
    }
  }
  b->made->start[blocks] = at;
}

/* Places the shared block's vectors one after the other. */
static int take_entries(builder *b, ms_error *err) {
  ms_partition *made = b->made;
  size_t count = (size_t)made->count, size = 0;
  for (int32_t d = 0; d < made->dim_count; d++) {
    made->coord_offset[d] = size;
    size += (count * sizeof(int32_t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  made->value_offset = size;
  size += count * ms_type_of(made->type)->size;
  made->entries = ms_store_new(size, err);
  return made->entries == NULL ? -1 : 0;
}

/* Copies elements of 4 or 8 bytes to their places; `add` goes to every 4-byte one. */
static void scatter_4(const uint32_t *from, const uint32_t *order, int64_t first, size_t count,
                      const int64_t *place, uint32_t *to, uint32_t add) {
  if (order == NULL) {
    for (size_t i = 0; i < count; i++) to[place[i]] = from[first + (int64_t)i] + add;
  } else {
    for (size_t i = 0; i < count; i++) to[place[i]] = from[order[first + (int64_t)i]] + add;
  }
}

static void scatter_8(const uint64_t *from, const uint32_t *order, int64_t first, size_t count,
                      const int64_t *place, uint64_t *to) {
  if (order == NULL) {
    for (size_t i = 0; i < count; i++) to[place[i]] = from[first + (int64_t)i];
  } else {
    for (size_t i = 0; i < count; i++) to[place[i]] = from[order[first + (int64_t)i]];
  }
}

/* The counting sort: every entry of a slice goes to the slice's next free place of its block. */
static void scatter_slice(void *context, int64_t slice) {
  const builder *b = context;
  uint32_t blocks[CHUNK];
  int64_t place[CHUNK];
  const ms_partition *made = b->made;
  char *base = ms_segment_block_at(&made->entries->block);
  int64_t *cursor = b->cursor + slice * made->blocks, last = slice_start(b, slice + 1);
  for (int64_t first = slice_start(b, slice); first < last; first += CHUNK) {
    size_t n = last - first < CHUNK ? (size_t)(last - first) : CHUNK;
    block_numbers(b, first, n, blocks);
    for (size_t i = 0; i < n; i++) place[i] = cursor[blocks[i]]++;
    for (int32_t d = 0; d < made->dim_count; d++) {
      scatter_4((const uint32_t *)(const void *)b->array->coords[d], b->order, first, n, place,
                (uint32_t *)(void *)(base + made->coord_offset[d]), 1);
    }
    void *values = base + made->value_offset;
    if (ms_type_of(made->type)->size == 4) {
      scatter_4(b->array->data, b->order, first, n, place, values, 0);
    } else {
      scatter_8(b->array->data, b->order, first, n, place, values);
    }
  }
}

/* Sebastiano Vigna's splitmix64: enough for an order, and the start comes from Philox. */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

/* Swaps element last - k with element with[k], for k = 0, 1, ... in turn. */
static void swap_4(uint32_t *vector, size_t last, const uint32_t *with, size_t count) {
  for (size_t k = 0; k < count; k++) {
    uint32_t keep = vector[last - k];
    vector[last - k] = vector[with[k]];
    vector[with[k]] = keep;
  }
}

static void swap_8(uint64_t *vector, size_t last, const uint32_t *with, size_t count) {
  for (size_t k = 0; k < count; k++) {
    uint64_t keep = vector[last - k];
    vector[last - k] = vector[with[k]];
    vector[with[k]] = keep;
  }
}

/* Partners for elements last, last - 1, ...: with[k] is uniform in 0..last - k. */
static void draw_partners(uint64_t *state, size_t last, uint32_t *with, size_t count) {
  uint64_t random = 0;
  for (size_t k = 0; k < count; k++) {
    random = (k & 1) == 0 ? next_random(state) : random >> 32;
    with[k] = (uint32_t)((random & UINT32_MAX) * (last - k + 1) >> 32);
  }
}

/* Fisher and Yates' shuffle of one block's entries, all vectors alike, some swaps at a time. */
static void shuffle_block(void *context, int64_t block) {
  const ms_partition *made = context;
  char *base = ms_segment_block_at(&made->entries->block);
  size_t first = (size_t)made->start[block];
  size_t count = (size_t)(made->start[block + 1] - made->start[block]);
  size_t size = ms_type_of(made->type)->size;
  void *values = base + made->value_offset + first * size;
  ms_philox seed = ms_philox_at((uint64_t)made->count, (uint64_t)block, 0);
  uint64_t state = ms_philox_half(&seed, 0);
  uint32_t with[CHUNK];
  for (size_t left = count; left > 1;) {
    size_t last = left - 1, n = last < CHUNK ? last : CHUNK;
    draw_partners(&state, last, with, n);
    for (int32_t d = 0; d < made->dim_count; d++) {
      swap_4((uint32_t *)(void *)(base + made->coord_offset[d]) + first, last, with, n);
    }
    if (size == 4) {
      swap_4(values, last, with, n);
    } else {
      swap_8(values, last, with, n);
    }
    left -= n;
  }
}

static void cut_one(void *context, int64_t c) {
  builder *b = context;
  cut_dimension(b, (uint32_t)c, &b->errors[c]);
}

static int cut_dimensions(builder *b, ms_error *err) {
  ms_threads_each(b->threads, b->made->cut.count, cut_one, b);
  for (uint32_t c = 0; c < b->made->cut.count; c++) {
    const ms_error *each = &b->errors[c];
    if (each->code != MS_OK) return ms_error_set(err, (ms_code)each->code, "%s", each->message);
  }
  return 0;
}

static int build(builder *b, ms_error *err) {
  ms_partition *made = b->made;
  if (take_entries(b, err) != 0) return -1;
  b->threads = made->count < 2 * SLICE ? 1 : ms_threads_count();
  if (cut_dimensions(b, err) != 0 || number_blocks(b, err) != 0) return -1;
  if (made->cut.ordered && (b->order = ms_index_order(b->array, err)) == NULL) return -1;
  ms_threads_each(b->threads, b->slices, count_slice, b);
  place_slices(b);
  ms_threads_each(b->threads, b->slices, scatter_slice, b);
  if (!made->cut.ordered) ms_threads_each(b->threads, made->blocks, shuffle_block, made);
  return 0;
}

ms_partition *ms_partition_build(const ms_array *array, const ms_cut *cut, ms_error *err) {
  ms_partition *made = calloc(1, sizeof *made);
  if (made == NULL) {
    out_of_memory(err);
    return NULL;
  }
  made->cut = *cut;
  made->asked = *cut;
  made->count = array->count;
  made->type = array->type;
  made->dim_count = array->dim_count;
  made->version = array->version;
  made->references = 1;
  builder b = {.array = array, .made = made};
  int failed = build(&b, err);
  for (uint32_t c = 0; c < cut->count; c++) free(b.block_of[c]);
  free(b.cursor);
  free(b.order);
  if (failed != 0) ms_partition_release(&made);
  return made;
}
