/* SPDX-License-Identifier: MIT
 *
 * Writing C: parts of one dimension that `row:narrow(1, first, length)` and `A:select(d, i)` of a
 * matrix give: an ms_part_<type> of value.h, which is the operand of methods of rows, and has
 * elements. */
#ifndef MS_KERNEL_NATIVE_C_PART_H
#define MS_KERNEL_NATIVE_C_PART_H

#include "kernel/native/c_bounds_check.h"

/* Writes a call whose type is MS_OBJECT_PART. */
ms_c_value ms_c_part(ms_writer *w, const ms_node *node);

/* The subscript that `node` gives of a part, whose C text is given; to a temporary if `hold`. */
ms_c_bounds_check ms_c_part_key(ms_writer *w, const char *part, const ms_node *node, bool hold);

/* The lvalue of the element of a part of array `array` that a key says, which is checked. */
const char *ms_c_part_at(ms_writer *w, const char *part, const ms_c_bounds_check *key,
                         const ms_node *node, uint32_t array);

/* The same at once. */
const char *ms_c_part_element(ms_writer *w, const char *part, const ms_node *node, uint32_t array);

/* The row, or other part of an array, that `condition and A[i] or A[j]` gives; "" after a refusal.
 */
const char *ms_c_part_choice(ms_writer *w, const ms_node *node);

#endif
