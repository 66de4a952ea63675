/* SPDX-License-Identifier: MIT
 *
 * The standard libraries as LuaJIT has them, whatever a program made of its own.
 *
 * A program may replace any function of them, also before it loads this module. core.libraries
 * opens them once more, in a thread with globals, loaded and preloaded modules of its own, and puts
 * back the one thing that this changes for the program: the metatable of strings. Libraries that
 * cannot be opened twice (ffi, io, jit, jit.util, package) are copied from the program's; functions
 * that are not LuaJIT's any more are made again of those that a fresh lua_State has there. Those of
 * ffi are bound to tables that nothing else leads to: there the program's own have to do. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "binding/lua.h"

static const luaL_Reg openers[] = {{"", luaopen_base},       {"table", luaopen_table},
                                   {"os", luaopen_os},       {"string", luaopen_string},
                                   {"math", luaopen_math},   {"bit", luaopen_bit},
                                   {"debug", luaopen_debug}, {"package", luaopen_package}};

static const char *const preloaded[] = {"table.new", "table.clear", "string.buffer"};

/* Libraries that cannot be opened twice, and a function of each that Meissa calls. */
static const struct {
  const char *name, *function;
} single[] = {{"io", "open"},
              {"package", "searchpath"},
              {"jit", "off"},
              {"jit.util", "funcbc"},
              {"ffi", "new"}};

/* In the thread, with an empty _LOADED and _PRELOAD: opens everything, and returns _LOADED. */
static int open_again(lua_State *L) {
  lua_newtable(L);
  lua_replace(L, LUA_GLOBALSINDEX);
  for (size_t k = 0; k < sizeof openers / sizeof openers[0]; k++) {
    lua_pushcfunction(L, openers[k].func);
    lua_pushstring(L, openers[k].name);
    lua_call(L, 1, 0);
  }
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  int loaded = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, "_PRELOAD");
  int preload = lua_gettop(L);
  for (size_t k = 0; k < sizeof preloaded / sizeof preloaded[0]; k++) {
    lua_getfield(L, preload, preloaded[k]);
    if (!lua_isfunction(L, -1)) continue; /* a LuaJIT without it */
    lua_call(L, 0, 1);
    lua_setfield(L, loaded, preloaded[k]);
  }
  lua_settop(L, loaded);
  return 1;
}

/* Swaps a field of the registry with the value on top of the stack, which it leaves there. */
static void swap(lua_State *L, const char *field) {
  lua_getfield(L, LUA_REGISTRYINDEX, field);
  lua_insert(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, field);
}

static void set_string_metatable(lua_State *L) {
  lua_pushliteral(L, "");
  lua_insert(L, -2);
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

/* Pushes {[name] = library}, of libraries that were opened again. */
static void push_opened(lua_State *L) {
  lua_State *thread = lua_newthread(L);
  lua_pushliteral(L, "");
  if (!lua_getmetatable(L, -1)) lua_pushnil(L);
  lua_remove(L, -2);
  lua_newtable(L);
  swap(L, "_LOADED");
  lua_newtable(L);
  swap(L, "_PRELOAD");
  lua_pushcfunction(thread, open_again);
  int status = lua_pcall(thread, 0, 1, 0);
  swap(L, "_PRELOAD");
  lua_pop(L, 1);
  swap(L, "_LOADED");
  lua_pop(L, 1);
  set_string_metatable(L);
  lua_xmove(thread, L, 1);
  lua_remove(L, -2);
  if (status != 0) lua_error(L);
}

/* Whether all functions of the library at `index`, one of which is given, are C functions. */
static bool is_untouched(lua_State *L, int index, const char *function) {
  lua_getfield(L, index, function);
  bool untouched = lua_iscfunction(L, -1) != 0;
  lua_pop(L, 1);
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    untouched = untouched && (!lua_isfunction(L, -1) || lua_iscfunction(L, -1));
    lua_pop(L, 1);
  }
  return untouched;
}

#define MOST_FUNCTIONS 64
#define LONGEST_NAME   32

/* The C functions of one library. */
typedef struct functions {
  const char *library;
  uint32_t count;
  char name[MOST_FUNCTIONS][LONGEST_NAME];
  lua_CFunction function[MOST_FUNCTIONS];
} functions;

/* In a fresh state: gathers the C functions of the library. */
static int gather(lua_State *L) {
  functions *found = lua_touserdata(L, 1);
  luaL_openlibs(L);
  lua_getglobal(L, "require");
  lua_pushstring(L, found->library);
  lua_call(L, 1, 1);
  lua_pushnil(L);
  while (found->count < MOST_FUNCTIONS && lua_next(L, -2) != 0) {
    lua_CFunction function = lua_tocfunction(L, -1);
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
    if (function != NULL && name != NULL && strlen(name) < LONGEST_NAME) {
      strcpy(found->name[found->count], name);
      found->function[found->count++] = function;
    }
    lua_pop(L, 1);
  }
  return 0;
}

/* Pushes the environment that functions of the library need: package's own table for package, the
 * metatable of files for io; what is no table for others. */
static void push_environment(lua_State *L, const char *library) {
  lua_getfield(L, LUA_REGISTRYINDEX, library[0] == 'i' ? LUA_FILEHANDLE : "_LOADED");
  if (library[0] == 'i') return;
  lua_getfield(L, -1, "package");
  lua_remove(L, -2);
}

/* Replaces what is not LuaJIT's function in the copy of a library on top of the stack. */
static void make_again(lua_State *L, const char *library) {
  functions found = {.library = library};
  lua_State *fresh = luaL_newstate();
  int status = fresh != NULL ? lua_cpcall(fresh, gather, &found) : -1;
  if (fresh != NULL) lua_close(fresh);
  if (status != 0) luaL_error(L, "not enough memory for the library %s", library);
  push_environment(L, library);
  for (uint32_t k = 0; k < found.count; k++) {
    lua_getfield(L, -2, found.name[k]);
    bool own = lua_tocfunction(L, -1) == found.function[k];
    lua_pop(L, 1);
    if (own) continue;
    lua_pushcfunction(L, found.function[k]);
    if (lua_istable(L, -2)) {
      lua_pushvalue(L, -2);
      lua_setfenv(L, -2);
    }
    lua_setfield(L, -3, found.name[k]);
  }
  lua_pop(L, 1);
}

/* Copies a library that cannot be opened twice into a table; nil where there is none. */
static void push_copy(lua_State *L, const char *library, const char *function) {
  luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 1);
  lua_getfield(L, -1, library);
  lua_remove(L, -2);
  if (!lua_istable(L, -1)) return;
  int source = lua_gettop(L);
  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, source) != 0) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_settable(L, -4);
  }
  if (strcmp(library, "ffi") != 0 && !is_untouched(L, source, function)) make_again(L, library);
  lua_remove(L, source);
}

/* `require` was made again for a package of the thread's own: gives it the program's. */
static void set_require(lua_State *L) {
  lua_getfield(L, -1, "_G");
  lua_getfield(L, -1, "require");
  push_environment(L, "package");
  if (lua_istable(L, -1)) {
    lua_setfenv(L, -2);
  } else {
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
}

static int libraries(lua_State *L) {
  push_opened(L);
  set_require(L);
  for (size_t k = 0; k < sizeof single / sizeof single[0]; k++) {
    push_copy(L, single[k].name, single[k].function);
    lua_setfield(L, -2, single[k].name);
  }
  return 1;
}

/* core.running(): the thread that runs; coroutine.running does not give the main one. */
static int running(lua_State *L) {
  lua_pushthread(L);
  return 1;
}

void ms_lua_open_library(lua_State *L) {
  lua_pushcfunction(L, running);
  lua_setfield(L, -2, "running");
  lua_pushcfunction(L, libraries);
  lua_setfield(L, -2, "libraries");
}
