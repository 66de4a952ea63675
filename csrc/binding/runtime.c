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

#include "binding/binding.h"
#include "binding/field.h"
#include "binding/job.h"
#include "driver/session.h"

#define SESSION "meissa.session"
#define OUTCOME "meissa.outcome"

static ms_session **check_session(lua_State *L) {
  ms_session **session = luaL_checkudata(L, 1, SESSION);
  if (*session == NULL) luaL_error(L, "the session is stopped");
  return session;
}

static const char **read_command(lua_State *L, int table) {
  lua_getfield(L, table, "command");
  luaL_checktype(L, -1, LUA_TTABLE);
  size_t count = lua_objlen(L, -1);
  const char **command = ms_scratch(L, count + 1, sizeof *command);
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
    return ms_push_error(L, &err);
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
  return *session == NULL ? ms_push_error(L, &err) : 1;
}

static int session_stop(lua_State *L) {
  ms_session_stop(luaL_checkudata(L, 1, SESSION));
  return 0;
}

/* A list with false for a worker that is to be replaced. */
static int session_pids(lua_State *L) {
  const ms_session *session = *check_session(L);
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
  const ms_session *session = *check_session(L);
  lua_createtable(L, 0, 5);
  lua_pushinteger(L, (lua_Integer)ms_session_workers(session));
  lua_setfield(L, -2, "workers");
  lua_pushstring(L, ms_session_directory(session));
  lua_setfield(L, -2, "directory");
  lua_pushstring(L, ms_session_address(session));
  lua_setfield(L, -2, "address");
  lua_pushnumber(L, (lua_Number)ms_session_jobs(session));
  lua_setfield(L, -2, "jobs");
  lua_pushboolean(L, ms_session_has_lanes(session));
  lua_setfield(L, -2, "memory");
  lua_pushboolean(L, ms_session_is_shared(session));
  lua_setfield(L, -2, "shm");
  return 1;
}

static int session_forget(lua_State *L) {
  ms_session *session = *check_session(L);
  ms_session_forget(session, (uint64_t)luaL_checknumber(L, 2));
  return 0;
}

static void call_stalled(void *context, const ms_progress *progress) {
  lua_State *L = context;
  int top = lua_gettop(L);
  lua_getfield(L, 2, "stalled");
  lua_pushnumber(L, progress->seconds);
  lua_pushnumber(L, (lua_Number)progress->worker + 1);
  if (progress->block == UINT32_MAX) {
    lua_pushnil(L);
  } else {
    lua_pushnumber(L, progress->block);
  }
  lua_pcall(L, 3, 0, 0); /* it can only watch: its errors are its own */
  lua_settop(L, top);
}

static void call_advanced(void *context, uint64_t finished, uint64_t blocks) {
  lua_State *L = context;
  int top = lua_gettop(L);
  lua_getfield(L, 2, "advanced");
  lua_pushnumber(L, (lua_Number)finished);
  lua_pushnumber(L, (lua_Number)blocks);
  lua_pcall(L, 2, 0, 0); /* it can only watch: its errors are its own */
  lua_settop(L, top);
}

static void set_number(lua_State *L, const char *name, double value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, name);
}

static void set_text(lua_State *L, const char *name, const ms_text *text) {
  if (text->length == 0) return;
  lua_pushlstring(L, text->bytes, text->length);
  lua_setfield(L, -2, name);
}

static void push_shares(lua_State *L, const ms_outcome *outcome) {
  lua_createtable(L, (int)outcome->worker_count, 0);
  for (uint32_t i = 0; i < outcome->worker_count; i++) {
    const ms_share *share = &outcome->shares[i];
    lua_createtable(L, 0, 4);
    set_number(L, "busy", (double)share->busy * 1e-9);
    set_number(L, "waited", (double)share->waited * 1e-9);
    set_number(L, "moved", (double)share->moved);
    set_number(L, "blocks", (double)share->blocks);
    if (share->began > 0) set_number(L, "began", (double)share->began * 1e-9);
    lua_rawseti(L, -2, (int)i + 1);
  }
}

/* Sets `flat`, the results one after the other in the order of the plan, and `blocks`, how many,
 * if all blocks gave one and they are of one size. */
static bool set_flat(lua_State *L, ms_outcome *outcome) {
  size_t count = outcome->results, size = (size_t)outcome->each;
  bool alike = outcome->complete && size > 0 && outcome->each != UINT64_MAX;
  if (!alike || count > SIZE_MAX / size) return false;
  char *all = ms_scratch(L, count, size);
  ms_record record;
  ms_outcome_rewind(outcome, MS_REPORT_RESULT, MS_REPORT_RESULT);
  for (size_t k = 0; k < count && ms_outcome_next(outcome, &record); k++) {
    memcpy(all + k * size, record.bytes, size);
  }
  lua_pushlstring(L, all, count * size);
  lua_setfield(L, -3, "flat");
  lua_pop(L, 1);
  set_number(L, "blocks", (double)count);
  return true;
}

/* Sets `results`, by block, and `order`, their blocks in the order of the plan. */
static void set_results(lua_State *L, ms_outcome *outcome) {
  ms_record record;
  lua_newtable(L);
  lua_newtable(L);
  ms_outcome_rewind(outcome, MS_REPORT_RESULT, MS_REPORT_RESULT);
  for (int k = 1; ms_outcome_next(outcome, &record); k++) {
    lua_pushlstring(L, record.bytes, (size_t)record.size);
    lua_rawseti(L, -3, (int)record.block);
    lua_pushinteger(L, (lua_Integer)record.block);
    lua_rawseti(L, -2, k);
  }
  lua_setfield(L, -3, "order");
  lua_setfield(L, -2, "results");
}

/* {{pointer =, size =}, ...}: what was put into each buffer, in the order of the plan. */
static void push_joined(lua_State *L, ms_session *session, ms_outcome *outcome) {
  size_t *sizes = ms_scratch(L, outcome->buffer_count, sizeof *sizes);
  const char *bytes = ms_session_join(session, outcome, sizes);
  if (bytes == NULL) luaL_error(L, "out of memory for what a loop has put into buffers");
  lua_createtable(L, (int)outcome->buffer_count, 0);
  for (uint32_t b = 0; b < outcome->buffer_count; b++) {
    lua_createtable(L, 0, 2);
    lua_pushlightuserdata(L, (void *)(size_t)bytes);
    lua_setfield(L, -2, "pointer");
    set_number(L, "size", (double)sizes[b]);
    lua_rawseti(L, -2, (int)b + 1);
    bytes += sizes[b];
  }
  lua_remove(L, -2);
}

/* {{[block] = bytes}, ...}: the same by block. */
static void push_apart(lua_State *L, ms_outcome *outcome) {
  lua_createtable(L, (int)outcome->buffer_count, 0);
  for (uint32_t b = 0; b < outcome->buffer_count; b++) {
    ms_record record;
    lua_newtable(L);
    ms_outcome_rewind(outcome, MS_REPORT_PENDING + b, MS_REPORT_PENDING + b);
    while (ms_outcome_next(outcome, &record)) {
      lua_pushlstring(L, record.bytes, (size_t)record.size);
      lua_rawseti(L, -2, (int)record.block);
    }
    lua_rawseti(L, -2, (int)b + 1);
  }
}

/* {results = {[block] = bytes}, order = {block, ...}, printed, notices, workers, moved, deaths,
 * redone, repeated, spent = uint64_t ns of each range, as bytes, or nil}; with `flat` {flat =
 * bytes, blocks =, ...} where that can be; with buffers, `pending`, a list of what was put into
 * each: {pointer =, size =}, good until the session's next job, or with `apart`
 * {[block] = bytes}. */
static void push_outcome(lua_State *L, ms_session *session, ms_outcome *outcome, bool flat,
                         bool apart) {
  lua_createtable(L, 0, 11);
  if (outcome->buffer_count > 0) {
    if (apart) push_apart(L, outcome);
    if (!apart) push_joined(L, session, outcome);
    lua_setfield(L, -2, "pending");
  }
  if (!flat || !set_flat(L, outcome)) set_results(L, outcome);
  set_text(L, "printed", &outcome->printed);
  set_text(L, "notices", &outcome->notices);
  push_shares(L, outcome);
  lua_setfield(L, -2, "workers");
  uint64_t moved = outcome->moved;
  for (uint32_t i = 0; i < outcome->worker_count; i++) moved += outcome->shares[i].moved;
  set_number(L, "moved", (double)moved);
  set_number(L, "deaths", outcome->deaths);
  set_number(L, "redone", outcome->redone);
  set_number(L, "repeated", outcome->repeats);
  if (outcome->spent == NULL) return;
  lua_pushlstring(L, (const char *)outcome->spent, outcome->range_count * sizeof *outcome->spent);
  lua_setfield(L, -2, "spent");
}

/* nil and {code, message, worker, block, pid, signal, repeated, lost, payload, printed, notices};
 * worker from 1, block from 0. */
static int push_failure(lua_State *L, const ms_outcome *outcome, const ms_error *err) {
  ms_push_error(L, err);
  if (outcome->worker != UINT32_MAX) set_number(L, "worker", outcome->worker + 1.0);
  if (outcome->block != UINT32_MAX) set_number(L, "block", outcome->block);
  if (outcome->pid != 0) set_number(L, "pid", (double)outcome->pid);
  if (outcome->signal != 0) set_number(L, "signal", outcome->signal);
  lua_pushboolean(L, outcome->repeated);
  lua_setfield(L, -2, "repeated");
  lua_pushboolean(L, outcome->lost);
  lua_setfield(L, -2, "lost");
  set_text(L, "payload", &outcome->error);
  set_text(L, "printed", &outcome->printed);
  set_text(L, "notices", &outcome->notices);
  return 2;
}

static int outcome_gc(lua_State *L) {
  ms_outcome_free(luaL_checkudata(L, 1, OUTCOME));
  return 0;
}

static int session_run(lua_State *L) {
  ms_session *session = *check_session(L);
  lua_settop(L, 2);
  ms_job job;
  ms_read_job(L, 2, &job);
  lua_getfield(L, 2, "stalled");
  if (lua_isfunction(L, -1)) job.stalled = call_stalled;
  lua_getfield(L, 2, "advanced");
  if (lua_isfunction(L, -1)) job.advanced = call_advanced;
  job.context = L;
  ms_outcome *outcome = lua_newuserdata(L, sizeof *outcome);
  memset(outcome, 0, sizeof *outcome);
  luaL_getmetatable(L, OUTCOME);
  lua_setmetatable(L, -2);
  luaL_checkstack(L, LUA_MINSTACK, NULL);
  ms_error err;
  ms_error_clear(&err);
  if (ms_session_run(session, &job, outcome, &err) != 0) return push_failure(L, outcome, &err);
  lua_getfield(L, 2, "flat");
  lua_getfield(L, 2, "apart");
  bool flat = lua_toboolean(L, -2), apart = lua_toboolean(L, -1);
  lua_pop(L, 2);
  push_outcome(L, session, outcome, flat, apart);
  ms_outcome_free(outcome);
  return 1;
}

/* core.serial_order(strategy, ranges, sequential) -> the blocks' numbers in the plan's serial
 * order; `sequential` for a hyperplane only. */
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
  ms_read_grid(L, lua_gettop(L), &job);
  const char *why = ms_grid_refusal(&job.grid);
  if (why != NULL) {
    ms_error err;
    ms_error_clear(&err);
    ms_error_set(&err, MS_OPT, "the loop cannot be scheduled: %s", why);
    return ms_push_error(L, &err);
  }
  ms_order order = ms_order_of(&job.grid);
  ms_block_box all = ms_order_whole(&order);
  lua_createtable(L, (int)order.blocks, 0);
  uint32_t block = MS_NO_BLOCK;
  for (int i = 1; (block = ms_order_next(&order, &all, block)) != MS_NO_BLOCK; i++) {
    lua_pushnumber(L, block);
    lua_rawseti(L, -2, i);
  }
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

void ms_bind_runtime(lua_State *L) {
  static const luaL_Reg session_methods[] = {{"run", session_run},       {"stop", session_stop},
                                             {"pids", session_pids},     {"info", session_info},
                                             {"forget", session_forget}, {NULL, NULL}};
  static const luaL_Reg none[] = {{NULL, NULL}};
  static const luaL_Reg functions[] = {{"session", session_new},
                                       {"executable", executable},
                                       {"serial_order", serial_order},
                                       {NULL, NULL}};
  make_class(L, SESSION, session_methods, session_stop);
  make_class(L, OUTCOME, none, outcome_gc);
  luaL_register(L, NULL, functions);
}
