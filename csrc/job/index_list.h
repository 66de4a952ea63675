/* SPDX-License-Identifier: MIT
 *
 * Index lists: the elements of an operand, served or written by lists, that one worker's blocks
 * will read.
 *
 * The driver forms the union of what the worker's blocks need, sends it once as LIST frames, and
 * from then on only values, in the list's order. Both ends keep it for further jobs with the same
 * needs and the same blocks on this worker: the driver here, the worker as a held copy under the
 * number `copy` (mapped_memory.h). A long list is in parts: each has, in ascending order, what some
 * of the worker's consecutive blocks need and those before them do not, so that blocks may run
 * while values for later ones travel. Belongs to the member. */
#ifndef MS_JOB_INDEX_LIST_H
#define MS_JOB_INDEX_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "job/elements.h"
#include "plan/needs.h"
#include "plan/schedule.h"

/* A place in a list. */
typedef struct ms_index_list_place {
  int64_t run, offset; /* elements of the run that are behind */
} ms_index_list_place;

#define MS_INDEX_LIST_PARTS 4

typedef struct ms_index_list_part {
  uint32_t position; /* of the first of the worker's blocks, in their order, that needs it */
  ms_index_list_place begin;
  int64_t elements;
} ms_index_list_part;

typedef struct ms_index_list {
  uint64_t needs; /* id of the needs that it is made of */
  uint64_t copy;  /* number of the worker's copy of the runs; above all operands' */
  ms_grid grid;   /* of the schedule, as `owner` is */
  ms_owner *owner;
  ms_span *runs;
  int64_t run_count, run_capacity, elements;
  ms_index_list_part part[MS_INDEX_LIST_PARTS];
  uint32_t part_count;
  uint64_t used; /* by this job last */
  uint64_t uses; /* times that something had to be sent for it */
  bool sent;     /* the worker has it, or will have when it gets the values */
} ms_index_list;

/* Numbers of lists among those of held copies are from here on. */
#define MS_INDEX_LIST_COPIES (UINT64_C(1) << 60)

/* The list for `worker`; NULL when memory is out. The caller frees it with ms_index_list_free. */
ms_index_list *ms_index_list_new(const ms_needs *needs, const ms_schedule *schedule,
                                 uint32_t worker);

/* Whether it is the list for these needs and this schedule. */
bool ms_index_list_is(const ms_index_list *indices, uint64_t needs, const ms_schedule *schedule);

/* Frees a list (NULL: nothing). */
void ms_index_list_free(ms_index_list *indices);

/* Copies the next `count` elements of the list of `run_count` runs from `all` to `out`, and moves
 * the place on. */
void ms_index_list_gather(const ms_span *runs, int64_t run_count, const ms_elements *all,
                          ms_index_list_place *place, int64_t count, void *out);

/* Copies `count` elements from `in` to where the list of `run_count` runs has them among `all`,
 * from `place` on; -1 when they do not fit. The runs need not be valid. */
int ms_index_list_scatter(const ms_span *runs, int64_t run_count, const ms_elements *all,
                          ms_index_list_place place, int64_t count, const void *in);

#endif
