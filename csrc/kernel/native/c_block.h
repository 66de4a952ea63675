/* SPDX-License-Identifier: MIT
 *
 * Writing C: the function of a block, the loops over a block around a body, and its parameters. */
#ifndef MS_KERNEL_NATIVE_C_BLOCK_H
#define MS_KERNEL_NATIVE_C_BLOCK_H

#include "kernel/native/writer.h"

/* Appends the inside of a block function; w->scopes and w->careful say which kind. */
void ms_c_block_function(ms_writer *w);

/* Appends names for the block's bounds. */
void ms_c_block_bounds(ms_writer *w);

#endif
