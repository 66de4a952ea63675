/* SPDX-License-Identifier: MIT
 *
 * Splicing: an `if` that combines variables, and what blocks leave of that beside the values. */
#ifndef MS_KERNEL_EMIT_BRANCH_H
#define MS_KERNEL_EMIT_BRANCH_H

#include "kernel/emit/emitter.h"

/* Adds an `if`, rewritten. */
void ms_emitter_branch(ms_emitter *emitter, const ms_node *node);

#endif
