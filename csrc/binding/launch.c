/* SPDX-License-Identifier: MIT
 *
 * Launches as Lua calls: see launch.h.
 *
 * core.launches(kinds) -> again, sites: `again(...)`, called with the arguments of meissa.parallel,
 * looks by the running function and its line whether a launch in `sites` fits what is captured now;
 * runs the loop, assigns its variables, and gives the launch. Else it gives nil and has done
 * nothing: whatever is not as it was is for the long way. As a third value it gives the launch that
 * fits but for its plans, if there is one: none is for the numbers of now. Nothing that may raise
 * is called while a loop runs. */
#include "binding/launch.h"

#include <lauxlib.h>
#include <math.h>

#include "base/clock.h"
#include "binding/field.h"
#include "binding/launch_move.h"
#include "binding/lua.h"

/* Level of the function with the loop, seen from `again`. */
#define CALLER 3

/* What tells arrays and rows from other values: see ms_launch_move. */
#define KINDS lua_upvalueindex(2)

static bool is_called(lua_State *L, const ms_launch *of, const ms_running *at, int environment) {
  if (of->callee.reach == MS_PLACE_NOWHERE) return true;
  if (!ms_place_push(L, at, &of->callee)) return false;
  lua_rawgeti(L, environment, MS_LAUNCH_CALLEE);
  return lua_rawequal(L, -1, -2) != 0;
}

/* ---- running ---- */

/* The values before the loop. False where a reduction has none to start from. */
static bool begin_results(lua_State *L, const ms_launch *of, const ms_running *at) {
  for (uint32_t n = 0; n < of->result_count; n++) {
    const ms_launch_result *result = &of->results[n];
    const ms_captured_value *each = &of->captures[result->capture];
    ms_native_slot *scalar = &of->run->scalars[2 * (size_t)n];
    if (result->reduction && each->kind != MS_CAPTURED_NUMBER) return false;
    scalar[0].number = each->number;
    if (result->truth != NULL) scalar[0].whole = result->truth->whole = result->begins_true;
    scalar[1].whole = MS_NATIVE_NONE;
    if (!ms_place_is_own(L, at, &each->place)) return false;
  }
  return true;
}

static void assign_results(lua_State *L, const ms_launch *of, const ms_running *at) {
  for (uint32_t n = 0; n < of->result_count; n++) {
    const ms_native_slot *scalar = &of->run->scalars[2 * (size_t)n];
    if (scalar[1].whole == MS_NATIVE_NONE) continue;
    switch (scalar[1].whole) {
      case MS_NATIVE_NUMBER:
        lua_pushnumber(L, scalar[0].number);
        break;
      case MS_NATIVE_NIL:
        lua_pushnil(L);
        break;
      default:
        lua_pushboolean(L, scalar[1].whole == MS_NATIVE_TRUE);
    }
    ms_place_assign(L, at, &of->captures[of->results[n].capture].place);
  }
}

/* Says which loop it is that draws random numbers. */
static void begin_draws(const ms_launch *of) {
  if (of->draws == NULL) return;
  ms_draws *place = of->draws->pointer;
  place->seed = of->loops->seed;
  place->ordinal = (uint32_t)((uint64_t)of->loops->executed + 1);
}

static ms_pace_work work_of(const ms_launch *of, const ms_plan *plan) {
  uint32_t count = of->plans.width;
  for (uint32_t d = 0; d < of->datum_count; d++) {
    if (of->data[d].single) of->numbers[count++] = of->data[d].slot->number;
  }
  return (ms_pace_work){plan->volume, of->numbers, count};
}

/* Runs the loop by this plan; whether it has run. */
static bool run_plan(lua_State *L, ms_launch *of, const ms_running *at, const ms_plan *plan) {
  const ms_pace_work work = work_of(of, plan);
  if (!ms_pace_is_here(of->pace, &work, *of->most, INFINITY)) return false;
  if (!begin_results(L, of, at)) return false;
  for (uint32_t a = 0; a < of->argument_count; a++) {
    of->arguments[a].slot->number = of->captures[of->arguments[a].capture].number;
  }
  begin_draws(of);
  ms_launch_move_point(of);
  of->began = ms_clock_now();
  int32_t answer = ms_small_run_blocks(of->run, plan);
  of->ended = ms_clock_now();
  ms_launch_move_point_home(of);
  if (answer == MS_SMALL_UNCOMBINED) luaL_error(L, "BUG: a sum of what is no number");
  if (answer != MS_SMALL_RAN) return false;
  ms_pace_ran_here(of->pace, (double)(of->ended - of->began) * 1e-9, &work, *of->most);
  return true;
}

typedef enum trial { DIFFERS, WANTS_PLAN, RAN } trial;

/* Runs the loop if all is as it was. The launch is at the top of the stack. */
static trial try(lua_State *L, const ms_running *of, int count) {
  ms_launch *each = lua_touserdata(L, -1);
  if (each == NULL) return DIFFERS;
  lua_getfenv(L, -1);
  int environment = lua_gettop(L);
  ms_running at = *of;
  lua_rawgeti(L, environment, MS_LAUNCH_NAMES);
  lua_insert(L, environment); /* what follows goes back to the environment, at the top */
  at.names = environment++;
  double *ranges = each->numbers + each->plans.width - 2 * (size_t)each->range_count;
  each->called = ms_clock_now();
  bool same = ms_launch_read_space(L, each, count, environment, ranges) &&
              is_called(L, each, &at, environment) &&
              ms_launch_read_captures(L, each, &at, environment, KINDS, each->numbers);
  lua_settop(L, environment);
  if (!same) return DIFFERS;
  const ms_known_plan *known = ms_known_plans_find(&each->plans, each->numbers);
  if (known == NULL)
    known = ms_plan_line_follow(&each->line, &each->plans, each->numbers, each->step);
  if (known == NULL) return WANTS_PLAN;
  if (!run_plan(L, each, &at, known->plan)) return DIFFERS;
  assign_results(L, each, &at);
  return RAN;
}

#define STOCK_MASK (LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT)

/* Whether Ctrl-C came since there was the hook `before`: LuaJIT's own program then sets one that
 * would raise its error in whatever code comes next. It is taken off. */
static bool take_interrupt(lua_State *L, lua_Hook before) {
  bool came = lua_gethook(L) != before && lua_gethook(L) != NULL &&
              lua_gethookmask(L) == STOCK_MASK && lua_gethookcount(L) == 1;
  if (came) lua_sethook(L, NULL, 0, 0);
  return came;
}

/* again(...) -> launch, whether Ctrl-C came meanwhile; or nil, nil, the launch that wants a plan */
static int run_again(lua_State *L) {
  lua_Debug frame;
  lua_Hook hook = lua_gethook(L);
  int count = lua_gettop(L);
  if (count == 0 || count > MS_MAX_DIMS + 1 || lua_getstack(L, CALLER, &frame) == 0) return 0;
  luaL_checkstack(L, 40, "a parallel loop");
  lua_getinfo(L, "fl", &frame);
  const ms_running at = {.frame = &frame, .func = lua_gettop(L)};
  lua_pushvalue(L, at.func);
  lua_rawget(L, lua_upvalueindex(1));
  if (!lua_istable(L, -1)) return 0;
  lua_rawgeti(L, -1, frame.currentline);
  if (!lua_istable(L, -1)) return 0;
  int list = lua_gettop(L), wanting = 0;
  for (int k = 1; k <= (int)lua_objlen(L, list); k++) {
    lua_rawgeti(L, list, k);
    int own = lua_gettop(L);
    trial now = try(L, &at, count);
    lua_settop(L, own);
    if (now == RAN) {
      lua_pushboolean(L, take_interrupt(L, hook));
      return 2;
    }
    if (now == WANTS_PLAN && wanting == 0) wanting = k;
    lua_settop(L, list);
  }
  if (wanting == 0) return 0;
  lua_pushnil(L);
  lua_pushnil(L);
  lua_rawgeti(L, list, wanting);
  return 3;
}

/* ---- methods ---- */

/* Fills the numbers from the list at `index`. */
static void read_numbers(lua_State *L, int index, double *numbers, uint32_t count) {
  luaL_checktype(L, index, LUA_TTABLE);
  for (uint32_t k = 0; k < count; k++) {
    lua_rawgeti(L, index, (int)k + 1);
    numbers[k] = luaL_checknumber(L, -1);
    lua_pop(L, 1);
  }
}

/* launch:add(numbers, plan, number) -> whether the ms_plan for these numbers was not known */
static int add_plan(lua_State *L) {
  ms_launch *of = ms_launch_check(L);
  read_numbers(L, 2, of->numbers, of->plans.width);
  ms_plan *plan = ms_field_to_pointer(L, 3, "plan");
  uint64_t number = (uint64_t)luaL_checknumber(L, 4);
  bool added = ms_known_plans_find(&of->plans, of->numbers) == NULL &&
               ms_known_plans_add(&of->plans, of->numbers, plan, number);
  lua_pushboolean(L, added);
  return 1;
}

/* launch:set_line(from, each, least, most, terms): see ms_plan_line; terms, an ms_plan_terms
 * whose verdict lives as long as the launch, are copied */
static int set_line(lua_State *L) {
  ms_launch *of = ms_launch_check(L);
  double *from = of->line.from, *each = of->line.each;
  read_numbers(L, 2, from, of->plans.width);
  read_numbers(L, 3, each, of->plans.width);
  of->line = (ms_plan_line){.from = from,
                            .each = each,
                            .ranges = of->range_count,
                            .least = luaL_checknumber(L, 4),
                            .most = luaL_checknumber(L, 5),
                            .terms = *(const ms_plan_terms *)ms_field_to_pointer(L, 6, "terms")};
  return 0;
}

/* launch:numbers() -> those of the last execution */
static int tell_numbers(lua_State *L) {
  const ms_launch *of = ms_launch_check(L);
  lua_createtable(L, (int)of->plans.width, 0);
  for (uint32_t k = 0; k < of->plans.width; k++) {
    lua_pushnumber(L, of->numbers[k]);
    lua_rawseti(L, -2, (int)k + 1);
  }
  return 1;
}

/* launch:latest() -> the number of the plan that was run last, and when it was called, began and
 * ended, in seconds; then launch:kept() is what it was made with */
static int tell_latest(lua_State *L) {
  ms_launch *of = ms_launch_check(L);
  const ms_known_plans *plans = &of->plans;
  if (plans->latest == 0) return 0;
  lua_pushnumber(L, (double)plans->plans[plans->latest - 1].number);
  const uint64_t times[] = {of->called, of->began, of->ended};
  for (int k = 0; k < 3; k++) lua_pushnumber(L, (double)times[k] * 1e-9);
  return 4;
}

static int tell_kept(lua_State *L) {
  ms_launch_check(L);
  lua_getfenv(L, 1);
  lua_rawgeti(L, -1, MS_LAUNCH_KEPT);
  lua_getfield(L, -1, "kept");
  return 1;
}

static int collect_launch(lua_State *L) {
  ms_known_plans_clear(&ms_launch_check(L)->plans);
  return 0;
}

/* core.launches(kinds) -> again, sites: a table with weak keys: lists of launches by function and
 * line; `kinds` as for ms_launch_move */
static int make_sites(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, run_again, 2);
  lua_insert(L, -2);
  return 2;
}

void ms_lua_open_launch(lua_State *L) {
  static const luaL_Reg methods[] = {{"add", add_plan},         {"latest", tell_latest},
                                     {"kept", tell_kept},       {"set_line", set_line},
                                     {"numbers", tell_numbers}, {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"launch", ms_launch_make}, {"launches", make_sites}, {NULL, NULL}};
  luaL_newmetatable(L, MS_LAUNCH);
  lua_newtable(L);
  luaL_register(L, NULL, methods);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, collect_launch);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
  luaL_register(L, NULL, functions);
}
