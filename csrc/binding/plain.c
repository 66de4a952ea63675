/* SPDX-License-Identifier: MIT
 *
 * Small tables that lead nowhere. Larger ones meissa.base.encoded can tell in less time. */
#include <lauxlib.h>

#include "binding/binding.h"

static bool is_plain(lua_State *L, int at) {
  int type = lua_type(L, at);
  return type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TBOOLEAN;
}

/* Entries that are looked at: from the first one on, and behind the list, where what leads
 * elsewhere mostly stands: to encode that would take a copy of it for each way that leads there. */
#define MOST        32
#define MOST_BEHIND 1024

typedef enum ms_plain { MS_PLAIN, MS_PLAIN_NOT, MS_PLAIN_MORE } ms_plain;

/* What the entries behind the key on top of the stack are; takes that away. */
static ms_plain look(lua_State *L, int most) {
  for (int count = 0; lua_next(L, 1) != 0; count++) {
    bool plain = is_plain(L, -1) && is_plain(L, -2);
    lua_pop(L, 1);
    if (plain && count < most) continue;
    lua_pop(L, 1);
    return plain ? MS_PLAIN_MORE : MS_PLAIN_NOT;
  }
  return MS_PLAIN;
}

/* core.is_plain(table): whether all its keys and elements are numbers, strings and booleans; nil:
 * there are too many. Its metatable is not looked at. */
static int is_plain_table(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_pushnil(L);
  ms_plain plain = look(L, MOST);
  if (plain == MS_PLAIN_MORE) {
    size_t list = lua_objlen(L, 1);
    if (list > 0) {
      lua_pushnumber(L, (lua_Number)list);
    } else {
      lua_pushnil(L);
    }
    ms_plain rest = look(L, MOST_BEHIND);
    if (rest == MS_PLAIN_NOT || list == 0) plain = rest;
  }
  if (plain == MS_PLAIN_MORE) return 0;
  lua_pushboolean(L, plain == MS_PLAIN);
  return 1;
}

void ms_bind_plain(lua_State *L) {
  lua_pushcfunction(L, is_plain_table);
  lua_setfield(L, -2, "is_plain");
}
