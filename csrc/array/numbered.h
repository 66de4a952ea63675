/* SPDX-License-Identifier: MIT
 *
 * Numbered: numbers in ascending order that know where they stood. */
#ifndef MS_ARRAY_NUMBERED_H
#define MS_ARRAY_NUMBERED_H

#include <stddef.h>
#include <stdint.h>

typedef struct ms_numbered {
  int64_t number;
  uint32_t position; /* from 0 */
} ms_numbered;

/* At most 2^32 numbers, sorted, in memory that is the caller's to free; of equal ones any comes
 * first. NULL when memory is out. */
ms_numbered *ms_numbered_sorted(const int64_t *numbers, size_t count);

#endif
