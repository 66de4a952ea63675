/* SPDX-License-Identifier: MIT
 *
 * Fields: see field.h. */
#include "binding/field.h"

#include <lauxlib.h>
#include <string.h>

/* Type ids of LuaJIT's C data; the API has no call that tells. */
#define CDATA_TYPE 10

/* The address in a field: light userdata, a pointer made by FFI, or nil. */
void *ms_to_pointer(lua_State *L, int index, const char *name) {
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

void *ms_field_pointer(lua_State *L, int table, const char *name) {
  lua_getfield(L, table, name);
  void *value = ms_to_pointer(L, -1, name);
  lua_pop(L, 1);
  return value;
}

double ms_field_number(lua_State *L, int table, const char *name, double otherwise) {
  lua_getfield(L, table, name);
  double value = lua_isnil(L, -1) ? otherwise : lua_tonumber(L, -1);
  if (!lua_isnil(L, -1) && !lua_isnumber(L, -1)) luaL_error(L, "%s must be a number", name);
  lua_pop(L, 1);
  return value;
}

/* A field that is a count or an id: a whole number of at most 53 bits. */
uint64_t ms_field_count(lua_State *L, int table, const char *name, uint64_t otherwise) {
  double value = ms_field_number(L, table, name, (double)otherwise);
  if (!(value >= 0 && value <= 9007199254740992.0)) luaL_error(L, "%s is out of range", name);
  return (uint64_t)value;
}

/* A string field that stays in its table; NULL for nil. */
const char *ms_field_string(lua_State *L, int table, const char *name, size_t *size) {
  lua_getfield(L, table, name);
  const char *value = lua_tolstring(L, -1, size);
  if (value == NULL && !lua_isnil(L, -1)) luaL_error(L, "%s must be a string", name);
  if (value == NULL) *size = 0;
  lua_pop(L, 1);
  return value;
}

/* Memory that Lua frees, pushed on the stack. */
void *ms_scratch(lua_State *L, size_t count, size_t size) {
  if (count > SIZE_MAX / 2 / size) luaL_error(L, "too many elements");
  void *memory = lua_newuserdata(L, count * size + 1);
  memset(memory, 0, count * size + 1);
  return memory;
}
