/* SPDX-License-Identifier: MIT
 *
 * Writing C: expressions that take less time than a branch. */
#ifndef MS_KERNEL_NATIVE_C_PLAIN_H
#define MS_KERNEL_NATIVE_C_PLAIN_H

#include "kernel/native/writer.h"

/* Whether an expression is worth evaluating for nothing: made of few numbers, names and elements by
 * sums, products, comparisons, math.max and math.min alone. Where it has no statements it stops
 * nowhere. */
bool ms_c_is_plain(const ms_writer *w, const ms_node *node);

#endif
