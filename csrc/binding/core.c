/* SPDX-License-Identifier: MIT
 *
 * The Lua module "meissa.core", behind its door (core_door.c): one table of the functions that need
 * a lua_State. Everything that
 * works on plain memory is called through LuaJIT's FFI instead, on the same shared object; its
 * declarations are the table's field `declarations`. */
#include <lauxlib.h>
#include <lua.h>

#include "base/api.h"
#include "binding/field.h"
#include "binding/lua.h"
#include "binding/reached.h"

MS_API int ms_core_open(lua_State *L);

/* What tools/declarations.lua made of the headers, for ffi.cdef. */
static const char declarations[] = {
#include "declarations.inc"
    0};

int ms_core_open(lua_State *L) {
  lua_newtable(L);
  ms_field_set_string(L, "declarations", declarations);
  ms_lua_open_analysis(L);
  ms_lua_open_chunks(L);
  ms_lua_open_kernel(L);
  ms_lua_open_launch(L);
  ms_lua_open_library(L);
  ms_lua_open_plain(L);
  ms_lua_open_merge(L);
  ms_lua_open_reached(L);
  ms_lua_open_run(L);
  ms_lua_open_runtime(L);
  ms_lua_open_traits(L);
  ms_lua_open_undo(L);
  ms_lua_open_verdict(L);
  ms_lua_open_worker(L);
  return 1;
}
