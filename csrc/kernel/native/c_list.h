/* SPDX-License-Identifier: MIT
 *
 * Writing C: lists of numbers from outside of the loop, which it only reads. Their numbers are
 * copied for each execution, and a parameter as arrays are. */
#ifndef MS_KERNEL_NATIVE_C_LIST_H
#define MS_KERNEL_NATIVE_C_LIST_H

#include "kernel/native/c_integer.h"

/* #list */
ms_integer_value ms_c_list_length(ms_writer *w, const ms_node *list);

/* #list as a value. */
ms_c_value ms_c_list_count(ms_writer *w, const ms_node *list);

/* Reads list[k]. */
ms_c_value ms_c_list_element(ms_writer *w, const ms_node *node);

/* Appends `for k, v in ipairs(list) do`. */
void ms_c_for_list(ms_writer *w, const ms_node *loop, const ms_node *list);

#endif
