/* SPDX-License-Identifier: MIT
 *
 * What sessions as Lua values (runtime.c) and the running of loops on them (run.c) share. */
#ifndef MS_BINDING_RUN_H
#define MS_BINDING_RUN_H

#include <lua.h>

#include "driver/session.h"

/* The session at `index`; raises if it is something else, or stopped. Owned by the userdata. */
ms_session **ms_run_check_session(lua_State *L, int index);

/* session:run(job), see run.c. */
int ms_session_run_job(lua_State *L);

#endif
