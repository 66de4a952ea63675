/* SPDX-License-Identifier: MIT
 *
 * Intervals: which integers can an expression of the body be? Used to leave out bounds checks that
 * cannot fail. Sound: `known` is set only if every value is an integer in [lo, hi]. */
#ifndef MS_KERNEL_EMIT_INTERVAL_H
#define MS_KERNEL_EMIT_INTERVAL_H

#include "kernel/emit/emitter.h"

typedef struct ms_interval {
  bool known;
  int64_t lo, hi;
} ms_interval;

/* The interval of an expression, from literals, captured numbers, loop indices, the variables of
 * numeric loops, and locals that are never assigned again, under + - * and % by a constant. */
ms_interval ms_interval_of(const ms_emitter *emitter, const ms_node *node);

#endif
