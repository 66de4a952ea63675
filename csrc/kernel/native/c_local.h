/* SPDX-License-Identifier: MIT
 *
 * Writing C: locals of the body as variables of C. */
#ifndef MS_KERNEL_NATIVE_C_LOCAL_H
#define MS_KERNEL_NATIVE_C_LOCAL_H

#include "kernel/native/writer.h"

/* Declares a local and gives it a value. */
void ms_c_local_declare(ms_writer *w, const ms_symbol *symbol, ms_c_value value,
                        const ms_node *from);

#endif
