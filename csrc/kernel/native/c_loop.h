/* SPDX-License-Identifier: MIT
 *
 * Writing C: numeric loops. */
#ifndef MS_KERNEL_NATIVE_C_LOOP_H
#define MS_KERNEL_NATIVE_C_LOOP_H

#include "kernel/native/c_region.h"

/* Up to here gcc unrolls a loop completely before it has made vectors of it, which is slower than
 * to do only the latter. */
#define MS_UNROLLED_TOO_EARLY 32

/* The same of a loop within another one, which only pays where it sums up nothing: what stays in
 * registers from one of its runs to the next is worth more than vectors of longer ones. */
#define MS_NEST_UNROLLED_TOO_EARLY 10

/* Appends a numeric `for` with its body: in a scope of its own and checked beforehand where its
 * ends are integers under guards. */
void ms_c_loop(ms_writer *w, const ms_node *loop);

/* Appends a loop over whole numbers around what `write` appends: an iteration, or with `strips`, a
 * C variable that takes the place of the loop's own, `by` of them; what is left then begins where
 * that variable is. False if guards of scopes that are open cannot vouch for its ends. */
bool ms_c_loop_jammed(ms_writer *w, const ms_node *loop, const char *strips, uint32_t by,
                      ms_c_write *write, const void *context);

/* How many iterations such a loop has if it goes by ones, as C; else NULL. */
const char *ms_c_loop_length(ms_writer *w, const ms_node *loop);

#endif
