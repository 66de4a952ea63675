/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share. Each ms_lua_open_* adds its functions to the module table on
 * top of the stack and leaves the stack as it was. */
#ifndef MS_BINDING_LUA_H
#define MS_BINDING_LUA_H

#include <lua.h>

#include "base/error.h"
#include "depend/verdict.h"

/* Pushes nil and a table {code=, message=, file=, line=}; returns 2, the number of results. */
int ms_lua_push_error(lua_State *L, const ms_error *err);

/* runtime.c: core.session and core.executable; run.c: the type of its runs; worker.c: core.worker;
 * undo.c: core.undo; merge.c: core.merge. */
void ms_lua_open_runtime(lua_State *L);
void ms_lua_open_run(lua_State *L);
void ms_lua_open_merge(lua_State *L);
void ms_lua_open_worker(lua_State *L);
void ms_lua_open_undo(lua_State *L);

/* chunks.c: core.chunks, and the type of the chunks that it returns. */
void ms_lua_open_chunks(lua_State *L);

/* launch.c: core.launch, core.launches. */
void ms_lua_open_launch(lua_State *L);

/* analysis.c: core.loop, and the type of the loops that it returns. */
void ms_lua_open_analysis(lua_State *L);

/* verdict.c: core.plan, core.follow and core.is_steady, and the type of plans. */
void ms_lua_open_verdict(lua_State *L);

/* keys.c: the methods `keys` and `settle` of loops. */
int ms_lua_list_keys(lua_State *L);
int ms_lua_settle_keys(lua_State *L);

/* kernel.c: the method `strict` of loops. */
int ms_lua_strict_function(lua_State *L);

/* The loop or plan at `index`; raises if it is something else. A plan may also be given as the
 * table that core.plan returns. Owned by the userdata. */
ms_loop *ms_lua_check_loop(lua_State *L, int index);
ms_verdict *ms_lua_check_verdict(lua_State *L, int index);

/* Reads the table of bindings at `index` and pushes one userdata that holds the result; strings in
 * it live as long as the table keeps them. Raises on malformed input. */
const ms_binding *ms_lua_to_bindings(lua_State *L, int index, uint32_t *count);

/* Reads a space {ranges={{lo,hi,step},...}, source=, sparse=, ordered=, serial=, collapse=}.
 * `source` is the number of the binding whose entries the space is, 0 for an array that the body
 * does not capture, nil for integer ranges. Raises on malformed input. */
void ms_lua_to_space(lua_State *L, int index, ms_space *space);

/* Pushes the table that users see of a plan. */
void ms_lua_push_verdict(lua_State *L, const ms_loop *loop, const ms_binding *bindings,
                         const ms_verdict *verdict);

/* traits.c: core.methods, core.strategies. */
void ms_lua_open_traits(lua_State *L);

/* library.c: core.libraries. */
void ms_lua_open_library(lua_State *L);

/* plain.c: core.is_plain. */
void ms_lua_open_plain(lua_State *L);

/* kernel.c: core.emit, core.digest. */
void ms_lua_open_kernel(lua_State *L);

#endif
