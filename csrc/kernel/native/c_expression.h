/* SPDX-License-Identifier: MIT
 *
 * Writing C: expressions. See writer.h for what becomes of one. */
#ifndef MS_KERNEL_NATIVE_C_EXPRESSION_H
#define MS_KERNEL_NATIVE_C_EXPRESSION_H

#include "kernel/native/writer.h"

/* The first value of an expression. */
ms_c_value ms_c_expression(ms_writer *w, const ms_node *node);

/* An expression as a number: double, or float in fast mode if `single`. */
const char *ms_c_expression_operand(ms_writer *w, const ms_node *node, bool single);

/* An expression as a condition. */
const char *ms_c_expression_condition(ms_writer *w, const ms_node *node);

/* The first of a node's two operands, as it is when the second one has been evaluated. */
ms_c_value ms_c_expression_left(ms_writer *w, const ms_node *node);

/* Whether LuaJIT reads an operand when it computes, not before: a local variable of the function
 * that runs lies in a register. */
bool ms_c_expression_reads_late(const ms_writer *w, const ms_node *node);

/* Whether a node is `condition and yes or no` with a `yes` that is never false: one choice. The
 * last one is its second operand. */
bool ms_c_expression_is_choice(const ms_writer *w, const ms_node *node, const ms_node **condition,
                               const ms_node **yes);

/* The value of a local, named at `node`. */
ms_c_value ms_c_expression_local(ms_writer *w, const ms_symbol *symbol, const ms_node *node);

/* Evaluates kid[from ...] to `count` values as Lua adjusts lists, each held if `hold`. */
void ms_c_expression_list(ms_writer *w, const ms_node *node, uint32_t from, ms_c_value *values,
                          uint32_t count, bool hold);

#endif
