/* SPDX-License-Identifier: MIT
 *
 * Writing C: induction variables, integers though they are assigned again. */
#ifndef MS_KERNEL_NATIVE_C_INDUCTION_H
#define MS_KERNEL_NATIVE_C_INDUCTION_H

#include "kernel/native/c_integer.h"

/* An induction variable is away from MS_C_MOST by more than its steps. */
#define MS_C_COUNTED (MS_C_MOST - ((int64_t)1 << 20))

/* Whether a variable that is assigned again only ever holds integers. */
bool ms_c_is_induction(const ms_symbol *symbol);

/* The integer that is assigned to an induction variable. */
const char *ms_c_induction_counted(ms_writer *w, const ms_node *value);

#endif
