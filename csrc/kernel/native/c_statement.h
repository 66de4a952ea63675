/* SPDX-License-Identifier: MIT
 *
 * Writing C: statements. */
#ifndef MS_KERNEL_NATIVE_C_STATEMENT_H
#define MS_KERNEL_NATIVE_C_STATEMENT_H

#include "kernel/native/writer.h"

/* Appends the statements of a block, whose labels are known in it; stops at a refusal. */
void ms_c_statements(ms_writer *w, const ms_node *block);

/* Appends one statement. */
void ms_c_statement(ms_writer *w, const ms_node *node);

#endif
