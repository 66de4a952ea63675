/* SPDX-License-Identifier: MIT
 *
 * Strict texts: a function of the program anew, with calls in the place of `^`, on which LuaJIT's
 * interpreter and compiler do not agree: so that it can be compiled. */
#ifndef MS_KERNEL_EMIT_STRICT_TEXT_H
#define MS_KERNEL_EMIT_STRICT_TEXT_H

#include "base/text.h"
#include "syntax/tree.h"

/* Appends a function as an expression, each a ^ b in it as (pow(a,b)). Its lines stand where they
 * do in the source, counted from the line that `function` is on. */
void ms_strict_text(const ms_tree *tree, const ms_function *function, const char *pow,
                    ms_text *out);

#endif
