/* SPDX-License-Identifier: MIT
 *
 * What reports say of fast mode: whether it makes a region faster. */
#ifndef MS_KERNEL_NATIVE_C_ADVICE_H
#define MS_KERNEL_NATIVE_C_ADVICE_H

#include "kernel/native/writer.h"

/* Whether a region, which is a loop or the body's block, takes less time in float: it computes, and
 * nothing in it takes most of its time that takes as long either way: inner loops, which are
 * regions of their own, builtins on rows, and some functions. */
bool ms_c_advice_gains(ms_writer *w, const ms_node *region);

#endif
