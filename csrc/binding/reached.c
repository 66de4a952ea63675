/* SPDX-License-Identifier: MIT
 *
 * What captured functions and tables lead to: see reached.h. */
#include "binding/reached.h"

#include <lauxlib.h>
#include <string.h>

/* What there is of a place in the environment, and in the list that Lua gives. */
enum { SUBJECT = 1, KEY, VALUE, PARTS = VALUE, LISTED };

/* Pushes the number of entries of a table. */
static void count_entries(lua_State *L, int table) {
  double count = 0;
  lua_pushnil(L);
  while (lua_next(L, table) != 0) {
    lua_pop(L, 1);
    count++;
  }
  lua_pushnumber(L, count);
}

/* Puts what is at a place above its key, which is at the top, in the place of its subject, which is
 * below, and the key. False where the subject is none. */
static bool read_place(lua_State *L, ms_reached_kind kind) {
  int subject = lua_gettop(L) - 1;
  bool fits = kind <= MS_REACHED_GLOBALS ? lua_isfunction(L, subject) : lua_istable(L, subject);
  if (!fits) return false;
  switch (kind) {
    case MS_REACHED_UPVALUE: {
      int number = (int)lua_tonumber(L, -1);
      if (lua_getupvalue(L, subject, number) == NULL) return false;
      break;
    }
    case MS_REACHED_GLOBALS:
      lua_getfenv(L, subject);
      break;
    case MS_REACHED_FIELD:
      lua_rawget(L, subject);
      break;
    case MS_REACHED_METATABLE:
      if (lua_getmetatable(L, subject) == 0) lua_pushnil(L);
      break;
    default:
      count_entries(L, subject);
  }
  lua_replace(L, subject);
  lua_settop(L, subject);
  return true;
}

static bool same_bits(double one, double other) {
  return memcmp(&one, &other, sizeof one) == 0;
}

/* Whether the value at the top is that of the place, which is below it. */
static bool same_value(lua_State *L, ms_reached *all, ms_reached_place *place) {
  if (lua_type(L, -1) != place->type) return false;
  if (place->type != LUA_TNUMBER) return lua_rawequal(L, -1, -2) != 0;
  double now = lua_tonumber(L, -1);
  if (same_bits(now, place->number)) return true;
  if (all->numbers_matter || place->kind == MS_REACHED_COUNT) return false;
  place->number = now;
  all->version++;
  return true;
}

bool ms_reached_same(lua_State *L, int index) {
  ms_reached *all = lua_touserdata(L, index);
  lua_getfenv(L, index);
  int parts = lua_gettop(L);
  bool same = true;
  for (uint32_t k = 0; same && k < all->count; k++) {
    int first = (int)k * PARTS;
    lua_rawgeti(L, parts, first + VALUE);
    lua_rawgeti(L, parts, first + SUBJECT);
    lua_rawgeti(L, parts, first + KEY);
    same = read_place(L, all->places[k].kind) && same_value(L, all, &all->places[k]);
    lua_settop(L, parts);
  }
  lua_pop(L, 1);
  return same;
}

ms_reached *ms_reached_check(lua_State *L, int index) {
  return luaL_checkudata(L, index, MS_REACHED);
}

static int tell_same(lua_State *L) {
  ms_reached_check(L, 1);
  luaL_checkstack(L, 10, "captured functions");
  lua_pushboolean(L, ms_reached_same(L, 1));
  return 1;
}

/* reached:version() -> another number after each `same` that has found other numbers */
static int tell_version(lua_State *L) {
  lua_pushnumber(L, ms_reached_check(L, 1)->version);
  return 1;
}

/* Reads place k of the list at 1 into the environment at `parts`. */
static void add_place(lua_State *L, ms_reached *made, uint32_t k, int parts) {
  int first = (int)k * LISTED;
  ms_reached_place *place = &made->places[k];
  lua_rawgeti(L, 1, first + 1);
  place->kind = (ms_reached_kind)lua_tonumber(L, -1);
  for (int part = SUBJECT; part <= VALUE; part++) {
    lua_rawgeti(L, 1, first + 1 + part);
    place->type = lua_type(L, -1);
    place->number = lua_tonumber(L, -1);
    lua_rawseti(L, parts, (int)k * PARTS + part);
  }
  lua_pop(L, 1);
}

static int make(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  int count = (int)luaL_checknumber(L, 2);
  luaL_argcheck(L, count >= 0 && count < (1 << 20), 2, "too many places");
  size_t size = sizeof(ms_reached) + (size_t)count * sizeof(ms_reached_place);
  ms_reached *made = lua_newuserdata(L, size);
  memset(made, 0, size);
  made->count = (uint32_t)count;
  made->numbers_matter = lua_toboolean(L, 3) != 0;
  luaL_getmetatable(L, MS_REACHED);
  lua_setmetatable(L, -2);
  lua_createtable(L, count * PARTS, 0);
  int parts = lua_gettop(L);
  for (uint32_t k = 0; k < made->count; k++) add_place(L, made, k, parts);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, parts);
  lua_setfenv(L, parts - 1);
  return 1;
}

/* reached:place_of(subject, key) -> the place of this upvalue or field, counted from 0; or nothing
 */
static int find_place(lua_State *L) {
  const ms_reached *of = ms_reached_check(L, 1);
  luaL_checkany(L, 3);
  lua_settop(L, 3);
  lua_getfenv(L, 1);
  for (uint32_t k = 0; k < of->count; k++) {
    ms_reached_kind kind = of->places[k].kind;
    if (kind != MS_REACHED_UPVALUE && kind != MS_REACHED_FIELD) continue;
    lua_rawgeti(L, 4, (int)k * PARTS + SUBJECT);
    lua_rawgeti(L, 4, (int)k * PARTS + KEY);
    bool found = lua_rawequal(L, 5, 2) != 0 && lua_rawequal(L, 6, 3) != 0;
    lua_settop(L, 4);
    if (!found) continue;
    lua_pushnumber(L, k);
    return 1;
  }
  return 0;
}

void ms_bind_reached(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"same", tell_same}, {"version", tell_version}, {"place_of", find_place}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"reached", make}, {NULL, NULL}};
  luaL_newmetatable(L, MS_REACHED);
  lua_newtable(L);
  luaL_register(L, NULL, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  luaL_register(L, NULL, functions);
}
