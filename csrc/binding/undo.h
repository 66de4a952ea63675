/* SPDX-License-Identifier: MIT
 *
 * Undo logs as Lua values, for those who merge. */
#ifndef MS_BINDING_UNDO_H
#define MS_BINDING_UNDO_H

#include <lua.h>

#include "job/loop_undo.h"

/* The log at `index` that core.undo gave; NULL for nil, and for one of a loop that changes nothing.
 * Raises for anything else. */
ms_loop_undo *ms_check_undo(lua_State *L, int index);

#endif
