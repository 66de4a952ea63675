/* SPDX-License-Identifier: MIT
 *
 * Jobs as Lua tables: see job.h. */
#include "binding/job.h"

#include <lauxlib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "binding/field.h"

static int64_t read_dim(lua_State *L, int table, int index) {
  lua_rawgeti(L, table, index);
  double value = lua_tonumber(L, -1);
  if (!lua_isnumber(L, -1) || !(value >= 0 && value <= 9007199254740992.0)) {
    luaL_error(L, "dims and strides are whole numbers");
  }
  lua_pop(L, 1);
  return (int64_t)value;
}

static uint32_t read_movement(lua_State *L, int table) {
  size_t size;
  const char *name = ms_field_string(L, table, "movement", &size);
  for (uint32_t each = 0; name != NULL && each < MS_MOVEMENTS; each++) {
    if (strcmp(name, ms_movement_name(each)) == 0) return each;
  }
  luaL_error(L,
             "movement is none of cached, served, broadcast, local, rotated, scattered, exchanged, "
             "versioned");
  return 0;
}

/* The rows of each dimension in the list `name`, counted from 1; without it `otherwise`. */
static void read_rows(lua_State *L, int table, const char *name, uint32_t count,
                      const int64_t *otherwise, int64_t *rows) {
  lua_getfield(L, table, name);
  int list = lua_gettop(L);
  for (uint32_t d = 0; d < count; d++) {
    rows[d] = lua_istable(L, list) ? read_dim(L, list, (int)d + 1) : otherwise[d];
  }
  lua_pop(L, 1);
}

/* {along =, cut =, scale =, offset =} at the top of the stack. */
static void read_follow(lua_State *L, ms_writes *writes) {
  int table = lua_gettop(L);
  luaL_checktype(L, table, LUA_TTABLE);
  writes->follow[writes->follows++] =
      (ms_follow){.dim = (uint32_t)(ms_field_count(L, table, "along", 1) - 1),
                  .axis = (uint32_t)(ms_field_count(L, table, "cut", 1) - 1),
                  .scale = ms_field_integer(L, table, "scale", 1),
                  .offset = ms_field_integer(L, table, "offset", 0)};
}

/* What may be written of an operand: the rows low .. high of each dimension, and those that go with
 * the ranges of axes: `follow`, by default those that move. */
static void read_writes(lua_State *L, int table, ms_operand *operand) {
  ms_writes *writes = &operand->writes;
  static const int64_t first[MS_ARRAY_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1};
  read_rows(L, table, "low", operand->dim_count, first, writes->low);
  read_rows(L, table, "high", operand->dim_count, operand->dims, writes->high);
  for (uint32_t d = 0; d < operand->dim_count; d++) {
    if (writes->high[d] < writes->low[d]) writes->high[d] = writes->low[d] - 1; /* nothing */
    writes->low[d]--;
  }
  lua_getfield(L, table, "blind");
  writes->blind = lua_toboolean(L, -1) ? 1 : 0;
  lua_getfield(L, table, "follow");
  int follow = lua_gettop(L);
  if (lua_istable(L, follow)) {
    size_t count = lua_objlen(L, follow);
    for (size_t k = 1; k <= count && k <= MS_FOLLOWS; k++) {
      lua_rawgeti(L, follow, (int)k);
      read_follow(L, writes);
      lua_pop(L, 1);
    }
  } else if (operand->movement == MS_MOVE_LOCAL || operand->movement == MS_MOVE_ROTATED) {
    writes->follows = 1;
    writes->follow[0] = (ms_follow){.dim = operand->array_dim,
                                    .axis = operand->cut,
                                    .scale = operand->scale,
                                    .offset = operand->offset};
  }
  lua_pop(L, 2);
}

/* Reads the list of parts at the top of the stack, {low =, high =} with rows counted from 1. */
static ms_section *read_parts(lua_State *L, const ms_operand *operand, uint32_t *count) {
  static const int64_t none[MS_ARRAY_DIMS] = {0};
  int parts = lua_gettop(L);
  *count = (uint32_t)lua_objlen(L, parts);
  ms_section *given = ms_scratch(L, *count, sizeof *given);
  for (uint32_t k = 0; k < *count; k++) {
    lua_rawgeti(L, parts, (int)k + 1);
    int part = lua_gettop(L);
    luaL_checktype(L, part, LUA_TTABLE);
    read_rows(L, part, "low", operand->dim_count, none, given[k].low);
    read_rows(L, part, "high", operand->dim_count, none, given[k].high);
    for (uint32_t d = 0; d < operand->dim_count; d++) {
      if (given[k].low[d]-- < 1 || given[k].high[d] > operand->dims[d]) {
        luaL_error(L, "a part reaches beyond its operand");
      }
    }
    lua_pop(L, 1);
  }
  return given;
}

/* The sections of an operand that consists of `parts`, which may overlap: they stay with its table.
 * None where the parts are all of it, or too many. */
static void read_sections(lua_State *L, int table, ms_operand *operand) {
  int top = lua_gettop(L);
  lua_getfield(L, table, "parts");
  if (lua_istable(L, -1)) {
    uint32_t count;
    const ms_section *given = read_parts(L, operand, &count);
    ms_section *apart = ms_scratch(L, MS_MOST_SECTIONS, sizeof *apart);
    uint32_t found = ms_sections_apart(given, count, operand->dim_count, apart);
    ms_section *kept = ms_scratch(L, found, sizeof *kept);
    lua_setfield(L, table, "sections");
    memcpy(kept, apart, found * sizeof *kept);
    ms_operand parted = *operand;
    parted.section_count = found;
    parted.sections = kept;
    if (found > 0 && ms_operand_elements(&parted) < ms_operand_elements(operand)) *operand = parted;
  }
  lua_settop(L, top);
}

/* How an operand moves, where no plan says it. */
static void read_travel(lua_State *L, int table, ms_operand *operand) {
  operand->movement = read_movement(L, table);
  lua_getfield(L, table, "written");
  operand->written = lua_toboolean(L, -1) ? 1 : 0;
  lua_pop(L, 1);
  operand->array_dim = (uint32_t)(ms_field_count(L, table, "along", 1) - 1);
  operand->cut = (uint32_t)(ms_field_count(L, table, "cut", 1) - 1);
  operand->scale = ms_field_integer(L, table, "scale", 1);
  operand->offset = ms_field_integer(L, table, "offset", 0);
  operand->slot = (uint32_t)ms_field_count(L, table, "slot", 0);
  operand->depth = (uint32_t)ms_field_count(L, table, "depth", 0);
  lua_getfield(L, table, "by_number");
  operand->by_number = lua_toboolean(L, -1) ? 1 : 0;
  lua_pop(L, 1);
}

/* {id, version, pointer, segment, element, dims, strides, array or movement, written, along, cut,
 * scale, offset, offsets, needs, low, high, follow, blind, parts, slot, depth, by_number}; along
 * and cut count from 1. */
static void read_operand(lua_State *L, int table, ms_job_operand *operand) {
  ms_operand *shape = &operand->operand;
  operand->data = ms_field_pointer(L, table, "pointer");
  operand->segment = ms_field_pointer(L, table, "segment");
  operand->offsets = ms_field_pointer(L, table, "offsets");
  operand->needs = ms_field_pointer(L, table, "needs");
  shape->id = ms_field_count(L, table, "id", 0);
  shape->version = ms_field_count(L, table, "version", 0);
  shape->element = (uint32_t)ms_field_count(L, table, "element", 0);
  operand->array = (uint32_t)ms_field_count(L, table, "array", 0);
  if (operand->array == 0) read_travel(L, table, shape);
  lua_getfield(L, table, "dims");
  lua_getfield(L, table, "strides");
  int dims = lua_gettop(L) - 1, strides = dims + 1;
  luaL_checktype(L, dims, LUA_TTABLE);
  size_t count = lua_objlen(L, dims);
  if (count == 0 || count > MS_ARRAY_DIMS) luaL_error(L, "an operand has 1 to 8 dims");
  shape->dim_count = (uint32_t)count;
  int64_t stride = 1;
  for (int d = (int)count - 1; d >= 0; d--) {
    shape->dims[d] = read_dim(L, dims, d + 1);
    shape->strides[d] = lua_istable(L, strides) ? read_dim(L, strides, d + 1) : stride;
    if (__builtin_mul_overflow(stride, shape->dims[d], &stride)) stride = 0;
  }
  lua_pop(L, 2);
  read_sections(L, table, shape);
  if (shape->written) read_writes(L, table, shape);
}

/* The operands of a list. One with a field `lasting` never changes: what was read stays with it,
 * whatever plans it is used with. */
static const ms_job_operand *read_operands(lua_State *L, int table, uint32_t *count) {
  lua_getfield(L, table, "operands");
  int list = lua_gettop(L);
  *count = lua_istable(L, list) ? (uint32_t)lua_objlen(L, list) : 0;
  if (*count == 0) return NULL;
  lua_getfield(L, list, "lasting");
  if (lua_isuserdata(L, -1)) return lua_touserdata(L, -1);
  bool lasting = lua_toboolean(L, -1);
  ms_job_operand *operands = ms_scratch(L, *count, sizeof *operands);
  int memory = lua_gettop(L);
  for (uint32_t i = 0; i < *count; i++) {
    lua_rawgeti(L, list, (int)i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    read_operand(L, lua_gettop(L), &operands[i]);
    lua_pop(L, 1);
  }
  lua_pushvalue(L, memory);
  if (lasting) lua_setfield(L, list, "lasting");
  return operands;
}

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

void ms_read_grid(lua_State *L, int table, ms_job *job) {
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
    int64_t ranges = read_dim(L, lua_gettop(L), (int)d + 1);
    job->grid.ranges[d] = ranges > UINT32_MAX ? UINT32_MAX : (uint32_t)ranges;
  }
  lua_getfield(L, table, "bounds");
  int bounds = lua_gettop(L);
  for (uint32_t d = 0; lua_istable(L, bounds) && d < job->grid.count; d++) {
    lua_rawgeti(L, bounds, (int)d + 1);
    job->bounds.start[d] = ms_to_pointer(L, -1, "bounds");
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

void ms_read_job(lua_State *L, int table, ms_job *job) {
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
  if (!read_plan(L, table, job)) ms_read_grid(L, table, job);
  read_rounds(L, table, &job->rounds);
  const int64_t *starts = ms_field_pointer(L, table, "starts");
  if (starts != NULL && job->grid.sequential == 1) job->bounds.start[1] = starts;
  const uint64_t *loads = ms_field_pointer(L, table, "loads");
  if (loads != NULL) job->loads = loads;
  job->operands = read_operands(L, table, &job->operand_count);
  for (uint32_t i = 0; i < job->operand_count; i++) {
    uint32_t arrays = job->plan != NULL ? job->plan->arrays : 0;
    if (job->operands[i].array > arrays) luaL_error(L, "an operand that its plan does not know");
  }
}
