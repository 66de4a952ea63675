/* SPDX-License-Identifier: MIT
 *
 * Partition: a sparse array's entries put into blocks, a copy that workers map and walk through.
 *
 * Each cut dimension is divided into ranges of index values with about equally many entries; a
 * block is the entries whose indices lie in one range of every cut dimension. Blocks are numbered
 * row-major over the range numbers, in the order of `dims`. Inside a block entries stand in a
 * random order, or row-major by coordinates with duplicates in file order. Everything is a function
 * of the entries and the request alone. Cached by the array; used by one thread. */
#ifndef MS_ARRAY_PARTITION_H
#define MS_ARRAY_PARTITION_H

#include "array/array.h"

/* Most blocks of one partition. */
#define MS_PARTITION_BLOCKS ((int64_t)1 << 24)

typedef struct ms_cut {
  uint32_t count;                 /* cut dimensions */
  uint32_t dims[MS_ARRAY_DIMS];   /* which, 0-based, all different */
  uint32_t ranges[MS_ARRAY_DIMS]; /* ranges wanted for each, 1 or more */
  int32_t ordered;
} ms_cut;

typedef struct ms_partition {
  uint64_t id;  /* unique in the process, never reused */
  ms_cut cut;   /* as built: no more ranges than index values */
  ms_cut asked; /* as asked for */
  /* Range r of the c-th cut dimension holds the 1-based indices bounds[c][r] .. bounds[c][r+1]-1.
   */
  int64_t *bounds[MS_ARRAY_DIMS];
  int64_t blocks;
  int64_t *start;    /* blocks + 1: block b holds entries start[b] .. start[b+1]-1 */
  ms_store *offsets; /* the shared block that it lies in */
  int64_t count;
  int32_t type, dim_count;
  ms_store *entries;                  /* one shared block with all vectors, each aligned to 64 */
  size_t coord_offset[MS_ARRAY_DIMS]; /* bytes from the block's start: int32, 1-based */
  size_t value_offset;                /* elements of the array's type */
  uint64_t version;                   /* of the array when it was built */
  uint32_t references;
  uint64_t used; /* when it was last asked for; counts up */
  struct ms_partition *next;
} ms_partition;

/* The array's partition for this request, from its cache or built, with a reference for the
 * caller. Beyond the first, as many are kept as take no more bytes than the data. NULL: MS_OPT for
 * a malformed cut, MS_ARR for a dense, freed or lost array and for memory. */
MS_API ms_partition *ms_partition_get(ms_array *array, const ms_cut *cut, ms_error *err);

/* A number for a partition that is made elsewhere. */
uint64_t ms_partition_number(void);

/* Gives up a reference (NULL allowed) and nulls the caller's pointer. */
MS_API void ms_partition_release(ms_partition **partition);

/* Addresses in this process. */
MS_API const int32_t *ms_partition_coords(const ms_partition *partition, int dim);
MS_API void *ms_partition_values(const ms_partition *partition);

/* Forgets all cached partitions of an array (those in use live on until released). */
void ms_partition_drop_all(ms_array *array);

/* Ranges that one dimension is cut into where nothing else is asked for: as many as leave blocks of
 * MS_CUT_ENTRIES of so many entries or iterations, 64 to 4,096, so that a few heavy iterations
 * spread, too. */
#define MS_CUT_ENTRIES 16384.0
#define MS_CUT_LEAST   64
#define MS_CUT_MOST    4096
int64_t ms_cut_ranges(double entries);

/* Which dimension is cut where any may be: the first one keeps rows together; one that is too short
 * to feed workers gives way to the longest. */
uint32_t ms_cut_dimension(const int64_t *extents, uint32_t dims);

/* Into how many blocks a loop over an array's elements is cut, or over a sparse array's entries, if
 * its iterations are independent. 0: there are none. */
MS_API int64_t ms_partition_blocks(const ms_array *array);

/* Cuts 0..extent-1 by weight into at most `ranges` non-empty ranges; bounds[0..ranges] (0-based)
 * receives where each begins, and the end; how many they are.
 * Each range takes index values while that brings it nearer to an equal share of what is left. */
int64_t ms_cut_weights(const int64_t *weights, int64_t extent, int64_t ranges, int64_t *bounds);

#endif
