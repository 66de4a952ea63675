/* SPDX-License-Identifier: MIT
 *
 * Merging into buffers: see merge.h; and for loops that run in this process
 *
 *   core.merge({{arrays =, apply =, parts = {string, ...}}, ...}, log) -> true | nil, error
 *
 * `parts` are what ms_pending_take gave of blocks, in the plan's order; `log`, that core.undo gave,
 * may be nil. What a rule raises is raised. */
#include "binding/merge.h"

#include <lauxlib.h>

#include "binding/field.h"
#include "binding/lua.h"
#include "binding/undo.h"

/* A Lua function that is a rule of merging. */
typedef struct rule {
  ms_rule_state *state;
  int function; /* its place on the stack */
  int vectors;
} rule;

static int apply(void *context, const int64_t *at, const double *pending, int64_t count,
                 double *const *vectors) {
  const rule *self = context;
  lua_State *L = self->state->L;
  if (!lua_checkstack(L, self->vectors + LUA_MINSTACK)) return -1;
  lua_pushvalue(L, self->function);
  lua_pushlightuserdata(L, (void *)(size_t)at);
  lua_pushlightuserdata(L, (void *)(size_t)pending);
  lua_pushnumber(L, (lua_Number)count);
  for (int v = 0; v < self->vectors; v++) lua_pushlightuserdata(L, vectors[v]);
  if (lua_pcall(L, 3 + self->vectors, 0, 0) == 0) return 0;
  self->state->failed = true;
  lua_replace(L, self->state->error);
  return -1;
}

void ms_rule_state_begin(lua_State *L, ms_rule_state *state) {
  lua_pushnil(L);
  *state = (ms_rule_state){.L = L, .error = lua_gettop(L)};
}

void ms_read_merge(lua_State *L, int table, ms_rule_state *state, ms_merge *merge) {
  luaL_checkstack(L, LUA_MINSTACK, NULL);
  lua_getfield(L, table, "arrays");
  int list = lua_gettop(L);
  luaL_checktype(L, list, LUA_TTABLE);
  size_t count = lua_objlen(L, list);
  if (count == 0) luaL_error(L, "a buffer of no array");
  ms_array **arrays = ms_field_scratch(L, count, sizeof(ms_array *));
  for (size_t a = 0; a < count; a++) {
    lua_rawgeti(L, list, (int)a + 1);
    arrays[a] = ms_field_to_pointer(L, -1, "arrays");
    if (arrays[a] == NULL || arrays[a]->sparse || arrays[a]->count != arrays[0]->count) {
      luaL_error(L, "arrays of a buffer that do not fit each other");
    }
    lua_pop(L, 1);
  }
  *merge = (ms_merge){.arrays = arrays, .array_count = (uint32_t)count};
  lua_getfield(L, table, "apply");
  if (lua_isnil(L, -1)) return;
  luaL_checktype(L, -1, LUA_TFUNCTION);
  rule *made = ms_field_scratch(L, 1, sizeof *made);
  *made = (rule){.state = state, .function = lua_gettop(L) - 1, .vectors = (int)count};
  merge->apply = apply;
  merge->context = made;
}

static void read_parts(lua_State *L, int table, ms_merge *merge) {
  lua_getfield(L, table, "parts");
  int list = lua_gettop(L);
  luaL_checktype(L, list, LUA_TTABLE);
  merge->part_count = lua_objlen(L, list);
  ms_pending_part *parts = ms_field_scratch(L, merge->part_count, sizeof *parts);
  for (size_t p = 0; p < merge->part_count; p++) {
    lua_rawgeti(L, list, (int)p + 1);
    parts[p].bytes = luaL_checklstring(L, -1, &parts[p].size); /* the list keeps it */
    lua_pop(L, 1);
  }
  merge->parts = parts;
}

static int merge_here(lua_State *L) {
  lua_settop(L, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  ms_rule_state state;
  ms_rule_state_begin(L, &state);
  uint32_t count = (uint32_t)lua_objlen(L, 1);
  ms_merge *merges = ms_field_scratch(L, count, sizeof *merges);
  for (uint32_t m = 0; m < count; m++) {
    lua_rawgeti(L, 1, (int)m + 1);
    int each = lua_gettop(L);
    luaL_checktype(L, each, LUA_TTABLE);
    ms_read_merge(L, each, &state, &merges[m]);
    read_parts(L, each, &merges[m]);
  }
  luaL_checkstack(L, LUA_MINSTACK, NULL);
  ms_error err;
  ms_error_clear(&err);
  ms_merge_log log;
  int failed = ms_merge_all(merges, count, ms_loop_undo_merging(ms_check_undo(L, 2), &log), &err);
  if (state.failed) {
    lua_pushvalue(L, state.error);
    return lua_error(L);
  }
  if (failed != 0) return ms_lua_push_error(L, &err);
  lua_pushboolean(L, 1);
  return 1;
}

void ms_lua_open_merge(lua_State *L) {
  static const luaL_Reg functions[] = {{"merge", merge_here}, {NULL, NULL}};
  luaL_register(L, NULL, functions);
}
