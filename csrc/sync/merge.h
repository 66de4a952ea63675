/* SPDX-License-Identifier: MIT
 *
 * Merging: what blocks have put into DistArray buffers goes to the buffers' arrays (Orion: Wei et
 * al., EuroSys 2019).
 *
 * Element by element, what the blocks have left is merged in the plan's order of blocks. A sum has
 * nothing else to heed: its target is cut into slices, each of which takes from all blocks what is
 * its own, in as many threads as it is worth; the bits are those of one block after the other. A
 * rule of the user's is given all elements of a block, in ascending order, then those of the next,
 * by one thread, because it may remember what it has seen.
 *
 * Arrays that are no row-major vectors of doubles, or that share memory with another of the same
 * buffer, are merged as copies that are such vectors, and written at the end. No state. */
#ifndef MS_SYNC_MERGE_H
#define MS_SYNC_MERGE_H

#include <stdbool.h>

#include "array/array.h"
#include "sync/pending.h"

/* Told of elements first .. first + count of an array, in row-major order, before any of them is
 * changed; perhaps more than once, and by several threads at a time, of elements apart. */
typedef struct ms_merge_log {
  void (*note)(void *context, const ms_array *array, int64_t first, int64_t count);
  void *context;
} ms_merge_log;

/* A rule of merging: for each of `count` elements in turn, number at[k] of vectors[0] gets what the
 * rule makes of it, of pending[k], and of the same elements of the vectors that follow, which get
 * new values, too. -1 after an error that it has kept. */
typedef int ms_merge_rule(void *context, const int64_t *at, const double *pending, int64_t count,
                          double *const *vectors);

/* What is to be merged into the array of one buffer. */
typedef struct ms_merge {
  ms_array *const *arrays; /* the target, then its helpers; dense, of equal extents */
  uint32_t array_count;
  ms_merge_rule *apply; /* NULL: the sum */
  void *context;        /* the rule's */
  const ms_pending_part *parts;
  size_t part_count; /* in the plan's order of blocks */
} ms_merge;

/* Merges into one buffer after the other: first those that add, then those with a rule. `log` may
 * be NULL. After -1 some of it may be merged: MS_ARR for values that an array cannot hold or memory
 * that is out, MS_BUG for parts that are malformed; err is left alone where a rule has failed. */
int ms_merge_all(const ms_merge *merges, uint32_t count, const ms_merge_log *log, ms_error *err);

/* Whether merging sums of at most so many parts that are well formed into an array cannot fail. */
bool ms_merge_is_sure(const ms_array *array, size_t parts);

/* Adds what the parts have for elements first .. end of sum[0 .. count), slice by slice of `slice`
 * elements, telling the log of each slice that anything is added to. */
int ms_merge_range(double *sum, int64_t count, const ms_merge *merge, int64_t first, int64_t end,
                   int64_t slice, const ms_merge_log *log, ms_error *err);

#endif
