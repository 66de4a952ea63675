/* SPDX-License-Identifier: MIT
 *
 * What a launch finds captured: see launch.h. */
#include "binding/launch.h"
#include "binding/launch_move.h"
#include "binding/lua.h"
#include "binding/reached.h"

/* Whether the array behind a value can be read, and written if the loop does that. */
static bool is_there(const ms_captured_value *value) {
  const ms_array *array = value->array;
  if (array == NULL) return true;
  return array->id == value->id && array->readable == value->generation &&
         (!value->written || array->writable == value->generation);
}

/* Whether what was made of a sparse array's values is made of those that it has now; its rows are
 * brought up to date. */
static bool is_current(const ms_captured_value *value) {
  ms_error err;
  if (value->rows == NULL) return true;
  ms_error_clear(&err);
  return ms_csr_get(value->array, &err) == value->rows;
}

/* Looks at one captured value, which is at the top of the stack. */
static bool look(lua_State *L, ms_captured_value *each, uint32_t c, int seen) {
  switch (each->kind) {
    case MS_CAPTURED_NUMBER:
      each->number = lua_tonumber(L, -1);
      return lua_type(L, -1) == LUA_TNUMBER;
    case MS_CAPTURED_NIL:
      return lua_isnil(L, -1);
    case MS_CAPTURED_REACHED:
      return true;
    default:
      lua_rawgeti(L, seen, (int)c + 1);
      return !lua_isnil(L, -1) && lua_rawequal(L, -1, -2) != 0;
  }
}

/* Whether captured functions and tables are the same objects as in the last launch. */
static bool are_same(lua_State *L, const ms_launch *of, const ms_running *at, int reached) {
  for (uint32_t c = 0; c < of->capture_count; c++) {
    const ms_captured_value *each = &of->captures[c];
    if (each->object == 0) continue;
    if (!ms_place_push(L, at, &each->place)) return false;
    if (!ms_reached_is_object(L, reached, each->object)) return false;
    lua_settop(L, reached);
  }
  return ms_reached_same(L, reached);
}

/* Whether other objects have the same form as those of the last launch, as functions and tables do
 * that the program makes anew for each. */
static bool are_alike(lua_State *L, const ms_launch *of, const ms_running *at, int reached) {
  lua_settop(L, reached);
  lua_newtable(L);
  int roots = reached + 1;
  for (uint32_t c = 0; c < of->capture_count; c++) {
    const ms_captured_value *each = &of->captures[c];
    if (each->object == 0) continue;
    if (!ms_place_push(L, at, &each->place)) return false;
    lua_rawgeti(L, roots, (int)each->object);
    bool other = !lua_isnil(L, -1) && lua_rawequal(L, -1, -2) == 0;
    lua_pop(L, 1);
    if (other) return false;
    lua_rawseti(L, roots, (int)each->object);
  }
  return ms_reached_alike(L, reached, roots);
}

/* Whether captured functions and tables lead to what they led to; what the kernel takes of it as
 * numbers is put into its slots. */
static bool read_reached(lua_State *L, const ms_launch *of, const ms_running *at, int environment) {
  lua_rawgeti(L, environment, MS_LAUNCH_REACHED);
  int reached = lua_gettop(L);
  const ms_reached *all = lua_touserdata(L, reached);
  if (all == NULL) return true;
  if (!are_same(L, of, at, reached) && !are_alike(L, of, at, reached)) return false;
  lua_settop(L, reached);
  for (uint32_t d = 0; d < of->datum_count; d++) {
    of->data[d].slot->number = all->places[of->data[d].place].number;
  }
  return true;
}

/* Whether a captured value, which is at the top of the stack, is what it was, or an array in the
 * place of another one. */
static bool read_capture(lua_State *L, ms_launch *of, uint32_t c, int environment, int seen,
                         int kinds) {
  ms_captured_value *each = &of->captures[c];
  int value = lua_gettop(L);
  each->moved = false;
  if (look(L, each, c, seen) && is_there(each) && is_current(each)) return true;
  lua_settop(L, value);
  if (!ms_launch_move(L, of, each, kinds)) return false;
  lua_rawgeti(L, environment, MS_LAUNCH_MOVED);
  lua_pushvalue(L, value);
  lua_rawseti(L, -2, (int)c + 1);
  return true;
}

bool ms_launch_read_captures(lua_State *L, ms_launch *of, const ms_running *at, int environment,
                             int kinds, double *numbers) {
  uint32_t parameters = 0;
  of->moved = 0;
  if (!read_reached(L, of, at, environment)) return false;
  lua_rawgeti(L, environment, MS_LAUNCH_SEEN);
  int seen = lua_gettop(L);
  for (uint32_t c = 0; c < of->capture_count; c++) {
    ms_captured_value *each = &of->captures[c];
    if (each->object != 0) continue;
    if (!ms_place_push(L, at, &each->place)) return false;
    if (!read_capture(L, of, c, environment, seen, kinds)) return false;
    lua_settop(L, seen);
    if (each->parameter) numbers[parameters++] = each->number;
  }
  if (!is_there(&of->space) || !ms_launch_move_is_apart(of)) return false;
  return of->space.array == NULL || of->space.version == of->space.array->version;
}
