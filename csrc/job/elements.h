/* SPDX-License-Identifier: MIT
 *
 * Elements: those of an operand that a job may touch, as one sequence.
 *
 * An operand is an array with dimensions and strides, and a list of sections: ranges of rows of
 * each dimension, no two with an element in common. Its elements are those of the sections, one
 * section after the other, each row-major. What travels, is compared or is logged of an operand are
 * elements, so of views that cross each other nothing else is; where an element lies follows from
 * its subscripts alone, so all views of an operand see the same memory on either side. Both ends
 * number elements alike whatever their strides. Pure functions on caller's memory. */
#ifndef MS_JOB_ELEMENTS_H
#define MS_JOB_ELEMENTS_H

#include <string.h>

#include "job/operand.h"

typedef struct ms_elements {
  const ms_operand *operand;
  unsigned char *data; /* of the operand's element [1]...[1] */
  bool dense;          /* it lies there as in a worker's private copy */
  bool written;        /* only the elements that may be written */
  uint32_t dim;        /* of this dimension only ... */
  int64_t lo, hi;      /* ... the rows lo (included) to hi (excluded) */
} ms_elements;

/* All elements of an operand whose data lie at `data`; dense: as a worker's private copy has them.
 */
ms_elements ms_elements_of(const ms_operand *operand, const void *data, bool dense);

/* Those of a written operand that may be written: what comes back. */
ms_elements ms_elements_written(const ms_operand *operand, const void *data, bool dense);

/* Those of rows lo to hi of dimension `dim`, of all; bounds are clamped. */
ms_elements ms_elements_rows(const ms_elements *all, uint32_t dim, int64_t lo, int64_t hi);

/* The box that section number `n` is. */
ms_strided ms_elements_box(const ms_elements *elements, uint32_t n);

/* How many there are; -1 when that overflows. */
int64_t ms_elements_count(const ms_elements *elements);

/* Copies elements first .. first + count of the sequence to `out`, one after the other. */
void ms_elements_gather(const ms_elements *elements, int64_t first, int64_t count, void *out);

/* Copies `count` elements at `in` to the places first .. first + count of the sequence. */
void ms_elements_scatter(const ms_elements *elements, int64_t first, int64_t count, const void *in);

/* The address of elements that lie one behind the other in memory; NULL of others. */
unsigned char *ms_elements_in_a_row(const ms_elements *elements);

/* Copies `count` elements of `size` bytes that lie in a row; single ones by one load. */
static inline void ms_elements_copy(void *to, const void *from, size_t size, int64_t count) {
  if (count == 1 && size == 8) {
    memcpy(to, from, 8);
  } else if (count == 1 && size == 4) {
    memcpy(to, from, 4);
  } else {
    memcpy(to, from, (size_t)count * size);
  }
}

/* Where number `first` and those that follow it at equal distances lie. */
ms_strided_run ms_elements_run_at(const ms_elements *elements, int64_t first);

#endif
