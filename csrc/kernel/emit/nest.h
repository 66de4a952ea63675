/* SPDX-License-Identifier: MIT
 *
 * Nests: the loops of a block function over integer ranges. See emitter.h. */
#ifndef MS_KERNEL_EMIT_NEST_H
#define MS_KERNEL_EMIT_NEST_H

#include "kernel/emit/emitter.h"

/* Whether a block is bounded by a row as well: rlo <= row . ordinals <= rhi. */
bool ms_nest_has_row(const ms_emitter *emitter);

/* Adds the bounds' parameters: lo and hi of every dimension, then those of the row. */
void ms_nest_bounds(ms_emitter *emitter);

/* Adds the loops, in row-major order and in the original direction; they need emitter->dims `end`s.
 * The index value of dimension d is in <prefix>x<d>, counted from 1. */
void ms_nest_loops(ms_emitter *emitter);

#endif
