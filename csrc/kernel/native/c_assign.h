/* SPDX-License-Identifier: MIT
 *
 * Writing C: assignments. */
#ifndef MS_KERNEL_NATIVE_C_ASSIGN_H
#define MS_KERNEL_NATIVE_C_ASSIGN_H

#include <stdbool.h>

#include "kernel/native/writer.h"

/* Appends an assignment of any number of targets and values, in Lua's order of evaluation. */
void ms_c_assign(ms_writer *w, const ms_node *node);

/* Whether `if c then A[i] = x end` stands there, c a comparison, whose element might be chosen. */
bool ms_c_assign_is_update(const ms_writer *w, const ms_node *node);

/* Appends such an `if`. Where nothing in it may stop and c looks at the same element, that is
 * written in any case, with what it was or x: compilers vectorise that, and nobody sees it, as the
 * comparison keeps other iterations that write the element apart from this one. */
void ms_c_assign_update(ms_writer *w, const ms_node *node);

/* Appends `if c then A[i] = x else A[i] = y end` as one store of a choice, for which x and y are
 * computed in any case: a branch that goes either way costs more than an addition or two. False,
 * and nothing is appended, where it is no such `if`, or something but c takes statements. */
bool ms_c_assign_selection(ms_writer *w, const ms_node *node);

#endif
