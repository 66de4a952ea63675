/* SPDX-License-Identifier: MIT
 *
 * Writing C: lists of lists of numbers from outside of the loop, to any depth, which it only reads.
 * One of the inner lists is held as its number (MS_PARAM_STARTS), -1 where it is nil. */
#ifndef MS_KERNEL_NATIVE_C_LISTS_H
#define MS_KERNEL_NATIVE_C_LISTS_H

#include "kernel/native/writer.h"

/* Whether this is the outermost list, which is known by its name. */
bool ms_c_lists_is_all(const ms_writer *w, const ms_kind_of *kind);

/* Reads lists[k]: a list or a number. */
ms_c_value ms_c_lists_element(ms_writer *w, const ms_node *node);

/* #lists as a value. */
ms_c_value ms_c_lists_count(ms_writer *w, const ms_node *lists);

/* Appends `for k, v in ipairs(lists) do`. */
void ms_c_for_lists(ms_writer *w, const ms_node *loop, const ms_node *lists);

#endif
