/* SPDX-License-Identifier: MIT
 *
 * Writing C: how often numeric loops run, as far as compilers should know it. */
#ifndef MS_KERNEL_NATIVE_C_TRIP_H
#define MS_KERNEL_NATIVE_C_TRIP_H

#include "kernel/native/c_integer.h"

/* A loop `for k = 1, K` over rows: K is likely to be the rows' length, which is noted to be tried
 * as a constant. Returns the number of iterations of an innermost loop if it is known or will be
 * tried so, else 0. */
int64_t ms_c_trip(ms_writer *w, const ms_node *loop, const ms_integer_value *limit);

/* Whether a loop does nothing but to store into elements side by side, one each time. */
bool ms_c_trip_is_elementwise(const ms_node *loop);

/* Whether a loop uses what it sums up before it ends, so that no vectors can be made of it. */
bool ms_c_trip_is_scan(const ms_node *loop);

/* Whether a loop stores at subscripts that it reads from arrays, as histograms do: no vectors can
 * be made of it either. */
bool ms_c_trip_is_scatter(const ms_node *loop);

/* How often a variable is named at a node and below it. */
uint32_t ms_c_trip_uses(const ms_node *node, const ms_symbol *symbol);

#endif
