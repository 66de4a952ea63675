/* SPDX-License-Identifier: MIT
 *
 * Writing C: statements. */
#ifndef MS_KERNEL_NATIVE_C_STATEMENT_H
#define MS_KERNEL_NATIVE_C_STATEMENT_H

#include "kernel/native/writer.h"

/* Appends the statements of a block, whose labels are known in it; stops at a refusal. */
void ms_c_block(ms_writer *w, const ms_node *block);

/* Appends one statement. */
void ms_c_statement(ms_writer *w, const ms_node *node);

/* Declares a local and gives it a value. */
void ms_c_declare(ms_writer *w, const ms_symbol *symbol, ms_c_value value, const ms_node *from);

/* Evaluates kid[from ...] to `count` values as Lua adjusts lists, each held if `hold`. */
void ms_c_list(ms_writer *w, const ms_node *node, uint32_t from, ms_c_value *values, uint32_t count,
               bool hold);

#endif
