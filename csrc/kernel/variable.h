/* SPDX-License-Identifier: MIT
 *
 * Variables: captured scalars that a block function assigns. See draft.h.
 *
 * A reduction begins at its operator's identity, a private scalar without a value. Blocks of
 * several dimensions may run in another order than the loop as written, so there the value of a
 * private scalar that outlives the loop is tracked: it comes with the iteration that gave it. */
#ifndef MS_KERNEL_VARIABLE_H
#define MS_KERNEL_VARIABLE_H

#include "kernel/draft.h"

/* Whether capture `at` is a variable of the block function. */
bool ms_variable_is(const ms_draft *draft, uint32_t at);

/* Whether the block function returns it. */
bool ms_variable_is_result(const ms_draft *draft, uint32_t at);

/* Whether it is returned with the iteration that assigned it last. */
bool ms_variable_is_tracked(const ms_draft *draft, uint32_t at);

/* Adds the declarations before the loops. */
void ms_variables_declare(ms_draft *draft, const ms_kernel_info *info);

/* Adds what comes before the body and after it in each iteration. */
void ms_variables_begin(ms_draft *draft);
void ms_variables_end(ms_draft *draft, const ms_kernel_info *info);

/* Adds the return statement and fills info->results. */
void ms_variables_return(ms_draft *draft, ms_kernel_info *info);

#endif
