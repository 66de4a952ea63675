/* SPDX-License-Identifier: MIT
 *
 * Writing C: arithmetic of integers that are known while guards hold: their texts, bounds and
 * guards. What comes out may be unknown. */
#ifndef MS_KERNEL_NATIVE_C_WHOLE_H
#define MS_KERNEL_NATIVE_C_WHOLE_H

#include "kernel/native/c_integer.h"

/* The guard that says that both hold; each may be NULL, which always holds. */
const char *ms_c_whole_both(ms_writer *w, const char *a, const char *b);

/* a + b, or a - b if `minus`. */
ms_integer_value ms_c_whole_sum(ms_writer *w, const ms_integer_value *a, const ms_integer_value *b,
                                bool minus);

/* a * b. */
ms_integer_value ms_c_whole_product(ms_writer *w, const ms_integer_value *a,
                                    const ms_integer_value *b);

/* a % b with b > 0, which is a guard if it is not known. */
ms_integer_value ms_c_whole_remainder(ms_writer *w, const ms_integer_value *a,
                                      const ms_integer_value *b);

/* math.floor(a / b) with a constant b > 0. */
ms_integer_value ms_c_whole_quotient(ms_writer *w, const ms_integer_value *a,
                                     const ms_integer_value *b);

/* -a. */
ms_integer_value ms_c_whole_negated(ms_writer *w, const ms_integer_value *a);

/* math.max of two if `most`, else math.min. */
ms_integer_value ms_c_whole_extreme(ms_writer *w, const ms_integer_value *a,
                                    const ms_integer_value *b, bool most);

/* `condition ? yes : no`, of a condition with guards of its own. */
ms_integer_value ms_c_whole_choice(ms_writer *w, const char *condition, const char *needs,
                                   const ms_integer_value *yes, const ms_integer_value *no);

#endif
