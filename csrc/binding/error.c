/* SPDX-License-Identifier: MIT
 *
 * Errors of the core as Lua values. */
#include "binding/binding.h"

int ms_push_error(lua_State *L, const ms_error *err) {
  lua_pushnil(L);
  lua_createtable(L, 0, 4);
  lua_pushstring(L, ms_code_name(err->code));
  lua_setfield(L, -2, "code");
  lua_pushstring(L, err->message);
  lua_setfield(L, -2, "message");
  if (err->file[0] != '\0') {
    lua_pushstring(L, err->file);
    lua_setfield(L, -2, "file");
  }
  if (err->line > 0) {
    lua_pushinteger(L, err->line);
    lua_setfield(L, -2, "line");
  }
  return 2;
}
