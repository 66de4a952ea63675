/* SPDX-License-Identifier: MIT
 *
 * Walk, builtins: what functions of LuaJIT's and Meissa's own do, and what they give. */
#ifndef MS_DEPEND_BUILTIN_H
#define MS_DEPEND_BUILTIN_H

#include "depend/walk_state.h"

/* Walks a call of a builtin; false, with nothing done: the callee is none. */
bool ms_walk_builtin(ms_walk *walk, const ms_abstract_value *callee, ms_node *node,
                     ms_abstract_value *value);

#endif
