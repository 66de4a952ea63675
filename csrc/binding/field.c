/* SPDX-License-Identifier: MIT
 *
 * Fields: see field.h. */
#include "binding/field.h"

#include <lauxlib.h>
#include <string.h>

#include "array/type.h"

/* Type ids of LuaJIT's C data; the API has no call that tells. */
#define CDATA_TYPE 10

#define MOST_SMALL 1000000000

void *ms_field_to_pointer(lua_State *L, int index, const char *name) {
  int type = lua_type(L, index);
  if (type == LUA_TNIL) return NULL;
  if (type == LUA_TLIGHTUSERDATA) return lua_touserdata(L, index);
  if (type == CDATA_TYPE) {
    void *value;
    memcpy(&value, lua_topointer(L, index), sizeof value);
    return value;
  }
  luaL_error(L, "%s must be a pointer", name);
  return NULL;
}

static double to_number(lua_State *L, int index, const char *name) {
  if (lua_type(L, index) != LUA_TNUMBER) luaL_error(L, "%s must be a number", name);
  return lua_tonumber(L, index);
}

int64_t ms_field_to_whole(lua_State *L, int index, const char *name) {
  double value = to_number(L, index, name);
  if (!(value >= -MS_EXACT && value <= MS_EXACT) || value != (double)(int64_t)value)
    luaL_error(L, "%s must be a whole number", name);
  return (int64_t)value;
}

static uint64_t to_count(lua_State *L, int index, const char *name, int64_t most) {
  int64_t value = ms_field_to_whole(L, index, name);
  if (value < 0 || value > most) luaL_error(L, "%s is out of range", name);
  return (uint64_t)value;
}

uint32_t ms_field_to_small(lua_State *L, int index, const char *name) {
  return (uint32_t)to_count(L, index, name, MOST_SMALL);
}

void *ms_field_pointer(lua_State *L, int table, const char *name) {
  lua_getfield(L, table, name);
  void *value = ms_field_to_pointer(L, -1, name);
  lua_pop(L, 1);
  return value;
}

int64_t ms_field_whole(lua_State *L, int table, const char *name, int64_t otherwise) {
  lua_getfield(L, table, name);
  int64_t value = lua_isnil(L, -1) ? otherwise : ms_field_to_whole(L, -1, name);
  lua_pop(L, 1);
  return value;
}

uint32_t ms_field_small(lua_State *L, int table, const char *name, uint32_t otherwise) {
  lua_getfield(L, table, name);
  uint32_t value = lua_isnil(L, -1) ? otherwise : ms_field_to_small(L, -1, name);
  lua_pop(L, 1);
  return value;
}

double ms_field_number(lua_State *L, int table, const char *name, double otherwise) {
  lua_getfield(L, table, name);
  double value = lua_isnil(L, -1) ? otherwise : to_number(L, -1, name);
  lua_pop(L, 1);
  return value;
}

uint64_t ms_field_count(lua_State *L, int table, const char *name, uint64_t otherwise) {
  lua_getfield(L, table, name);
  uint64_t value = lua_isnil(L, -1) ? otherwise : to_count(L, -1, name, (int64_t)MS_EXACT);
  lua_pop(L, 1);
  return value;
}

bool ms_field_boolean(lua_State *L, int table, const char *name) {
  lua_getfield(L, table, name);
  bool value = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return value;
}

const char *ms_field_string(lua_State *L, int table, const char *name, size_t *size) {
  lua_getfield(L, table, name);
  if (lua_toboolean(L, -1) && lua_type(L, -1) != LUA_TSTRING)
    luaL_error(L, "%s must be a string", name);
  if (size != NULL) *size = 0;
  const char *value = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, size) : NULL;
  lua_pop(L, 1);
  return value;
}

void ms_field_set_number(lua_State *L, const char *name, double value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, name);
}

void ms_field_set_boolean(lua_State *L, const char *name, bool value) {
  lua_pushboolean(L, value);
  lua_setfield(L, -2, name);
}

void ms_field_set_string(lua_State *L, const char *name, const char *value) {
  if (value == NULL) return;
  lua_pushstring(L, value);
  lua_setfield(L, -2, name);
}

void *ms_field_scratch(lua_State *L, size_t count, size_t size) {
  if (count > SIZE_MAX / 2 / size) luaL_error(L, "too many elements");
  void *memory = lua_newuserdata(L, count * size + 1);
  memset(memory, 0, count * size + 1);
  return memory;
}
