/* SPDX-License-Identifier: MIT
 *
 * Jobs as Lua tables: see job.h. */
#include "binding/job.h"

#include <lauxlib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "binding/field.h"

/* Takes what a plan says; whether the table has one. */
static bool read_plan(lua_State *L, int table, ms_job *job) {
  const ms_plan *plan = ms_field_pointer(L, table, "plan");
  if (plan == NULL) return false;
  job->plan = plan;
  job->grid = plan->grid;
  uint64_t first = ms_field_count(L, table, "first", 0);
  uint64_t last = ms_field_count(L, table, "last", plan->blocks);
  job->grid.first = first > UINT32_MAX ? UINT32_MAX : (uint32_t)first;
  job->grid.last = last > UINT32_MAX ? UINT32_MAX : (uint32_t)last;
  job->bounds = plan->bounds;
  job->loads = plan->loads;
  return true;
}

void ms_job_read_grid(lua_State *L, int table, ms_job *job) {
  size_t size;
  const char *name = ms_field_string(L, table, "strategy", &size);
  ms_strategy strategy = name == NULL ? MS_STRATEGIES : ms_strategy_find(name);
  if (strategy == MS_STRATEGIES)
    luaL_error(L, "strategy '%s' cannot be run", name == NULL ? "nil" : name);
  job->grid.strategy = strategy;
  uint64_t together = ms_field_count(L, table, "together", 0);
  job->grid.together = together > UINT32_MAX ? UINT32_MAX : (uint32_t)together;
  uint64_t sequential = ms_field_count(L, table, "sequential", 0);
  job->grid.sequential = sequential > UINT32_MAX ? UINT32_MAX : (uint32_t)sequential;
  uint64_t first = ms_field_count(L, table, "first", 0), last = ms_field_count(L, table, "last", 0);
  job->grid.first = first > UINT32_MAX ? UINT32_MAX : (uint32_t)first;
  job->grid.last = last > UINT32_MAX ? UINT32_MAX : (uint32_t)last;
  lua_getfield(L, table, "ranges");
  luaL_checktype(L, -1, LUA_TTABLE);
  size_t count = lua_objlen(L, -1);
  if (count > MS_CUTS) luaL_error(L, "too many axes");
  job->grid.count = (uint32_t)count;
  for (uint32_t d = 0; d < job->grid.count; d++) {
    lua_rawgeti(L, -1, (int)d + 1);
    int64_t ranges = ms_field_to_whole(L, -1, "a number of ranges");
    job->grid.ranges[d] = ranges < 0 || ranges > UINT32_MAX ? UINT32_MAX : (uint32_t)ranges;
    lua_pop(L, 1);
  }
  lua_getfield(L, table, "bounds");
  int bounds = lua_gettop(L);
  for (uint32_t d = 0; lua_istable(L, bounds) && d < job->grid.count; d++) {
    lua_rawgeti(L, bounds, (int)d + 1);
    job->bounds.start[d] = ms_field_to_pointer(L, -1, "bounds");
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
}

/* rounds = {sync = name or nil, staleness =, depth = rounds and versions or nil, workers = how many
 * may run, backup =, timeout = in hundredths, lagged = whether reads wait as exact ones, to see
 * older versions, read_first = uint64 and reads = uint32 as bytes, see ms_task_rounds} */
static void read_rounds(lua_State *L, int table, ms_task_rounds *rounds) {
  ms_error err = {0};
  size_t size;
  lua_getfield(L, table, "rounds");
  int from = lua_gettop(L);
  if (lua_istable(L, from)) {
    const char *name = ms_field_string(L, from, "sync", &size);
    double staleness = ms_field_number(L, from, "staleness", MS_GATE_UNSAID);
    double depth = ms_field_number(L, from, "depth", MS_GATE_UNSAID);
    if (ms_gate_setting_find(name, isinf(staleness) ? MS_GATE_UNBOUNDED : (int64_t)staleness,
                             (int64_t)depth, &rounds->setting, &err) != 0) {
      luaL_error(L, "%s", err.message);
    }
    uint32_t workers = (uint32_t)ms_field_count(L, from, "workers", 1);
    ms_gate_setting_rename(&rounds->setting, workers);
    ms_gate_setting_excuse(&rounds->setting, (uint32_t)ms_field_count(L, from, "backup", 0),
                           (uint32_t)ms_field_count(L, from, "timeout", 0), workers);
    if (ms_field_count(L, from, "lagged", 0) > 0) rounds->setting.read_lag = 0; /* versions stay */
    rounds->read_first =
        (const uint64_t *)(const void *)ms_field_string(L, from, "read_first", &size);
    rounds->reads = (const uint32_t *)(const void *)ms_field_string(L, from, "reads", &size);
    rounds->read_count = rounds->reads == NULL ? 0 : size / sizeof *rounds->reads;
  }
  lua_pop(L, 1);
}

void ms_job_read(lua_State *L, int table, ms_job *job) {
  *job = (ms_job){0};
  luaL_checktype(L, table, LUA_TTABLE);
  job->key = ms_field_string(L, table, "key", &job->key_size);
  if (job->key == NULL) luaL_error(L, "a job needs the key of its kernel");
  job->kernel = ms_field_string(L, table, "kernel", &job->kernel_size);
  job->run = ms_field_string(L, table, "run", &job->run_size);
  job->workers = (uint32_t)ms_field_count(L, table, "workers", 0);
  job->buffers = (uint32_t)ms_field_count(L, table, "buffers", 0);
  lua_getfield(L, table, "transaction");
  job->transaction = lua_isnil(L, -1) || lua_toboolean(L, -1);
  lua_pop(L, 1);
  lua_getfield(L, table, "unlogged");
  job->unlogged = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  job->patience = ms_field_number(L, table, "patience", 0);
  if (!read_plan(L, table, job)) ms_job_read_grid(L, table, job);
  read_rounds(L, table, &job->rounds);
  const int64_t *starts = ms_field_pointer(L, table, "starts");
  if (starts != NULL && job->grid.sequential == 1) job->bounds.start[1] = starts;
  const uint64_t *loads = ms_field_pointer(L, table, "loads");
  if (loads != NULL) job->loads = loads;
  const ms_operands *operands = ms_field_pointer(L, table, "operands");
  job->operands = operands != NULL ? operands->list : NULL;
  job->operand_count = operands != NULL ? operands->count : 0;
  for (uint32_t i = 0; i < job->operand_count; i++) {
    uint32_t bindings = job->plan != NULL ? job->plan->bindings : 0;
    if (job->operands[i].binding > bindings)
      luaL_error(L, "an operand that its plan does not know");
  }
}
