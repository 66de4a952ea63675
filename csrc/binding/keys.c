/* SPDX-License-Identifier: MIT
 *
 * Keys of loops: variables that are keys in paths from outside names (`_G[name]`), and what they
 * are taken for. Methods of core.loop's type. */
#include <lauxlib.h>

#include "binding/lua.h"
#include "depend/capture_path.h"

typedef struct keys {
  lua_State *L;
  ms_loop *loop;
  bool own, all; /* whether getfenv(1) and getfenv(0) give the loop's globals */
  bool failed;
} keys;

/* Of captures without fields: the number from 1, or 0. */
static uint32_t variable_of(const ms_loop *loop, const ms_node *name) {
  int64_t capture = ms_capture_path_of(loop, name);
  return capture >= 0 && loop->captures[capture].field_count == 0 ? (uint32_t)capture + 1 : 0;
}

static void list_key(ms_node *node, void *context) {
  const keys *all = context;
  uint32_t capture = variable_of(all->loop, node->kind == MS_NAME ? node : node->kid[0]->kid[0]);
  if (capture == 0) return;
  if (node->kind == MS_NAME) {
    lua_pushinteger(all->L, (lua_Integer)node->symbol->index);
    lua_rawseti(all->L, -2, (int)capture);
  } else {
    lua_pushinteger(all->L, (lua_Integer)capture);
    lua_setfield(all->L, -2, "getfenv");
  }
}

/* loop:keys(): variables that are keys in paths from outside names, the index of their declaration
 * by the number of the capture; `getfenv`: the capture of that name, if its result is indexed. */
int ms_lua_list_keys(lua_State *L) {
  keys all = {.L = L, .loop = ms_lua_check_loop(L, 1)};
  lua_newtable(L);
  ms_loop_each_key(all.loop, list_key, &all);
  return 1;
}

static void settle_key(ms_node *node, void *context) {
  keys *all = context;
  double level;
  if (node->kind == MS_INDEX) {
    if (ms_loop_is_getfenv(node->kid[0], &level) && (level == 1 ? all->own : all->all))
      ms_loop_settle_global(node);
    return;
  }
  lua_rawgeti(all->L, 2, (int)node->symbol->index);
  size_t length;
  const char *text = lua_tolstring(all->L, -1, &length);
  if (text != NULL) {
    const char *own = ms_arena_copy(all->loop->tree->arena, text, length);
    if (own != NULL) ms_loop_settle_key(node, own, length);
    all->failed = all->failed || own == NULL;
  }
  lua_pop(all->L, 1);
}

/* loop:settle(strings, own, all): takes variables that are keys for the strings that they hold, by
 * the index of their declaration, and what getfenv gives for the loop's globals, of its own level
 * and of level 0. The captures are others then. */
int ms_lua_settle_keys(lua_State *L) {
  ms_error err = {0};
  keys all = {.L = L, .loop = ms_lua_check_loop(L, 1)};
  luaL_checktype(L, 2, LUA_TTABLE);
  all.own = lua_toboolean(L, 3);
  all.all = lua_toboolean(L, 4);
  ms_loop_each_key(all.loop, settle_key, &all);
  if (all.failed) return luaL_error(L, "not enough memory");
  if (ms_loop_capture(all.loop, &err) != 0) return ms_lua_push_error(L, &err);
  lua_settop(L, 1);
  return 1;
}
