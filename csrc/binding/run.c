/* SPDX-License-Identifier: MIT
 *
 * Loops on the workers of a session as Lua calls: session:run(job) -> outcome | nil, failure, of a
 * job as job.h says, stage by stage (driver/staged.h), and in further fields
 *
 *   {flat = whether the results are wanted as one string, apart = whether what was put into buffers
 *    is, by block,
 *    merges = {{number = of the buffer, from 1, arrays =, apply =} (merge.c), ...},
 *    told = function(notices, printed), called when a stage has ended,
 *    renew = function(), called before further stages: operands may have other versions}
 *
 * Blocks are numbered from 0, workers and dimensions from 1. No Lua call that may raise is made
 * while C memory is unowned: all of it belongs to a userdata. */
#include <lauxlib.h>
#include <lua.h>
#include <string.h>

#include "binding/field.h"
#include "binding/job.h"
#include "binding/lua.h"
#include "binding/merge.h"
#include "binding/run.h"
#include "driver/staged.h"

#define RUN "meissa.run"

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
    ms_field_set_number(L, "busy", (double)share->busy * 1e-9);
    ms_field_set_number(L, "waited", (double)share->waited * 1e-9);
    ms_field_set_number(L, "moved", (double)share->moved);
    ms_field_set_number(L, "blocks", (double)share->blocks);
    if (share->began > 0) ms_field_set_number(L, "began", (double)share->began * 1e-9);
    lua_rawseti(L, -2, (int)i + 1);
  }
}

/* Sets `flat`, the results one after the other in the order of the plan, and `blocks`, how many,
 * if all blocks gave one and they are of one size. */
static bool set_flat(lua_State *L, ms_outcome *outcome) {
  size_t count = outcome->results, size = (size_t)outcome->each;
  bool alike = outcome->complete && size > 0 && outcome->each != UINT64_MAX;
  if (!alike || count > SIZE_MAX / size) return false;
  char *all = ms_field_scratch(L, count, size);
  ms_record record;
  ms_outcome_rewind(outcome, MS_REPORT_RESULT, MS_REPORT_RESULT);
  for (size_t k = 0; k < count && ms_outcome_next(outcome, &record); k++) {
    memcpy(all + k * size, record.bytes, size);
  }
  lua_pushlstring(L, all, count * size);
  lua_setfield(L, -3, "flat");
  lua_pop(L, 1);
  ms_field_set_number(L, "blocks", (double)count);
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

/* Rows that what blocks have left for a buffer is copied to: block b's to row b. */
typedef struct rows {
  char *bytes; /* NULL: there are none */
  uint64_t size, count;
} rows;

/* Those of buffer number `buffer`, from 0, in the job's field `into`, {[number] = {pointer, size,
 * count}}. */
static rows rows_of(lua_State *L, uint32_t buffer) {
  rows found = {.bytes = NULL};
  int top = lua_gettop(L);
  lua_getfield(L, 2, "into");
  if (lua_istable(L, -1)) lua_rawgeti(L, -1, (int)buffer + 1);
  if (lua_istable(L, -1) && lua_gettop(L) > top + 1) {
    int table = lua_gettop(L);
    found.bytes = ms_field_pointer(L, table, "pointer");
    found.size = ms_field_count(L, table, "size", 0);
    found.count = ms_field_count(L, table, "count", 0);
  }
  lua_settop(L, top);
  return found;
}

/* {{[block] = bytes}, ...}: what was put into each buffer, but for what goes into rows. */
static void push_apart(lua_State *L, ms_outcome *outcome) {
  lua_createtable(L, (int)outcome->buffer_count, 0);
  for (uint32_t b = 0; b < outcome->buffer_count; b++) {
    rows into = rows_of(L, b);
    ms_record record;
    lua_newtable(L);
    ms_outcome_rewind(outcome, MS_REPORT_PENDING + b, MS_REPORT_PENDING + b);
    while (ms_outcome_next(outcome, &record)) {
      if (into.bytes != NULL && record.size == into.size && record.block < into.count) {
        memcpy(into.bytes + record.block * into.size, record.bytes, (size_t)record.size);
        continue;
      }
      lua_pushlstring(L, record.bytes, (size_t)record.size);
      lua_rawseti(L, -2, (int)record.block);
    }
    lua_rawseti(L, -2, (int)b + 1);
  }
}

/* {results = {[block] = bytes}, order = {block, ...}, printed, notices, workers, moved, deaths,
 * redone, repeated, interrupted, spent = uint64_t ns of each range, as bytes, or nil}; with `flat`
 * {flat = bytes, blocks =, ...} where that can be; with `apart` `pending`, a list of what was put
 * into each buffer: {[block] = bytes}. */
static void push_outcome(lua_State *L, ms_outcome *outcome, bool flat, bool apart) {
  lua_createtable(L, 0, 11);
  if (apart) {
    push_apart(L, outcome);
    lua_setfield(L, -2, "pending");
  }
  if (!flat || !set_flat(L, outcome)) set_results(L, outcome);
  set_text(L, "printed", &outcome->printed);
  set_text(L, "notices", &outcome->notices);
  push_shares(L, outcome);
  lua_setfield(L, -2, "workers");
  uint64_t moved = outcome->moved;
  for (uint32_t i = 0; i < outcome->worker_count; i++) moved += outcome->shares[i].moved;
  ms_field_set_number(L, "moved", (double)moved);
  ms_field_set_number(L, "deaths", outcome->deaths);
  ms_field_set_number(L, "redone", outcome->redone);
  ms_field_set_number(L, "repeated", outcome->repeats);
  ms_field_set_boolean(L, "interrupted", outcome->interrupted);
  if (outcome->spent == NULL) return;
  lua_pushlstring(L, (const char *)outcome->spent, outcome->range_count * sizeof *outcome->spent);
  lua_setfield(L, -2, "spent");
}

/* nil and {code, message, worker, block, pid, signal, repeated, lost, payload, printed, notices};
 * worker from 1, block from 0. */
static int push_failure(lua_State *L, const ms_outcome *outcome, const ms_error *err) {
  ms_lua_push_error(L, err);
  if (outcome->worker != UINT32_MAX) ms_field_set_number(L, "worker", outcome->worker + 1.0);
  if (outcome->block != UINT32_MAX) ms_field_set_number(L, "block", outcome->block);
  if (outcome->pid != 0) ms_field_set_number(L, "pid", (double)outcome->pid);
  if (outcome->signal != 0) ms_field_set_number(L, "signal", outcome->signal);
  ms_field_set_boolean(L, "repeated", outcome->repeated);
  ms_field_set_boolean(L, "lost", outcome->lost);
  set_text(L, "payload", &outcome->error);
  set_text(L, "printed", &outcome->printed);
  set_text(L, "notices", &outcome->notices);
  return 2;
}

/* ---------------------------------------------------------------------------------- stages */

static int run_gc(lua_State *L) {
  ms_staged_end(luaL_checkudata(L, 1, RUN), NULL);
  return 0;
}

/* What is merged after each stage; leaves on the stack what it points to. */
static ms_staged_merge *read_merges(lua_State *L, int table, uint32_t buffers, ms_rule_state *state,
                                    uint32_t *count) {
  lua_getfield(L, table, "merges");
  int list = lua_gettop(L);
  *count = lua_istable(L, list) ? (uint32_t)lua_objlen(L, list) : 0;
  ms_staged_merge *merges = ms_field_scratch(L, *count, sizeof *merges);
  for (uint32_t m = 0; m < *count; m++) {
    lua_rawgeti(L, list, (int)m + 1);
    int each = lua_gettop(L);
    luaL_checktype(L, each, LUA_TTABLE);
    uint64_t number = ms_field_count(L, each, "number", 0);
    if (number == 0 || number > buffers) luaL_error(L, "a merge of no buffer");
    merges[m].buffer = (uint32_t)number - 1;
    ms_read_merge(L, each, state, &merges[m].merge);
  }
  return merges;
}

/* Calls a function of the job's with what was printed, so far, and with notices. */
static int tell(lua_State *L, ms_outcome *outcome) {
  if (outcome->notices.length + outcome->printed.length == 0) return 0;
  lua_getfield(L, 2, "told");
  lua_pushlstring(L, outcome->notices.length > 0 ? outcome->notices.bytes : "",
                  outcome->notices.length);
  lua_pushlstring(L, outcome->printed.length > 0 ? outcome->printed.bytes : "",
                  outcome->printed.length);
  ms_text_free(&outcome->notices);
  ms_text_free(&outcome->printed);
  return lua_pcall(L, 2, 0, 0);
}

/* Lets operands have the versions of their contents now. */
static int renew(lua_State *L) {
  int top = lua_gettop(L);
  lua_getfield(L, 2, "renew");
  if (lua_isfunction(L, -1) && lua_pcall(L, 0, 0, 0) != 0) return -1;
  lua_settop(L, top);
  return 0;
}

/* Errors that are on the top of the stack: of Lua, or as ms_lua_push_error gives them. */
enum { RAISED = 1, FAULT };

/* Runs all stages. 0; -1 with err filled; RAISED, FAULT. */
static int run_stages(lua_State *L, ms_staged *run, ms_rule_state *state, ms_error *err) {
  for (;;) {
    ms_session **session = lua_touserdata(L, 1);
    if (*session == NULL) { /* a rule has stopped it */
      lua_pushliteral(L, "the session is stopped");
      return RAISED;
    }
    if (run->stage > 0 && renew(L) != 0) return RAISED;
    if (ms_staged_run(run, *session, err) != 0) return -1;
    bool further = run->merge_count > 0;
    if (further && tell(L, &run->outcome) != 0) return RAISED;
    if (ms_staged_advance(run, err) != 0) {
      if (state->failed) lua_pushvalue(L, state->error);
      if (!state->failed) ms_lua_push_error(L, err);
      return state->failed ? RAISED : FAULT;
    }
    if (ms_staged_ended(run)) return 0;
  }
}

/* nil and {raised = or fault = the error that is on the top of the stack, lost = whether arrays
 * are}. */
static int push_raised(lua_State *L, int kind, bool lost) {
  lua_createtable(L, 0, 2);
  lua_insert(L, -2);
  lua_setfield(L, -2, kind == RAISED ? "raised" : "fault");
  ms_field_set_boolean(L, "lost", lost);
  lua_pushnil(L);
  lua_insert(L, -2);
  return 2;
}

int ms_session_run_job(lua_State *L) {
  ms_run_check_session(L, 1);
  lua_settop(L, 2);
  ms_job job;
  ms_job_read(L, 2, &job);
  lua_getfield(L, 2, "stalled");
  if (lua_isfunction(L, -1)) job.stalled = call_stalled;
  lua_getfield(L, 2, "advanced");
  if (lua_isfunction(L, -1)) job.advanced = call_advanced;
  job.context = L;
  ms_rule_state state;
  ms_rule_state_begin(L, &state);
  uint32_t merge_count;
  ms_staged_merge *merges = read_merges(L, 2, job.buffers, &state, &merge_count);
  ms_staged *run = lua_newuserdata(L, sizeof *run);
  memset(run, 0, sizeof *run);
  luaL_getmetatable(L, RUN);
  lua_setmetatable(L, -2);
  luaL_checkstack(L, LUA_MINSTACK, NULL);
  ms_error err;
  ms_error_clear(&err);
  ms_session **session = ms_run_check_session(L, 1);
  int failed = ms_staged_begin(run, *session, &job, merges, merge_count, &err);
  if (failed == 0) failed = run_stages(L, run, &state, &err);
  if (failed > 0) {
    ms_staged_undo(run);
    bool lost = run->outcome.lost;
    ms_staged_end(run, *session);
    return push_raised(L, failed, lost);
  }
  if (failed < 0) {
    int results = push_failure(L, &run->outcome, &err);
    ms_staged_end(run, *session);
    return results;
  }
  lua_getfield(L, 2, "flat");
  lua_getfield(L, 2, "apart");
  bool flat = lua_toboolean(L, -2), apart = lua_toboolean(L, -1);
  lua_pop(L, 2);
  push_outcome(L, &run->total, flat, apart);
  ms_staged_end(run, *session);
  return 1;
}

void ms_lua_open_run(lua_State *L) {
  luaL_newmetatable(L, RUN);
  lua_pushcfunction(L, run_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
}
