/* SPDX-License-Identifier: MIT
 *
 * Writing C: assignments. */
#ifndef MS_KERNEL_NATIVE_C_ASSIGN_H
#define MS_KERNEL_NATIVE_C_ASSIGN_H

#include "kernel/native/writer.h"

/* Appends an assignment of any number of targets and values, in Lua's order of evaluation. */
void ms_c_assignment(ms_writer *w, const ms_node *node);

#endif
