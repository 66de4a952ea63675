/* SPDX-License-Identifier: MIT
 *
 * Ifs that combine: an `if` that sets reductions, and what blocks leave of that beside the values.
 */
#ifndef MS_KERNEL_EMIT_COMBINING_IF_H
#define MS_KERNEL_EMIT_COMBINING_IF_H

#include "kernel/emit/emitter.h"

/* Adds an `if`, rewritten. */
void ms_emitter_combining_if(ms_emitter *emitter, const ms_node *node);

#endif
