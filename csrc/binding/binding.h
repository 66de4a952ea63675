/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share. Each ms_bind_* adds its functions to the module table on
 * top of the stack and leaves the stack as it was. */
#ifndef MS_BINDING_BINDING_H
#define MS_BINDING_BINDING_H

#include <lua.h>

#include "base/error.h"

/* Pushes nil and a table {code=, message=, file=, line=}; returns 2, the number of results. */
int ms_push_error(lua_State *L, const ms_error *err);

/* runtime.c: core.session and core.executable; worker.c: core.worker. */
void ms_bind_runtime(lua_State *L);
void ms_bind_worker(lua_State *L);

#endif
