/* SPDX-License-Identifier: MIT
 *
 * Errors of the core as Lua values. */
#include "binding/field.h"
#include "binding/lua.h"

int ms_lua_push_error(lua_State *L, const ms_error *err) {
  lua_pushnil(L);
  lua_createtable(L, 0, 4);
  ms_field_set_string(L, "code", ms_code_name(err->code));
  ms_field_set_string(L, "message", err->message);
  if (err->file[0] != '\0') {
    ms_field_set_string(L, "file", err->file);
  }
  if (err->line > 0) {
    ms_field_set_number(L, "line", err->line);
  }
  return 2;
}
