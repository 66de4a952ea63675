/* SPDX-License-Identifier: MIT
 *
 * Sessions as Lua values, for lua/meissa.
 *
 *   core.session{workers=, transport=, shm=, command={...}} -> session | nil, error
 *   session:run(job) -> outcome | nil, error (job.h)     session:stop() pids() info() forget(id)
 *
 * Blocks are numbered from 0, workers and dimensions from 1. No Lua call that may raise is made
 * while C memory is unowned: what a job needs is read into userdata first. */
#include <lauxlib.h>
#include <lua.h>
#include <string.h>
#include <unistd.h>

#include "binding/field.h"
#include "binding/job.h"
#include "binding/lua.h"
#include "binding/run.h"
#include "driver/session.h"

#define SESSION "meissa.session"

ms_session **ms_run_check_session(lua_State *L, int index) {
  ms_session **session = luaL_checkudata(L, index, SESSION);
  if (*session == NULL) luaL_error(L, "the session is stopped");
  return session;
}

static const char **read_command(lua_State *L, int table) {
  lua_getfield(L, table, "command");
  luaL_checktype(L, -1, LUA_TTABLE);
  size_t count = lua_objlen(L, -1);
  const char **command = ms_field_scratch(L, count + 1, sizeof *command);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, -2, (int)i + 1);
    command[i] = luaL_checkstring(L, -1);
    lua_pop(L, 1);
  }
  return command; /* the table keeps the strings, the stack keeps both */
}

static int session_new(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  size_t size;
  const char *transport = ms_field_string(L, 1, "transport", &size);
  ms_error err;
  ms_error_clear(&err);
  if (transport != NULL && strcmp(transport, "ipc") != 0 && strcmp(transport, "tcp") != 0) {
    ms_error_set(&err, MS_OPT, "transport '%s': it is ipc or tcp", transport);
    return ms_lua_push_error(L, &err);
  }
  uint64_t workers = ms_field_count(L, 1, "workers", 0);
  ms_session_config config = {.workers = workers > UINT32_MAX ? UINT32_MAX : (uint32_t)workers,
                              .tcp = transport != NULL && strcmp(transport, "tcp") == 0};
  lua_getfield(L, 1, "shm");
  config.shared = lua_isnil(L, -1) || lua_toboolean(L, -1);
  config.command = read_command(L, 1);
  ms_session **session = lua_newuserdata(L, sizeof *session);
  *session = NULL;
  luaL_getmetatable(L, SESSION);
  lua_setmetatable(L, -2);
  *session = ms_session_start(&config, &err);
  return *session == NULL ? ms_lua_push_error(L, &err) : 1;
}

static int session_stop(lua_State *L) {
  ms_session_stop(luaL_checkudata(L, 1, SESSION));
  return 0;
}

/* A list with false for a worker that is to be replaced. */
static int session_pids(lua_State *L) {
  const ms_session *session = *ms_run_check_session(L, 1);
  uint32_t workers = ms_session_workers(session);
  lua_createtable(L, (int)workers, 0);
  for (uint32_t i = 0; i < workers; i++) {
    long pid = ms_session_pid(session, i);
    if (pid == 0) lua_pushboolean(L, 0); /* a number that must not reach `kill` */
    if (pid != 0) lua_pushinteger(L, pid);
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

static int session_info(lua_State *L) {
  const ms_session *session = *ms_run_check_session(L, 1);
  lua_createtable(L, 0, 5);
  ms_field_set_number(L, "workers", (lua_Integer)ms_session_workers(session));
  ms_field_set_string(L, "directory", ms_session_directory(session));
  ms_field_set_string(L, "address", ms_session_address(session));
  ms_field_set_number(L, "jobs", (lua_Number)ms_session_jobs(session));
  ms_field_set_boolean(L, "memory", ms_session_has_lanes(session));
  ms_field_set_boolean(L, "shm", ms_session_is_shared(session));
  return 1;
}

static int session_forget(lua_State *L) {
  ms_session *session = *ms_run_check_session(L, 1);
  ms_session_forget(session, (uint64_t)luaL_checknumber(L, 2));
  return 0;
}

/* Where a walk through a grid's blocks is. */
typedef struct walk {
  ms_order order;
  uint32_t last; /* block; MS_NO_BLOCK: before the first */
  bool over;
} walk;

static int next_block(lua_State *L) {
  walk *at = lua_touserdata(L, lua_upvalueindex(1));
  ms_block_box all = ms_order_whole(&at->order);
  if (!at->over) at->last = ms_order_next(&at->order, &all, at->last);
  at->over = at->last == MS_NO_BLOCK;
  if (at->over) return 0;
  lua_pushnumber(L, at->last);
  return 1;
}

/* core.serial_order(strategy, ranges, sequential) -> a function that returns the blocks' numbers in
 * the plan's serial order, one at a time; `sequential` for a hyperplane only. */
static int serial_order(lua_State *L) {
  ms_job job = {0};
  lua_settop(L, 3);
  lua_createtable(L, 0, 3);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "strategy");
  lua_pushvalue(L, 2);
  lua_setfield(L, -2, "ranges");
  lua_pushvalue(L, 3);
  lua_setfield(L, -2, "sequential");
  ms_job_read_grid(L, lua_gettop(L), &job);
  const char *why = ms_grid_refusal(&job.grid);
  if (why != NULL) {
    ms_error err;
    ms_error_clear(&err);
    ms_error_set(&err, MS_OPT, "the loop cannot be scheduled: %s", why);
    return ms_lua_push_error(L, &err);
  }
  walk *at = lua_newuserdata(L, sizeof *at);
  *at = (walk){.order = ms_order_of(&job.grid), .last = MS_NO_BLOCK};
  lua_pushcclosure(L, next_block, 1);
  return 1;
}

/* core.executable() -> path of this process's program, nil where it cannot be known. */
static int executable(lua_State *L) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0 || (size_t)length >= sizeof path) return 0;
  lua_pushlstring(L, path, (size_t)length);
  return 1;
}

static void make_class(lua_State *L, const char *name, const luaL_Reg *methods,
                       lua_CFunction collect) {
  luaL_newmetatable(L, name);
  lua_newtable(L);
  luaL_register(L, NULL, methods);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, collect);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
}

void ms_lua_open_runtime(lua_State *L) {
  static const luaL_Reg session_methods[] = {{"run", ms_session_run_job}, {"stop", session_stop},
                                             {"pids", session_pids},      {"info", session_info},
                                             {"forget", session_forget},  {NULL, NULL}};
  static const luaL_Reg functions[] = {{"session", session_new},
                                       {"executable", executable},
                                       {"serial_order", serial_order},
                                       {NULL, NULL}};
  make_class(L, SESSION, session_methods, session_stop);
  luaL_register(L, NULL, functions);
}
