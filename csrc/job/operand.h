/* SPDX-License-Identifier: MIT
 *
 * Operand: one piece of memory that a job's kernel works on, as both ends describe it.
 *
 * Where memory is shared an operand is a place in a segment and nothing moves. Where it is not,
 * each worker has a private copy of the same dimensions, and `movement` says what travels when: of
 * the elements that the job may touch, those of `sections` (elements.h). The record goes over the
 * wire as it is but for them and the lists (both ends have proved to be the same build), so it has
 * no padding, and ms_operand_check looks at every field before anything is believed. */
#ifndef MS_JOB_OPERAND_H
#define MS_JOB_OPERAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "job/section.h"
#include "job/strided.h"
#include "plan/element_lists.h"
#include "plan/plan.h"
#include "plan/travel.h"

typedef struct ms_operand {
  uint64_t id;                           /* of the memory; never reused for other memory */
  uint64_t version;                      /* of the contents; matters to `cached` and `served` */
  uint64_t segment, segment_size, place; /* shared memory: where element [1]...[1] lies */
  uint32_t movement;                     /* ms_movement */
  uint32_t written;                      /* 0 or 1 */
  uint32_t element;                      /* bytes of one */
  uint32_t dim_count;
  uint32_t array_dim;    /* local, rotated, versioned: the dimension whose rows follow ... */
  uint32_t cut;          /* ... this cut dimension, */
  int64_t scale, offset; /* at the 1-based row scale * index + offset */
  uint32_t slot, depth;  /* versioned: which memory it is, 0: of the start, 1 .. depth: of the ring,
                            round k of the job (from 0) writes number k % depth + 1 */
  uint64_t by_number; /* versioned, 1: range r, from 0, has row r + 1, whatever its indices are */
  int64_t dims[MS_ARRAY_DIMS];
  int64_t strides[MS_ARRAY_DIMS]; /* in elements, not negative */
  ms_writes writes;               /* of a written operand */
  uint64_t listed; /* 1 + the operand that has the head of `lists`, before that with their bytes; 0:
                      none, or not sent */
  uint64_t handed; /* the same of the lists of what each block hands over to others; 0: blocks touch
                      nothing that another one writes, or all is looked through */
  const ms_element_lists *lists; /* what each block may write, and none after it; NULL: not known.
                                    Not owned */
  uint64_t section_count;
  const ms_section *sections; /* no two with a common element; NULL: one, all of it. Not owned */
} ms_operand;

/* Whether of an operand only what lists have comes back. */
static inline bool ms_operand_goes_by_lists(const ms_operand *operand) {
  return operand->listed != 0 &&
         operand->movement == (operand->handed != 0 ? MS_MOVE_EXCHANGED : MS_MOVE_SCATTERED);
}

/* Whether rows of an operand follow the ranges of a cut. */
bool ms_operand_moves(const ms_operand *operand);

/* MS_ARR, naming operand number `number`, unless all of the operand is consistent: with itself,
 * with the grid, and for `shared` memory with its segment. */
int ms_operand_check(const ms_operand *operand, uint32_t number, const ms_grid *grid, bool shared,
                     ms_error *err);

/* Gives a written operand the movement that a plan has for it. */
void ms_operand_follow(ms_operand *operand, const ms_travel *travel);

/* All of an operand whose data lie at `data`; dense: as a worker's private copy has it. */
ms_strided ms_operand_box(const ms_operand *operand, void *data, bool dense);

/* The box of one section of an operand whose data lie at `data`. */
ms_strided ms_operand_part(const ms_operand *operand, const ms_section *section, void *data,
                           bool dense);

/* Finds lists of an operand among `count` operands, whose elements [1]...[1] are at `place`, for
 * the blocks of a grid: those whose `head` it names as `listed` or `handed`. MS_ARR for what are
 * none. */
int ms_operand_open_lists(const ms_operand *operands, uint32_t count, uint32_t number,
                          uint64_t head, void *const *place, const ms_grid *grid,
                          ms_element_lists *lists, ms_error *err);

/* Whether logging what lists of an operand have takes less time than logging all of it. */
bool ms_operand_lists_pay(const ms_operand *operand, const ms_element_lists *lists);

/* How many sections an operand has, and number `n` of them. */
uint32_t ms_operand_sections(const ms_operand *operand);
ms_section ms_operand_section(const ms_operand *operand, uint32_t n);

/* Bytes of a private copy. */
size_t ms_operand_bytes(const ms_operand *operand);

/* Elements of all sections. */
int64_t ms_operand_elements(const ms_operand *operand);

/* The rows of a section that may be written. */
ms_section ms_operand_writes_section(const ms_operand *operand, const ms_section *section);

/* Rows (0-based, end excluded, clamped to the array) that go with the ranges `first` .. `last` of
 * its cut. Where these are several the rows must lie side by side (ms_operand_joins). */
void ms_operand_rows(const ms_operand *operand, const ms_range_starts *bounds, uint32_t first,
                     uint32_t last, int64_t *lo, int64_t *hi);

/* Whether the rows of neighbouring ranges lie side by side, without others between them. */
bool ms_operand_joins(const ms_operand *operand);

/* Rows that may be written with range `range` of the axis that the operand's writes follow as
 * number `which`, counted from writes.low. */
void ms_operand_writes_rows(const ms_operand *operand, const ms_range_starts *bounds,
                            uint32_t which, uint32_t range, int64_t *lo, int64_t *hi);

/* Where, in the sequence of an operand's elements that may be written, all lie that `block` may
 * write: *first until before *end. */
void ms_operand_writes_span(const ms_operand *operand, const ms_grid *grid,
                            const ms_range_starts *bounds, uint32_t block, int64_t *first,
                            int64_t *end);

#endif
