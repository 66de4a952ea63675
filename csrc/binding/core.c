/* SPDX-License-Identifier: MIT
 *
 * The Lua module "meissa.core", behind its door (core_door.c): one table of the functions that need
 * a lua_State. Everything that
 * works on plain memory is called through LuaJIT's FFI instead, on the same shared object; its
 * declarations are the table's field `declarations`. */
#include <lauxlib.h>
#include <lua.h>

#include "base/api.h"
#include "binding/binding.h"
#include "binding/field.h"
#include "binding/reached.h"

MS_API int ms_core_open(lua_State *L);

/* What tools/declarations.lua made of the headers, for ffi.cdef. */
static const char declarations[] = {
#include "declarations.inc"
    0};

int ms_core_open(lua_State *L) {
  lua_newtable(L);
  ms_field_set_string(L, "declarations", declarations);
  ms_bind_analysis(L);
  ms_bind_chunks(L);
  ms_bind_kernel(L);
  ms_bind_launch(L);
  ms_bind_library(L);
  ms_bind_plain(L);
  ms_bind_merge(L);
  ms_bind_reached(L);
  ms_bind_run(L);
  ms_bind_runtime(L);
  ms_bind_traits(L);
  ms_bind_undo(L);
  ms_bind_verdict(L);
  ms_bind_worker(L);
  return 1;
}
