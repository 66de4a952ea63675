/* SPDX-License-Identifier: MIT
 *
 * The analyser in Lua, plans: captures to verdict.
 *
 * A plan userdata owns its verdict. It is made before the C memory that it will own, so a Lua error
 * on the way leaks nothing. Lua's thread only. */
#include <lauxlib.h>
#include <lua.h>

#include "binding/lua.h"

static const char plan_type[] = "meissa.plan";

typedef struct plan_box {
  ms_verdict *verdict;
} plan_box;

static int collect_plan(lua_State *L) {
  plan_box *box = luaL_checkudata(L, 1, plan_type);
  ms_verdict_destroy(&box->verdict);
  return 0;
}

ms_verdict *ms_lua_check_verdict(lua_State *L, int index) {
  if (index < 0) index += lua_gettop(L) + 1;
  bool table = lua_istable(L, index);
  if (table) lua_getfield(L, index, "handle");
  plan_box *box = luaL_checkudata(L, table ? -1 : index, plan_type);
  if (table) lua_pop(L, 1); /* the table still holds it */
  if (box->verdict == NULL) luaL_argerror(L, index, "the plan was released");
  return box->verdict;
}

/* core.plan(loop, bindings, space) */
static int make_plan(lua_State *L) {
  ms_error err = {0};
  const ms_loop *loop = ms_lua_check_loop(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  uint32_t count;
  ms_space space;
  const ms_binding *bindings = ms_lua_to_bindings(L, 2, &count);
  ms_lua_to_space(L, 3, &space);
  if (count < loop->capture_count)
    return luaL_argerror(L, 2, "fewer bindings than the loop has captures");
  if (space.source >= 0 && (uint32_t)space.source >= count)
    return luaL_argerror(L, 3, "source: no such binding");
  plan_box *box = lua_newuserdata(L, sizeof *box);
  box->verdict = NULL;
  luaL_getmetatable(L, plan_type);
  lua_setmetatable(L, -2);
  box->verdict = ms_verdict_new(loop, bindings, count, &space, &err);
  if (box->verdict == NULL) return ms_lua_push_error(L, &err);
  ms_lua_push_verdict(L, loop, bindings, box->verdict);
  lua_pushlightuserdata(L, box->verdict);
  lua_setfield(L, -2, "address");
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, "handle");
  return 1;
}

/* core.is_steady(loop, bindings, space, plan): see ms_verdict_is_steady; bindings have `each`, the
 * space `steady`. */
static int ask_steady(lua_State *L) {
  uint32_t count;
  ms_space space;
  const ms_loop *loop = ms_lua_check_loop(L, 1);
  const ms_verdict *verdict = ms_lua_check_verdict(L, 4);
  const ms_binding *bindings = ms_lua_to_bindings(L, 2, &count);
  ms_lua_to_space(L, 3, &space);
  luaL_argcheck(L, count >= loop->capture_count, 2, "fewer bindings than the loop has captures");
  lua_pushboolean(L, ms_verdict_is_steady(loop, bindings, count, &space, verdict));
  return 1;
}

/* core.follow(plan, main) -> whether it does: see ms_verdict_follow. */
static int follow_plan(lua_State *L) {
  lua_pushboolean(L, ms_verdict_follow(ms_lua_check_verdict(L, 1), ms_lua_check_verdict(L, 2)));
  return 1;
}

void ms_lua_open_verdict(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"plan", make_plan}, {"follow", follow_plan}, {"is_steady", ask_steady}, {NULL, NULL}};
  luaL_newmetatable(L, plan_type);
  lua_pushcfunction(L, collect_plan);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
  luaL_register(L, NULL, functions);
}
