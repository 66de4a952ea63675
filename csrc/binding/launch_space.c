/* SPDX-License-Identifier: MIT
 *
 * The arguments of a launch's call: ranges or an array, and options; see launch.h. */
#include <math.h>

#include "binding/launch.h"

/* A whole number that counts exactly. */
static bool read_whole(lua_State *L, int index, int64_t *value) {
  if (lua_type(L, index) != LUA_TNUMBER) return false;
  double number = lua_tonumber(L, index);
  if (!(fabs(number) <= 0x1p31) || number != floor(number)) return false;
  *value = (int64_t)number;
  return true;
}

static bool is_plain_table(lua_State *L, int index) {
  if (!lua_istable(L, index)) return false;
  if (lua_getmetatable(L, index) == 0) return true;
  lua_pop(L, 1);
  return false;
}

/* {first, last} or {first, last, step} */
static bool read_table(lua_State *L, int index, ms_range *range) {
  size_t length = lua_objlen(L, index);
  if (!is_plain_table(L, index) || length < 2 || length > 3) return false;
  int64_t *const parts[] = {&range->lo, &range->hi, &range->step};
  bool whole = true;
  for (size_t k = 0; k < length; k++) {
    lua_rawgeti(L, index, (int)k + 1);
    whole = whole && read_whole(L, -1, parts[k]);
    lua_pop(L, 1);
  }
  return whole;
}

/* The range that an argument says, with its last value as `hi`; false if it is empty. */
static bool read_range(lua_State *L, int index, ms_range *range) {
  *range = (ms_range){1, 0, 1};
  if (!read_whole(L, index, &range->hi) && !read_table(L, index, range)) return false;
  if (range->step == 0 || (range->hi - range->lo) / range->step < 0) return false;
  if (range->step > 0 ? range->hi < range->lo : range->hi > range->lo) return false;
  range->hi = range->lo + (range->hi - range->lo) / range->step * range->step;
  return true;
}

/* Whether two lists are the same, of which the first is a plain one. */
static bool same_list(lua_State *L, int one, int other) {
  size_t length = lua_objlen(L, one);
  bool same = is_plain_table(L, one) && lua_istable(L, other) && lua_objlen(L, other) == length;
  for (size_t k = 1; same && k <= length; k++) {
    lua_rawgeti(L, one, (int)k);
    lua_rawgeti(L, other, (int)k);
    same = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 2);
  }
  return same;
}

/* Whether the table at `index` has the options at `own`, and no others. */
static bool same_options(lua_State *L, int index, int own, uint32_t count) {
  uint32_t found = 0;
  if (!is_plain_table(L, index)) return false;
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    int value = lua_gettop(L);
    lua_pushvalue(L, value - 1);
    lua_rawget(L, own);
    if (lua_rawequal(L, value, value + 1) == 0 &&
        !(lua_istable(L, value) && same_list(L, value, value + 1)))
      return false;
    lua_settop(L, value - 1);
    found++;
  }
  return found == count;
}

bool ms_launch_read_space(lua_State *L, const ms_launch *of, int count, int environment,
                          double *numbers) {
  int spaces = of->space.array != NULL ? 1 : (int)of->range_count;
  if (count != spaces && count != spaces + 1) return false;
  if (count == spaces && of->option_count > 0) return false;
  if (count > spaces) {
    lua_rawgeti(L, environment, MS_LAUNCH_OPTIONS);
    bool same = same_options(L, count, lua_gettop(L), of->option_count);
    lua_settop(L, environment);
    if (!same) return false;
  }
  if (of->space.array != NULL) { /* the array is looked at as a value that is ms_captured_value */
    lua_rawgeti(L, environment, MS_LAUNCH_SEEN);
    lua_rawgeti(L, -1, 0);
    bool same = lua_rawequal(L, -1, 1) != 0;
    lua_settop(L, environment);
    return same;
  }
  for (uint32_t d = 0; d < of->range_count; d++) {
    ms_range range;
    if (!read_range(L, (int)d + 1, &range) || range.step != of->step[d]) return false;
    numbers[2 * d] = (double)range.lo;
    numbers[2 * d + 1] = (double)range.hi;
  }
  return true;
}
