/* SPDX-License-Identifier: MIT
 *
 * Section: ranges of rows of each dimension of an array. Pure functions on caller's memory. */
#ifndef MS_JOB_SECTION_H
#define MS_JOB_SECTION_H

#include <stdint.h>

#include "array/array.h"

typedef struct ms_section {
  int64_t low[MS_ARRAY_DIMS], high[MS_ARRAY_DIMS]; /* rows, 0-based, end excluded */
} ms_section;

/* More are not told apart. */
#define MS_MOST_SECTIONS 1024u

/* Number of elements in `dims` dimensions. They lie in an array, so this does not overflow. */
int64_t ms_section_count(const ms_section *section, uint32_t dims);

/* Writes sections without common elements that have the elements of the `given` ones together, at
 * most MS_MOST_SECTIONS. How many; 0 when they would be more. */
uint32_t ms_sections_disjoin(const ms_section *given, uint32_t count, uint32_t dims,
                             ms_section *apart);

#endif
