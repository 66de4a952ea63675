/* SPDX-License-Identifier: MIT
 *
 * Element lists: of each block of a grid some elements of an array.
 *
 * Elements are numbered row-major from 0. A block's list is runs of them, ascending and apart, each
 * two numbers: the gap since the last run's end and its length, in groups of 7 bits, the lowest
 * first, the last group's high bit clear. So elements that lie anywhere take some two bytes each.
 * Driver and workers read the same bytes: the memory is somebody else's, and believed only as far
 * as it fits. Pure. */
#ifndef MS_PLAN_ELEMENT_LISTS_H
#define MS_PLAN_ELEMENT_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `count` elements from element `first` on. */
typedef struct ms_span {
  uint32_t first, count;
} ms_span;

/* Arrays with more elements have no lists. */
#define MS_LISTED_MOST ((int64_t)UINT32_MAX)

typedef struct ms_element_lists {
  int64_t blocks, elements; /* of the array */
  const int64_t *at;        /* block b's list is bytes at[b] .. at[b + 1] - 1, */
  const int64_t *before;    /* and the blocks before it have so many elements together */
  const char *bytes;
} ms_element_lists;

/* A place in a list. */
typedef struct ms_element_walk {
  const char *next, *end;
  int64_t last, elements; /* the end of the run before; of the array */
} ms_element_walk;

/* Most bytes of a run. */
#define MS_RUN_BYTES 18

/* Writes a run, of which the one before ends at `last`; where it ends. */
char *ms_element_lists_write_run(char *out, int64_t last, int64_t first, int64_t count);

/* Bytes of `at` and `before`. */
size_t ms_element_lists_head(int64_t blocks);

/* Lists as they lie in memory: first `at`, then `before`; `bytes` has room for `room`. False where
 * they do not fit. */
bool ms_element_lists_open(ms_element_lists *lists, const void *head, const void *bytes,
                           uint64_t room, int64_t blocks, int64_t elements);

/* Elements of all lists, or of one block's. */
int64_t ms_element_lists_count(const ms_element_lists *lists);
int64_t ms_element_lists_of(const ms_element_lists *lists, int64_t block);

/* The beginning of a block's list. */
ms_element_walk ms_element_lists_walk(const ms_element_lists *lists, int64_t block);

/* Takes the next run; false at the end, and at what is no run (then walk->next != walk->end). */
bool ms_element_walk_next(ms_element_walk *walk, ms_span *run);

#endif
