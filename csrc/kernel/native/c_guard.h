/* SPDX-License-Identifier: MIT
 *
 * Writing C: guards, which hold where a scope's quick text runs. */
#ifndef MS_KERNEL_NATIVE_C_GUARD_H
#define MS_KERNEL_NATIVE_C_GUARD_H

#include "kernel/native/writer.h"

/* Adds a condition to a scope's guards. */
void ms_c_guard(ms_writer *w, uint32_t scope, const char *condition);

#endif
