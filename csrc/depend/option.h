/* SPDX-License-Identifier: MIT
 *
 * Option: how the user sets an option of a loop, as code that is valid where the loop stands: in
 * the call, or in the table that the call is handed. */
#ifndef MS_DEPEND_OPTION_H
#define MS_DEPEND_OPTION_H

#include "depend/walk_state.h"

/* The code that sets `option`, such as "serial = true":
 *
 *   parallel(n)                    parallel(n, {serial = true})
 *   parallel(n, {grid = {4}})      parallel(n, {serial = true, grid = {4}})
 *   parallel(n, {serial = false})  parallel(n, {serial = true})
 *   parallel(n, opts)              opts.serial = true
 *   parallel(n, make())            serial = true in the options
 *   parallel(unpack(ranges))       the same
 *
 * Of the closure form's call only the options are shown, of a long one, too. NULL: memory. */
const char *ms_option_code(const ms_walk *walk, ms_arena *arena, const char *option);

#endif
