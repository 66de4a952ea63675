/* SPDX-License-Identifier: MIT
 *
 * Small tables that lead nowhere. Larger ones meissa.base.encoded can tell in less time. */
#include <lauxlib.h>

#include "binding/lua.h"

static bool is_plain(lua_State *L, int at) {
  int type = lua_type(L, at);
  return type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TBOOLEAN;
}

/* Entries that are looked at. */
#define MOST 32

/* core.is_plain(table): whether all its keys and elements are numbers, strings and booleans; nil:
 * there are too many. Its metatable is not looked at. */
static int is_plain_table(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_pushnil(L);
  for (int count = 0; lua_next(L, 1) != 0; count++) {
    bool plain = is_plain(L, -1) && is_plain(L, -2);
    lua_pop(L, 1);
    if (plain && count < MOST) continue;
    if (plain) return 0;
    lua_pushboolean(L, false);
    return 1;
  }
  lua_pushboolean(L, true);
  return 1;
}

void ms_lua_open_plain(lua_State *L) {
  lua_pushcfunction(L, is_plain_table);
  lua_setfield(L, -2, "is_plain");
}
