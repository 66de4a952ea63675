/* SPDX-License-Identifier: MIT
 *
 * Writing C: functions that call themselves, directly or through each other. Each is a C function
 * of its own, of the text that careful blocks have: it computes with doubles and checks every
 * subscript. It reaches the kernel's parameters, and is given variables of functions around it
 * (c_upvalue.h), but nothing else that belongs to the block or an iteration: what blocks assign,
 * random numbers, tables of the body.
 *
 * It returns its first value, with the tag MS_NATIVE_NONE if it has stopped, and others through a
 * pointer. A call that a function ends with leaves no frame in Lua, so neither does it here: one of
 * a function whose text is around becomes a jump to its beginning, any other of the same cycle is
 * written in its place. */
#ifndef MS_KERNEL_NATIVE_C_RECURSIVE_H
#define MS_KERNEL_NATIVE_C_RECURSIVE_H

#include "kernel/native/writer.h"

/* Most parameters of a function of the user. */
#define MS_C_PARAMETERS 32

/* The expression that parameter `p` takes, or NULL. */
const ms_node *ms_c_recursive_argument(const ms_node *call, uint32_t p);

/* Calls a recursive function: fills values[0 .. count - 1]. */
void ms_c_recursive_call(ms_writer *w, const ms_node *call, const ms_node *function,
                         ms_c_value *values, uint32_t count);

/* Appends a `return` in a recursive function. */
void ms_c_recursive_return(ms_writer *w, const ms_node *node);

/* Writes the insides of all recursive functions that are called, behind the unpacking of
 * parameters. */
void ms_c_recursive_write(ms_writer *w);

/* How the definition of one begins. */
const char *ms_c_recursive_head(ms_writer *w, const ms_c_recursive *recursive);

#endif
