/* SPDX-License-Identifier: MIT
 *
 * Writing C: comparisons. Integers are compared as such, also with captured numbers; numbers as
 * doubles; and what may be no number stops the block with LuaJIT's own words. */
#ifndef MS_KERNEL_NATIVE_C_COMPARISON_H
#define MS_KERNEL_NATIVE_C_COMPARISON_H

#include "kernel/native/writer.h"

/* A comparison's operator in C. */
const char *ms_c_comparison_op(ms_op op);

/* The value of a comparison: 0 or 1. */
ms_c_value ms_c_comparison(ms_writer *w, const ms_node *node);

#endif
