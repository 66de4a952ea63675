/* SPDX-License-Identifier: MIT
 *
 * Writing C: integers of which a comparison chooses one: `x > 1 and x - 1 or n`, and what a local
 * is after `if x < 1 then x = n end`. */
#ifndef MS_KERNEL_NATIVE_C_CHOSEN_H
#define MS_KERNEL_NATIVE_C_CHOSEN_H

#include "kernel/native/c_integer.h"

/* A node of an operator `or` as an integer, seen from scope `scope` (MS_SCOPES: from none). */
ms_integer_value ms_c_chosen(ms_writer *w, const ms_node *node, uint32_t scope);

/* The bounds of a variable where what is assumed holds. */
ms_integer_value ms_c_chosen_assume(ms_writer *w, const ms_symbol *symbol, ms_integer_value r);

/* Takes note of a local that has its last value after statement `at` of the block that declares it:
 * from its declaration on nothing has named it but `if`s of which each branch gives it a value. */
void ms_c_chosen_settle(ms_writer *w, const ms_node *block, uint32_t at);

/* Such a local as an integer. */
ms_integer_value ms_c_chosen_settled(ms_writer *w, const ms_symbol *symbol, uint32_t scope);

#endif
