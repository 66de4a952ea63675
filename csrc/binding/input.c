/* SPDX-License-Identifier: MIT
 *
 * The analyser's input from Lua tables: bindings and iteration spaces. Malformed tables raise;
 * memory is a userdata on the Lua stack from the start. */
#include <lauxlib.h>
#include <lua.h>
#include <string.h>

#include "binding/binding.h"

/* Whole numbers of doubles without loss. */
#define LARGEST 9007199254740992.0

static double field_number(lua_State *L, int table, const char *key, double missing) {
  lua_getfield(L, table, key);
  double value = missing;
  if (!lua_isnil(L, -1)) {
    if (lua_type(L, -1) != LUA_TNUMBER) luaL_error(L, "%s must be a number", key);
    value = lua_tonumber(L, -1);
  }
  lua_pop(L, 1);
  return value;
}

static int64_t whole(lua_State *L, double value, const char *what) {
  if (!(value >= -LARGEST && value <= LARGEST) || value != (double)(int64_t)value)
    luaL_error(L, "%s must be a whole number", what);
  return (int64_t)value;
}

static uint32_t small(lua_State *L, double value, const char *what) {
  if (!(value >= 0 && value <= 1e9)) luaL_error(L, "%s is out of range", what);
  return (uint32_t)whole(L, value, what);
}

static bool field_boolean(lua_State *L, int table, const char *key) {
  lua_getfield(L, table, key);
  bool value = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return value;
}

/* The string stays alive in the table. */
static const char *field_string(lua_State *L, int table, const char *key) {
  lua_getfield(L, table, key);
  const char *value = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  lua_pop(L, 1);
  return value;
}

static ms_binding_kind kind_of(lua_State *L, int table) {
  static const char *const names[] = {"nil",   "number",  "boolean",  "string", "array",
                                      "table", "builtin", "function", "unknown"};
  lua_getfield(L, table, "kind");
  const char *kind = lua_tostring(L, -1);
  for (size_t k = 0; kind != NULL && k < sizeof names / sizeof names[0]; k++) {
    if (strcmp(names[k], kind) != 0) continue;
    lua_pop(L, 1);
    return (ms_binding_kind)k;
  }
  luaL_error(L, "unknown kind of binding: %s", kind == NULL ? "none" : kind);
  return MS_BIND_UNKNOWN;
}

/* dims = {d1, d2, ...}; the list is on top of the stack. */
static void read_dims(lua_State *L, ms_binding *binding) {
  size_t count = lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
  if (count < 1 || count > MS_MAX_DIMS)
    luaL_error(L, "an array has 1 to %d dimensions", MS_MAX_DIMS);
  binding->dim_count = (uint32_t)count;
  for (size_t k = 0; k < count; k++) {
    lua_rawgeti(L, -1, (int)k + 1);
    binding->dims[k] = whole(L, lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0.5, "dims");
    lua_pop(L, 1);
  }
}

static uint32_t *read_reached(lua_State *L, ms_binding *binding, uint32_t *room) {
  size_t count = lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
  binding->reached = room;
  binding->reached_count = (uint32_t)count;
  for (size_t k = 0; k < count; k++) {
    lua_rawgeti(L, -1, (int)k + 1);
    uint32_t index = small(L, lua_tonumber(L, -1), "reached");
    if (index < 1) luaL_error(L, "reached counts from 1");
    *room++ = index - 1;
    lua_pop(L, 1);
  }
  return room;
}

static uint32_t *read_binding(lua_State *L, int table, ms_binding *binding, uint32_t *room) {
  *binding = (ms_binding){.kind = kind_of(L, table)};
  binding->depth = small(L, field_number(L, table, "depth", 0), "depth");
  binding->number = field_number(L, table, "number", 0);
  binding->array = (uint64_t)whole(L, field_number(L, table, "array", 0), "array");
  binding->storage = (uint64_t)whole(L, field_number(L, table, "storage", 0), "storage");
  binding->buffers = (uint64_t)whole(L, field_number(L, table, "buffers", 0), "buffers");
  binding->sparse = field_boolean(L, table, "sparse");
  binding->scratch = field_boolean(L, table, "scratch");
  binding->integer = field_boolean(L, table, "integer");
  binding->draws = field_boolean(L, table, "draws");
  binding->changes = field_boolean(L, table, "changes");
  binding->stores = field_boolean(L, table, "stores");
  binding->aliased = field_boolean(L, table, "aliased");
  binding->alone = field_boolean(L, table, "alone");
  binding->reads = field_boolean(L, table, "reads");
  binding->name = field_string(L, table, "name");
  binding->impure = field_string(L, table, "impure");
  if (binding->kind == MS_BIND_ARRAY) {
    lua_getfield(L, table, "dims");
    read_dims(L, binding);
    lua_pop(L, 1);
  }
  lua_getfield(L, table, "reached");
  room = read_reached(L, binding, room);
  lua_pop(L, 1);
  return room;
}

/* How many indices all `reached` lists hold; checks that every binding is a table. */
static size_t count_reached(lua_State *L, int index, size_t count) {
  size_t total = 0;
  for (size_t b = 0; b < count; b++) {
    lua_rawgeti(L, index, (int)b + 1);
    if (!lua_istable(L, -1)) luaL_error(L, "binding %d is not a table", (int)b + 1);
    lua_getfield(L, -1, "reached");
    if (lua_istable(L, -1)) total += lua_objlen(L, -1);
    lua_pop(L, 2);
  }
  return total;
}

const ms_binding *ms_bindings_from_lua(lua_State *L, int index, uint32_t *count) {
  if (index < 0) index += lua_gettop(L) + 1;
  luaL_checktype(L, index, LUA_TTABLE);
  size_t bindings = lua_objlen(L, index);
  if (bindings > 100000) luaL_error(L, "too many bindings");
  size_t reached = count_reached(L, index, bindings);
  if (reached > 10000000) luaL_error(L, "too many reached arrays");
  size_t head = (bindings + 1) * sizeof(ms_binding);
  ms_binding *list = lua_newuserdata(L, head + (reached + 1) * sizeof(uint32_t));
  uint32_t *room = (uint32_t *)(void *)((char *)list + head), *end = room + reached;
  for (size_t b = 0; b < bindings; b++) {
    lua_rawgeti(L, index, (int)b + 1);
    uint32_t *next = read_binding(L, lua_gettop(L), &list[b], room);
    if (next > end) luaL_error(L, "bindings changed while they were read");
    room = next;
    lua_pop(L, 1);
  }
  *count = (uint32_t)bindings;
  return list;
}

static int64_t range_part(lua_State *L, int part, int64_t missing) {
  lua_rawgeti(L, -1, part);
  int64_t value = missing;
  if (!lua_isnil(L, -1) || part < 3)
    value = whole(L, lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0.5, "a range's bound");
  lua_pop(L, 1);
  return value;
}

void ms_space_from_lua(lua_State *L, int index, ms_space *space) {
  if (index < 0) index += lua_gettop(L) + 1;
  luaL_checktype(L, index, LUA_TTABLE);
  *space = (ms_space){.source = -1};
  lua_getfield(L, index, "ranges");
  size_t count = lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
  if (count < 1 || count > MS_MAX_DIMS)
    luaL_error(L, "an iteration space has 1 to %d ranges", MS_MAX_DIMS);
  space->dim_count = (uint32_t)count;
  for (size_t k = 0; k < count; k++) {
    lua_rawgeti(L, -1, (int)k + 1);
    if (!lua_istable(L, -1)) luaL_error(L, "a range is a table {lo, hi, step}");
    space->range[k] = (ms_range){range_part(L, 1, 0), range_part(L, 2, 0), range_part(L, 3, 1)};
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  lua_getfield(L, index, "source");
  if (!lua_isnil(L, -1)) space->source = (int32_t)small(L, lua_tonumber(L, -1), "source") - 1;
  if (!lua_isnil(L, -1) && space->source < 0) space->source = -2;
  lua_pop(L, 1);
  space->sparse = field_boolean(L, index, "sparse");
  space->ordered = field_boolean(L, index, "ordered");
  space->serial_allowed = field_boolean(L, index, "serial");
  space->impure = field_boolean(L, index, "impure");
  space->positions = field_boolean(L, index, "positions");
  space->collapse = small(L, field_number(L, index, "collapse", 1), "collapse");
  if (space->collapse < 1) luaL_error(L, "collapse counts from 1");
}
