/* SPDX-License-Identifier: MIT
 *
 * Strict arithmetic: the operations whose result LuaJIT's interpreter and compiler do not agree
 * on, with one definition for every engine. Thread safe. */
#ifndef MS_KERNEL_EMIT_STRICT_H
#define MS_KERNEL_EMIT_STRICT_H

#include "base/api.h"

/* x to the power of y: x * x for y = 2, else the C library's pow. */
MS_API double ms_strict_pow(double x, double y);

#endif
