/* SPDX-License-Identifier: MIT
 *
 * Places: see place.h. */
#include "binding/place.h"

#include <lauxlib.h>
#include <string.h>

#include "binding/field.h"

static ms_place_reach reach_of(lua_State *L, int table) {
  static const char *const names[] = {"nowhere", "frame", "upvalue", "global"};
  size_t size;
  const char *name = ms_field_string(L, table, "reach", &size);
  for (int r = 0; name != NULL && r < 4; r++) {
    if (strcmp(name, names[r]) == 0) return (ms_place_reach)r;
  }
  luaL_error(L, "reach is none of nowhere, frame, upvalue, global");
  return MS_PLACE_NOWHERE;
}

ms_variable_place ms_place_from_lua(lua_State *L, int names, int *count) {
  int table = lua_gettop(L);
  luaL_checktype(L, table, LUA_TTABLE);
  ms_variable_place place = {.reach = reach_of(L, table)};
  place.slot = (int)ms_field_count(L, table, "slot", 0);
  lua_getfield(L, table, "name");
  place.name = ++*count;
  lua_rawseti(L, names, place.name);
  lua_getfield(L, table, "fields");
  if (lua_istable(L, -1)) place.fields = (int)lua_objlen(L, -1);
  place.first_field = *count + 1;
  for (int f = 1; f <= place.fields; f++) {
    lua_rawgeti(L, -1, f);
    lua_rawseti(L, names, ++*count);
  }
  lua_pop(L, 1);
  return place;
}

/* Tables that stand behind one another by `__index`, at most. */
enum { MOST_BEHIND = 8 };

typedef enum behind { BEHIND_NOTHING, BEHIND_TABLE, BEHIND_FUNCTION } behind;

/* What `__index` has behind the table at the top; a table is put in its place. */
static behind go_behind(lua_State *L) {
  if (lua_getmetatable(L, -1) == 0) return BEHIND_NOTHING;
  lua_pushliteral(L, "__index");
  lua_rawget(L, -2);
  lua_remove(L, -2);
  if (lua_istable(L, -1)) {
    lua_replace(L, -2);
    return BEHIND_TABLE;
  }
  behind found = lua_isnil(L, -1) ? BEHIND_NOTHING : BEHIND_FUNCTION;
  lua_pop(L, 1);
  return found;
}

/* Puts the field with this name in the place of the table at the top; false if only a function may
 * give it. */
static bool step(lua_State *L, const ms_running *at, int name) {
  behind found = BEHIND_TABLE;
  for (int k = 0; k < MOST_BEHIND && found == BEHIND_TABLE; k++) {
    lua_rawgeti(L, at->names, name);
    lua_rawget(L, -2);
    if (!lua_isnil(L, -1)) {
      lua_remove(L, -2);
      return true;
    }
    lua_pop(L, 1);
    found = go_behind(L);
  }
  if (found != BEHIND_NOTHING) return false;
  lua_pop(L, 1);
  lua_pushnil(L);
  return true;
}

static bool push_root(lua_State *L, const ms_running *at, const ms_variable_place *place) {
  switch (place->reach) {
    case MS_PLACE_FRAME:
      if (lua_getlocal(L, at->frame, place->slot) == NULL) lua_pushnil(L);
      return true;
    case MS_PLACE_UPVALUE:
      if (lua_getupvalue(L, at->func, place->slot) == NULL) lua_pushnil(L);
      return true;
    case MS_PLACE_GLOBAL:
      lua_getfenv(L, at->func);
      if (lua_istable(L, -1) && step(L, at, place->name)) return true;
      lua_pop(L, 1);
      return false;
    default:
      lua_pushnil(L);
      return true;
  }
}

bool ms_place_is_own(lua_State *L, const ms_running *at, const ms_variable_place *place) {
  if (place->reach != MS_PLACE_GLOBAL) return true;
  lua_getfenv(L, at->func);
  lua_rawgeti(L, at->names, place->name);
  lua_rawget(L, -2);
  bool own = !lua_isnil(L, -1);
  lua_pop(L, 2);
  return own;
}

bool ms_place_push(lua_State *L, const ms_running *at, const ms_variable_place *place) {
  if (!push_root(L, at, place)) return false;
  for (int f = 0; f < place->fields; f++) {
    if (!lua_istable(L, -1)) {
      lua_pop(L, 1);
      lua_pushnil(L);
      return true;
    }
    if (!step(L, at, place->first_field + f)) {
      lua_pop(L, 1);
      return false;
    }
  }
  return true;
}

void ms_place_assign(lua_State *L, const ms_running *at, const ms_variable_place *place) {
  switch (place->reach) {
    case MS_PLACE_FRAME:
      lua_setlocal(L, at->frame, place->slot);
      return;
    case MS_PLACE_UPVALUE:
      lua_setupvalue(L, at->func, place->slot);
      return;
    case MS_PLACE_GLOBAL:
      lua_getfenv(L, at->func);
      lua_rawgeti(L, at->names, place->name);
      lua_pushvalue(L, -3);
      lua_rawset(L, -3);
      lua_pop(L, 2);
      return;
    default:
      lua_pop(L, 1);
      return;
  }
}
