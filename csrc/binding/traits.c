/* SPDX-License-Identifier: MIT
 *
 * The core's constant tables as Lua tables: core.methods of array/method.h, core.strategies of
 * depend/strategy_traits.h. Each call makes a new one. */
#include <lua.h>

#include "array/method.h"
#include "binding/field.h"
#include "binding/lua.h"
#include "depend/strategy_traits.h"

/* core.methods() gives a list of {name =, most =, effect =, dimension =, rowwise =, takes =,
 * filled =, operation =}; see lua/meissa/array/method.lua. */
static int methods(lua_State *L) {
  const ms_method *method;
  lua_newtable(L);
  for (int k = 0; (method = ms_method_at(k)) != NULL; k++) {
    const char *number = method->other ? "both" : "number";
    lua_createtable(L, 0, 8);
    ms_field_set_string(L, "name", method->name);
    if (method->most != MS_METHOD_ANY) ms_field_set_number(L, "most", method->most);
    ms_field_set_string(L, "effect", ms_method_effect_name(method->effect));
    if (method->dimension > 0) ms_field_set_number(L, "dimension", method->dimension);
    ms_field_set_boolean(L, "rowwise", method->rowwise);
    ms_field_set_string(L, "takes", method->number ? number : method->other ? "other" : "none");
    ms_field_set_boolean(L, "filled", method->filled);
    ms_field_set_number(L, "operation", method->operation);
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}

/* core.strategies() gives {[name] = traits}; see lua/meissa/plan/strategy.lua. */
static int strategies(lua_State *L) {
  const ms_strategy_traits *traits;
  lua_newtable(L);
  for (int k = 0; (traits = ms_strategy_traits_of(k)) != NULL; k++) {
    lua_createtable(L, 0, 9);
    ms_field_set_string(L, "words", traits->words);
    ms_field_set_boolean(L, "any_axis", traits->any_axis);
    ms_field_set_boolean(L, "sweeps", traits->sweeps);
    ms_field_set_boolean(L, "alone", traits->alone);
    ms_field_set_boolean(L, "rotated", traits->rotated);
    ms_field_set_number(L, "chains", traits->chains);
    ms_field_set_boolean(L, "one_way", traits->one_way);
    ms_field_set_boolean(L, "unordered", traits->unordered);
    ms_field_set_boolean(L, "waits", ms_strategy_waits(k));
    lua_setfield(L, -2, traits->name);
  }
  return 1;
}

void ms_lua_open_traits(lua_State *L) {
  lua_pushcfunction(L, methods);
  lua_setfield(L, -2, "methods");
  lua_pushcfunction(L, strategies);
  lua_setfield(L, -2, "strategies");
}
