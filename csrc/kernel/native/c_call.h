/* SPDX-License-Identifier: MIT
 *
 * Writing C: calls of builtins and of functions whose text is known. */
#ifndef MS_KERNEL_NATIVE_C_CALL_H
#define MS_KERNEL_NATIVE_C_CALL_H

#include "kernel/native/writer.h"

/* A call's values: fills values[0 .. count-1]. */
void ms_c_call(ms_writer *w, const ms_node *node, ms_c_value *values, uint32_t count);

/* Evaluates a call's arguments as values of parameters. */
void ms_c_call_arguments(ms_writer *w, const ms_node *call, const ms_function *function,
                         ms_c_value *arguments);

/* `return` of an inlined function or of the closure form. */
void ms_c_call_return(ms_writer *w, const ms_node *node);

#endif
