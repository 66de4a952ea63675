/* SPDX-License-Identifier: MIT
 *
 * Writing C: parts of one dimension that `row:narrow(1, first, length)` and `A:select(d, i)` of a
 * matrix give: an ms_part_<type> of value.h, which is the operand of methods of rows. */
#ifndef MS_KERNEL_NATIVE_C_PART_H
#define MS_KERNEL_NATIVE_C_PART_H

#include "kernel/native/writer.h"

/* Writes a call whose type is MS_OBJECT_PART. */
ms_c_value ms_c_part(ms_writer *w, const ms_node *node);

#endif
