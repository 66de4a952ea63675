/* SPDX-License-Identifier: MIT
 *
 * Making launches: see launch.h. All memory is userdata that the launch's environment keeps. */
#include <lauxlib.h>
#include <string.h>

#include "binding/field.h"
#include "binding/launch_move.h"
#include "binding/reached.h"

/* Memory that the launch at `index` keeps. */
static void *keep(lua_State *L, int kept, size_t count, size_t size) {
  void *memory = ms_field_scratch(L, count + 1, size);
  lua_rawseti(L, kept, (int)lua_objlen(L, kept) + 1);
  return memory;
}

static bool field_is_true(lua_State *L, int table, const char *name) {
  lua_getfield(L, table, name);
  bool yes = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return yes;
}

/* The list in a field, pushed; how long it is. */
static uint32_t push_list(lua_State *L, int table, const char *name) {
  lua_getfield(L, table, name);
  luaL_checktype(L, -1, LUA_TTABLE);
  return (uint32_t)lua_objlen(L, -1);
}

static void look_at_array(lua_State *L, int table, const char *name, ms_captured_value *value) {
  value->array = ms_field_pointer(L, table, name);
  if (value->array == NULL) return;
  value->id = value->array->id;
  value->generation = value->array->generation;
  value->version = value->array->version;
}

/* {reach, slot, name, fields, kind, parameter, object, array, written, rows, movable, pointer} */
static ms_captured_value read_captured(lua_State *L, int names, int *name_count) {
  int table = lua_gettop(L);
  size_t size;
  const char *kind = ms_field_string(L, table, "kind", &size);
  ms_captured_value each = {.place = ms_place_from_lua(L, names, name_count)};
  each.kind = kind == NULL                   ? MS_CAPTURED_SAME
              : strcmp(kind, "number") == 0  ? MS_CAPTURED_NUMBER
              : strcmp(kind, "nil") == 0     ? MS_CAPTURED_NIL
              : strcmp(kind, "reached") == 0 ? MS_CAPTURED_REACHED
                                             : MS_CAPTURED_SAME;
  each.parameter = field_is_true(L, table, "parameter");
  each.object = (uint32_t)ms_field_count(L, table, "object", 0);
  each.written = field_is_true(L, table, "written");
  look_at_array(L, table, "array", &each);
  each.rows = ms_field_pointer(L, table, "rows");
  each.home.movable = field_is_true(L, table, "movable");
  each.home.pointer = ms_field_pointer(L, table, "pointer");
  return each;
}

static void read_captures_of(lua_State *L, ms_launch *made, int names, int kept, int *name_count) {
  made->capture_count = push_list(L, 1, "captures");
  int list = lua_gettop(L);
  made->captures = keep(L, kept, made->capture_count, sizeof *made->captures);
  for (uint32_t c = 0; c < made->capture_count; c++) {
    lua_rawgeti(L, list, (int)c + 1);
    made->captures[c] = read_captured(L, names, name_count);
    made->plans.width += made->captures[c].parameter ? 1 : 0;
    lua_settop(L, list);
  }
  lua_pop(L, 1);
}

/* A capture that a list at the top names, from 0. */
static uint32_t capture_in(lua_State *L, const ms_launch *made, int table) {
  uint64_t capture = ms_field_count(L, table, "capture", 0);
  if (capture < 1 || capture > made->capture_count) luaL_error(L, "no such capture");
  return (uint32_t)capture - 1;
}

static void read_arguments(lua_State *L, ms_launch *made, int kept) {
  ms_native_slot *slots = ms_field_pointer(L, 1, "slots");
  made->argument_count = push_list(L, 1, "arguments");
  int list = lua_gettop(L);
  made->arguments = keep(L, kept, made->argument_count, sizeof *made->arguments);
  for (uint32_t a = 0; a < made->argument_count; a++) {
    lua_rawgeti(L, list, (int)a + 1);
    made->arguments[a] = (ms_launch_argument){slots + ms_field_count(L, list + 1, "slot", 0),
                                              capture_in(L, made, list + 1)};
    lua_settop(L, list);
  }
  lua_pop(L, 1);
}

/* {place, slot, single}, places from 0 */
static void read_data(lua_State *L, ms_launch *made, int kept) {
  made->datum_count = push_list(L, 1, "data");
  int list = lua_gettop(L);
  made->data = keep(L, kept, made->datum_count, sizeof *made->data);
  lua_getfield(L, 1, "reached");
  uint32_t places = lua_isnil(L, -1) ? 0 : ms_reached_check(L, list + 1)->count;
  lua_settop(L, list);
  for (uint32_t d = 0; d < made->datum_count; d++) {
    lua_rawgeti(L, list, (int)d + 1);
    made->data[d] = (ms_launch_datum){ms_field_pointer(L, list + 1, "slot"),
                                      (uint32_t)ms_field_count(L, list + 1, "place", 0),
                                      field_is_true(L, list + 1, "single")};
    if (made->data[d].place >= places) luaL_error(L, "no such place");
    lua_settop(L, list);
  }
  lua_pop(L, 1);
}

static void read_results(lua_State *L, ms_launch *made, int kept) {
  made->result_count = push_list(L, 1, "results");
  int list = lua_gettop(L);
  made->results = keep(L, kept, made->result_count, sizeof *made->results);
  for (uint32_t n = 0; n < made->result_count; n++) {
    lua_rawgeti(L, list, (int)n + 1);
    ms_launch_result *result = &made->results[n];
    *result = (ms_launch_result){.capture = capture_in(L, made, list + 1),
                                 .reduction = field_is_true(L, list + 1, "reduction"),
                                 .truth = ms_field_pointer(L, list + 1, "truth"),
                                 .begins_true = field_is_true(L, list + 1, "begins_true")};
    lua_settop(L, list);
  }
  lua_pop(L, 1);
}

static void read_space(lua_State *L, ms_launch *made) {
  look_at_array(L, 1, "space", &made->space);
  made->range_count = push_list(L, 1, "steps");
  luaL_argcheck(L, made->range_count <= MS_MAX_DIMS, 1, "too many ranges");
  for (uint32_t d = 0; d < made->range_count; d++) {
    lua_rawgeti(L, -1, (int)d + 1);
    made->step[d] = (int64_t)lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  made->plans.width += 2 * made->range_count;
}

int ms_launch_make(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  ms_launch *made = lua_newuserdata(L, sizeof *made);
  *made = (ms_launch){0};
  luaL_getmetatable(L, MS_LAUNCH);
  lua_setmetatable(L, 2);
  lua_createtable(L, MS_LAUNCH_MOVED, 0);
  lua_newtable(L);
  lua_newtable(L);
  const int environment = 3, names = 4, kept = 5;
  static const char *const fields[] = {"seen", "options", "kept", "parallel", "reached"};
  for (int k = MS_LAUNCH_SEEN; k <= MS_LAUNCH_REACHED; k++) {
    lua_getfield(L, 1, fields[k - MS_LAUNCH_SEEN]);
    if (k == MS_LAUNCH_KEPT) lua_setfield(L, kept, "kept");
    if (k == MS_LAUNCH_KEPT) lua_pushvalue(L, kept);
    lua_rawseti(L, environment, k);
  }
  lua_pushvalue(L, names);
  lua_rawseti(L, environment, MS_LAUNCH_NAMES);
  lua_getfield(L, 1, "moved");
  lua_rawseti(L, environment, MS_LAUNCH_MOVED);
  int name_count = 0;
  made->run = ms_field_pointer(L, 1, "run");
  made->pace = ms_field_pointer(L, 1, "pace");
  made->most = ms_field_pointer(L, 1, "most");
  made->draws = ms_field_pointer(L, 1, "draws");
  made->loops = ms_field_pointer(L, 1, "loops");
  made->option_count = (uint32_t)ms_field_count(L, 1, "option_count", 0);
  read_captures_of(L, made, names, kept, &name_count);
  read_arguments(L, made, kept);
  read_data(L, made, kept);
  read_results(L, made, kept);
  read_space(L, made);
  lua_getfield(L, 1, "callee");
  if (lua_istable(L, -1)) made->callee = ms_place_from_lua(L, names, &name_count);
  lua_settop(L, kept);
  made->numbers =
      keep(L, kept, (size_t)made->plans.width + made->datum_count, sizeof *made->numbers);
  made->line.from = keep(L, kept, made->plans.width, sizeof *made->line.from);
  made->line.each = keep(L, kept, made->plans.width, sizeof *made->line.each);
  lua_pushvalue(L, environment);
  lua_setfenv(L, 2);
  ms_launch_move_find_homes(made);
  lua_pushvalue(L, 2);
  return 1;
}

ms_launch *ms_launch_check(lua_State *L) {
  return luaL_checkudata(L, 1, MS_LAUNCH);
}
