/* SPDX-License-Identifier: MIT
 *
 * Operands: the pieces of memory that a job works on, each with its movement, as the driver has
 * them.
 *
 * Where memory is shared nothing moves. Where it is not, an array stays with the owner of a range,
 * goes along with ranges, is sent before the job, whole or as far as it is needed, returned after
 * it, or exchanged while it runs. What an operand is follows from the array or partition that it is
 * made of, as this is when it is added; how one that the loop writes moves, the plan says.
 *
 * A piece is in the list once, however often it is added. Operands are numbered from 1 in the order
 * in which they were added first. They keep nothing alive: whoever has the list keeps the arrays.
 * One thread. */
#ifndef MS_JOB_OPERANDS_H
#define MS_JOB_OPERANDS_H

#include <stdint.h>

#include "array/array.h"
#include "array/csr.h"
#include "array/partition.h"
#include "base/api.h"
#include "base/error.h"
#include "job/operand.h"
#include "plan/needs.h"

/* One piece of memory that a job works on, as the driver holds it. */
typedef struct MS_API_TYPE ms_job_operand {
  ms_operand operand;        /* segment, segment_size and place are filled in by ms_session_run */
  unsigned char *data;       /* element [1]...[1] */
  const ms_segment *segment; /* that `data` lies in, NULL: none; needed where it is shared */
  const ms_needs *needs;     /* served: what each block needs, for the job's grid; NULL: all. Of one
                                that is written, and has lists of that, what it has to see */
  uint32_t binding; /* 1 + the loop's binding that it is: the plan says whether it is written, and
                       how it moves then; 0: `operand` does */
  uint32_t seen;    /* 1: who runs blocks looks at what was there, whatever the plan says */
  const int64_t *offsets; /* cached: rows offsets[b] .. offsets[b + 1] of the first dimension
                             belong to block b; NULL: all rows to everyone */
  uint64_t
      store; /* of a dense array, whose contents get versions where it travels by value; or 0 */
} ms_job_operand;

typedef struct MS_API_TYPE ms_operands {
  uint32_t count, room;
  uint32_t by_value; /* 1: memory is not shared */
  ms_job_operand *list;
  uint64_t *ids; /* of the operands, again: those of versions are thousands */
} ms_operands;

/* An empty list; NULL and MS_ARR when memory is out. */
MS_API ms_operands *ms_operands_new(uint32_t by_value, ms_error *err);

/* Frees it (NULL: nothing). */
MS_API void ms_operands_free(ms_operands *operands);

/* The number of the operand with an id; 0: there is none. */
MS_API uint32_t ms_operands_number(const ms_operands *operands, uint64_t id);

/* The functions that follow give an operand's number, or -1 with MS_ARR when memory is out. */

/* A dense array. `binding`: 1 + that of the loop which it is; 0 for one that the loop only reads;
 * then `needs` is what blocks need of it, NULL: all. */
MS_API int ms_operands_array(ms_operands *operands, const ms_array *array, uint32_t binding,
                             const ms_needs *needs, ms_error *err);

/* Gives a dense array that is written, operand `number`, the lists of what each block may write and
 * none does after it, and of what it hands over to others (NULL: no other block touches what one
 * writes), which lie in the data of `holder`. `needs` is what blocks have to see of what was there
 * before, where it travels by value, NULL: all. Nothing is done where the lists are no gain. */
MS_API int ms_operands_list(ms_operands *operands, uint32_t number, const ms_needs *writes,
                            const ms_needs *handed, const ms_array *holder, const ms_needs *needs,
                            ms_error *err);

/* What several views of one memory lie in. */
typedef struct MS_API_TYPE ms_view_base {
  uint64_t id;
  int64_t place; /* of element [1]...[1], bytes from the segment's beginning on */
  uint32_t dim_count;
  uint32_t part_count; /* of it travel these sections, which may overlap; 0: all */
  int64_t dims[MS_ARRAY_DIMS], strides[MS_ARRAY_DIMS];
  const ms_section *parts;
} ms_view_base;

/* The base of a view; `binding` as above. */
MS_API int ms_operands_base(ms_operands *operands, const ms_array *view, const ms_view_base *base,
                            uint32_t binding, ms_error *err);

/* The values of a sparse array; `binding` as above. */
MS_API int ms_operands_values(ms_operands *operands, const ms_array *array, uint32_t binding,
                              ms_error *err);

/* The coordinates of its entries in dimension `dim`, from 0. */
MS_API int ms_operands_coords(ms_operands *operands, const ms_array *array, uint32_t dim,
                              ms_error *err);

/* Its compressed rows, which are up to date: `part` 0 is their starts, 1 the values, `d` the
 * columns of dimension d + 1. */
MS_API int ms_operands_rows(ms_operands *operands, const ms_array *array, const ms_csr *rows,
                            uint32_t part, ms_error *err);

/* Of a partition's entries the coordinates of dimension `part`, from 1; 0: the values. */
MS_API int ms_operands_entries(ms_operands *operands, const ms_partition *partition, uint32_t part,
                               ms_error *err);

/* Where the blocks of a partition begin, and the last one ends. */
MS_API int ms_operands_starts(ms_operands *operands, const ms_partition *partition, ms_error *err);

/* An array that never changes once it is there. */
MS_API int ms_operands_constant(ms_operands *operands, const ms_array *array, ms_error *err);

/* How an operand moves where no plan says it; see ms_operand. */
typedef struct MS_API_TYPE ms_operand_move {
  uint32_t movement, written, array_dim, cut;
  int64_t scale, offset;
  uint32_t slot, depth, by_number;
} ms_operand_move;

/* Gives operand `number` a movement. All of it may be written, with the ranges of the cut if its
 * rows move along with these. */
MS_API void ms_operands_move(ms_operands *operands, uint32_t number, const ms_operand_move *move);

/* Writes the fingerprint of the elements of operand `number` that travel. Their bytes where they
 * lie one behind the other, else 0. */
MS_API size_t ms_operands_print(const ms_operands *operands, uint32_t number, uint64_t print[2]);

#endif
