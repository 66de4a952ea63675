/* SPDX-License-Identifier: MIT
 *
 * The analyser's input from Lua tables: iteration spaces. See input.c. */
#include <lauxlib.h>
#include <lua.h>
#include <string.h>

#include "binding/field.h"
#include "binding/lua.h"

static int64_t range_part(lua_State *L, int part, int64_t missing) {
  lua_rawgeti(L, -1, part);
  int64_t value = missing;
  if (!lua_isnil(L, -1) || part < 3) value = ms_field_to_whole(L, -1, "a range's bound");
  lua_pop(L, 1);
  return value;
}

/* The list `versions` of a space, kept with it. */
static void read_versions(lua_State *L, int index, ms_space *space) {
  lua_getfield(L, index, "versions");
  size_t count = lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
  uint32_t *versions = lua_newuserdata(L, (count + 1) * sizeof *versions);
  lua_setfield(L, index, "versions_read");
  for (size_t c = 0; c < count; c++) {
    lua_rawgeti(L, -1, (int)c + 1);
    versions[c] = ms_field_to_small(L, -1, "versions");
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  space->versions = versions;
  space->version_count = (uint32_t)count;
}

/* {least =, most =, lo = by range, hi = by range} in the field `steady`. */
static void read_steady(lua_State *L, int table, ms_space *space) {
  lua_getfield(L, table, "steady");
  int steady = lua_gettop(L);
  space->steady.present = lua_istable(L, steady);
  if (space->steady.present) {
    space->steady.least = ms_field_whole(L, steady, "least", 0);
    space->steady.most = ms_field_whole(L, steady, "most", 0);
    lua_getfield(L, steady, "lo");
    lua_getfield(L, steady, "hi");
    for (uint32_t d = 0; d < space->dim_count; d++) {
      lua_rawgeti(L, steady + 1, (int)d + 1);
      lua_rawgeti(L, steady + 2, (int)d + 1);
      space->steady.lo_each[d] = (int64_t)lua_tonumber(L, -2);
      space->steady.hi_each[d] = (int64_t)lua_tonumber(L, -1);
      lua_pop(L, 2);
    }
  }
  lua_settop(L, steady - 1);
}

static ms_assumption assumption(const char *name) {
  if (name == NULL) return MS_ASSUME_NOTHING;
  return strcmp(name, "levels") == 0 ? MS_ASSUME_LEVELS : MS_ASSUME_INDEPENDENT;
}

void ms_lua_to_space(lua_State *L, int index, ms_space *space) {
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
  if (!lua_isnil(L, -1)) space->source = (int32_t)ms_field_to_small(L, -1, "source") - 1;
  if (!lua_isnil(L, -1) && space->source < 0) space->source = -2;
  lua_pop(L, 1);
  space->sparse = ms_field_boolean(L, index, "sparse");
  space->ordered = ms_field_boolean(L, index, "ordered");
  space->serial_allowed = ms_field_boolean(L, index, "serial");
  space->impure = ms_field_boolean(L, index, "impure");
  const char *assume = ms_field_string(L, index, "assume", NULL);
  space->assumes = assumption(assume);
  space->inspected = assume != NULL && strcmp(assume, "inspection") == 0;
  space->no_options = ms_field_boolean(L, index, "no_options");
  space->methods = ms_field_boolean(L, index, "methods");
  space->barred = ms_field_string(L, index, "barred", NULL);
  space->replicas = ms_field_boolean(L, index, "replicas");
  space->shared = ms_field_boolean(L, index, "shared");
  space->in_order = ms_field_boolean(L, index, "in_order");
  space->rounds = ms_field_boolean(L, index, "rounds");
  if (space->rounds) read_versions(L, index, space);
  space->parts_of = ms_field_whole(L, index, "parts_of", 0);
  space->parts_first = ms_field_whole(L, index, "parts_first", 1);
  space->positions = ms_field_boolean(L, index, "positions");
  space->collapse = ms_field_small(L, index, "collapse", 1);
  if (space->collapse < 1) luaL_error(L, "collapse counts from 1");
  read_steady(L, index, space);
}
