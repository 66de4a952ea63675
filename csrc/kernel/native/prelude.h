/* SPDX-License-Identifier: MIT
 *
 * The C text of which what it needs stands in front of every native kernel.
 *
 * It is the text of headers of the core, put into it by the build (PRELUDE in the Makefile), so
 * that a kernel inlines what the core runs for the Lua engine, and both have the same bits:
 *   kernel/native/native.h   the calling convention, which a kernel implements
 *   kernel/native/fault.h    ms_stop, ms_stop_wide
 *   base/lua_math.h        ms_mod (%), ms_math_pow (^), ms_math_*
 *   kernel/emit/lua_bit.h   ms_bit_*; ms_is_[whole_]subscript, ms_fits_*, ms_is_exact: checks of
 *                          subscripts, stored values and int64 elements
 *   array/rowwise.h        ms_row_<method>_<type>[_<type>](pointer, stride [, pointer, stride],
 *                          count [, x]): methods of float and double rows
 *   array/magnitudes.h     ms_row_magnitudes_<type>(pointer, stride, count)
 *   kernel/native/small_rows.h   ms_are_small: rows of small integers
 *   kernel/native/four_sums.h   ms_four_sums: four sums in one register
 *   array/touched.h   ms_touch, ms_touch_row: marks of what is stored into
 *   kernel/emit/draws.h    ms_draws, a record that a kernel gets as a pointer, and ms_draw_*: what
 *                          meissa.random and meissa.normal give (base/philox.h and base/normal.h
 *                          come before it)
 *   kernel/emit/philox_lanes.h   ms_lanes_*: the bits that they are made of, several at a time
 *   kernel/emit/ahead.h    ms_ahead_*: those of the next iterations, by what was drawn before
 *   kernel/emit/batch.h    ms_batch_*: those of many, for bodies that draw the same in each
 * A kernel must be linked with -lm, and compiled with the flags of kernel/compile/toolchain.h. */
#ifndef MS_KERNEL_NATIVE_PRELUDE_H
#define MS_KERNEL_NATIVE_PRELUDE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/api.h"
#include "base/text.h"

/* The text, in strict or fast mode, ending in a newline. Static. */
MS_API const char *ms_native_prelude(bool fast);

/* Appends what a kernel needs of it which has this text behind it, and a form feed: most need a
 * tenth, and the compiler reads no more than that. Thread safe. */
void ms_native_prelude_for(bool fast, const char *kernel, size_t size, ms_text *out);

#endif
