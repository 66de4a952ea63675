/* SPDX-License-Identifier: MIT
 *
 * Workers and their jobs as Lua values, for lua/meissa/worker/init.lua.
 *
 *   core.worker(fd) -> worker        worker:next() -> job | nil       worker:number()  :close()
 *   worker:rest(ms) -> boolean
 *   job = {key, kernel, forgets, run, ranges, mark}     job:operands() -> {operand, ...}
 *   job:equip(memory), a cdata ms_block_local that lives as long as the job
 *   job:version(versions), a cdata ms_versions that lives as long as the job
 *   job:next_block() -> block, range, ... | nil      job:block_done(bytes, defers)
 *   job:may_defer() -> boolean
 *   job:fail(bytes, order)                           job:print(bytes)
 *   job:meet(count, stays) -> boolean                job:leave()
 *   job:post(stays)   job:posts() -> number | nil    job:await_posts(number) -> boolean
 *
 * Blocks and ranges are numbered from 0. Errors raise: a worker that cannot speak to its driver
 * has nothing left to do. */
#include <lauxlib.h>
#include <lua.h>

#include "base/threads.h"
#include "binding/field.h"
#include "binding/lua.h"
#include "job/setup.h"
#include "worker/native_run.h"

#define WORKER "meissa.worker"

static ms_worker *check_worker(lua_State *L, int index) {
  ms_worker **worker = luaL_checkudata(L, index, WORKER);
  if (*worker == NULL) luaL_error(L, "the worker is closed");
  return *worker;
}

/* Job methods are closures over their worker. */
static ms_worker *job_worker(lua_State *L) {
  return check_worker(L, lua_upvalueindex(1));
}

/* Raises: a worker that cannot speak to its driver has nothing left to do. */
static int raise(lua_State *L, const ms_error *err) {
  return luaL_error(L, "%s: %s", ms_code_name(err->code), err->message);
}

static int job_next_block(lua_State *L) {
  ms_worker *worker = job_worker(L);
  ms_error err;
  ms_error_clear(&err);
  uint32_t block;
  int got = ms_worker_next_block(worker, &block, &err);
  if (got < 0) return raise(L, &err);
  if (got == 0) return 0;
  const ms_grid *grid = &ms_worker_task(worker)->grid;
  lua_pushinteger(L, (lua_Integer)block);
  for (uint32_t d = 0; d < grid->count; d++) {
    lua_pushinteger(L, (lua_Integer)ms_grid_range(grid, block, d));
  }
  return 1 + (int)grid->count;
}

static int job_block_done(lua_State *L) {
  ms_worker *worker = job_worker(L);
  ms_error err;
  ms_error_clear(&err);
  size_t size = 0;
  const char *bytes = luaL_optlstring(L, 2, "", &size);
  if (lua_toboolean(L, 3)) ms_worker_defer(worker);
  if (ms_worker_block_done(worker, bytes, size, &err) != 0) return raise(L, &err);
  return 0;
}

static int job_may_defer(lua_State *L) {
  lua_pushboolean(L, ms_worker_may_defer(job_worker(L)));
  return 1;
}

/* job:version(versions): see ms_worker_version. */
static int job_version(lua_State *L) {
  ms_worker_version(job_worker(L), (void *)(size_t)lua_topointer(L, 2));
  return 0;
}

/* job:equip(memory): see ms_worker_equip. */
static int job_equip(lua_State *L) {
  ms_worker_equip(job_worker(L), lua_topointer(L, 2));
  return 0;
}

/* job:run_native(run): see ms_native_run_blocks. The argument is a cdata ms_native_run. True when a
 * block reported a fault, false when no blocks are left. */
static int job_run_native(lua_State *L) {
  ms_worker *worker = job_worker(L);
  ms_error err;
  ms_error_clear(&err);
  int got = ms_native_run_blocks(worker, lua_topointer(L, 2), &err);
  if (got < 0) return raise(L, &err);
  lua_pushboolean(L, got);
  return 1;
}

static int job_fail(lua_State *L) {
  ms_worker *worker = job_worker(L);
  ms_error err;
  ms_error_clear(&err);
  ms_body_error error;
  error.bytes = luaL_checklstring(L, 2, &error.size);
  error.order = luaL_optlstring(L, 3, "", &error.order_size);
  if (ms_worker_fail(worker, &error, &err) != 0) return raise(L, &err);
  return 0;
}

static int job_print(lua_State *L) {
  ms_worker *worker = job_worker(L);
  ms_error err;
  ms_error_clear(&err);
  size_t size;
  const char *bytes = luaL_checklstring(L, 2, &size);
  if (ms_worker_print(worker, bytes, size, &err) != 0) return raise(L, &err);
  return 0;
}

/* job:meet(count, stays): see ms_worker_meet. Whether all are there; nothing where they cannot
 * meet. */
static int job_meet(lua_State *L) {
  ms_worker *worker = job_worker(L);
  ms_error err;
  ms_error_clear(&err);
  int come = ms_worker_meet(worker, (uint32_t)luaL_checkinteger(L, 2), lua_toboolean(L, 3), &err);
  if (come < 0) return raise(L, &err);
  if (come > 1) return 0;
  lua_pushboolean(L, come);
  return 1;
}

/* job:leave(): see ms_worker_leave. */
static int job_leave(lua_State *L) {
  ms_worker_leave(job_worker(L));
  return 0;
}

/* job:post(stays): see ms_worker_post. */
static int job_post(lua_State *L) {
  ms_worker_post(job_worker(L), lua_toboolean(L, 2));
  return 0;
}

/* job:posts(): see ms_worker_posts. Nothing where all are to leave. */
static int job_posts(lua_State *L) {
  uint64_t posts;
  if (!ms_worker_posts(job_worker(L), &posts)) return 0;
  lua_pushnumber(L, (lua_Number)posts);
  return 1;
}

/* job:await_posts(seen): see ms_worker_await_posts. */
static int job_await_posts(lua_State *L) {
  ms_worker *worker = job_worker(L);
  ms_error err;
  ms_error_clear(&err);
  int come = ms_worker_await_posts(worker, (uint64_t)luaL_checknumber(L, 2), &err);
  if (come < 0) return raise(L, &err);
  lua_pushboolean(L, come);
  return 1;
}

/* {pointer, element, size, dims, strides} of one operand. */
static void push_operand(lua_State *L, const ms_worker *worker, uint32_t number) {
  const ms_operand *operand = &ms_worker_task(worker)->operands[number];
  bool dense;
  void *place = ms_worker_operand(worker, number, &dense);
  ms_strided box = ms_operand_box(operand, place, dense);
  lua_createtable(L, 0, 5);
  lua_pushlightuserdata(L, place);
  lua_setfield(L, -2, "pointer");
  ms_field_set_number(L, "element", operand->element);
  ms_field_set_number(L, "size", (double)ms_strided_count(&box));
  lua_createtable(L, (int)operand->dim_count, 0);
  lua_createtable(L, (int)operand->dim_count, 0);
  for (uint32_t d = 0; d < operand->dim_count; d++) {
    lua_pushnumber(L, (lua_Number)box.dims[d]);
    lua_rawseti(L, -3, (int)d + 1);
    lua_pushnumber(L, (lua_Number)box.strides[d]);
    lua_rawseti(L, -2, (int)d + 1);
  }
  lua_setfield(L, -3, "strides");
  lua_setfield(L, -2, "dims");
}

static int job_operands(lua_State *L) {
  ms_worker *worker = job_worker(L);
  const ms_task *task = ms_worker_task(worker);
  lua_createtable(L, (int)task->operand_count, 0);
  for (uint32_t i = 0; i < task->operand_count; i++) {
    push_operand(L, worker, i);
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

static const luaL_Reg job_methods[] = {{"next_block", job_next_block},
                                       {"block_done", job_block_done},
                                       {"may_defer", job_may_defer},
                                       {"equip", job_equip},
                                       {"version", job_version},
                                       {"run_native", job_run_native},
                                       {"fail", job_fail},
                                       {"print", job_print},
                                       {"operands", job_operands},
                                       {"meet", job_meet},
                                       {"leave", job_leave},
                                       {"post", job_post},
                                       {"posts", job_posts},
                                       {"await_posts", job_await_posts},
                                       {NULL, NULL}};

static int worker_new(lua_State *L) {
  int channel = (int)luaL_optinteger(L, 1, MS_CHANNEL_FD);
  ms_error err;
  ms_error_clear(&err);
  ms_worker **worker = lua_newuserdata(L, sizeof *worker);
  *worker = NULL;
  luaL_getmetatable(L, WORKER);
  lua_setmetatable(L, -2);
  lua_newtable(L); /* the worker's environment: the metatable of its jobs */
  lua_newtable(L);
  for (const luaL_Reg *each = job_methods; each->name != NULL; each++) {
    lua_pushvalue(L, -3);
    lua_pushcclosure(L, each->func, 1);
    lua_setfield(L, -2, each->name);
  }
  lua_setfield(L, -2, "__index");
  lua_setfenv(L, -2);
  ms_threads_limit(1); /* other workers have the other cores */
  *worker = ms_worker_connect(channel, &err);
  return *worker == NULL ? ms_lua_push_error(L, &err) : 1;
}

static int worker_close(lua_State *L) {
  ms_worker_destroy(luaL_checkudata(L, 1, WORKER));
  return 0;
}

static int worker_number(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)ms_worker_number(check_worker(L, 1)) + 1);
  return 1;
}

/* Bytes that are equal for jobs whose operands have the same elements in the same places. */
static void push_mark(lua_State *L, const ms_worker *worker) {
  typedef struct mark {
    void *place;
    uint64_t element, dims;
    int64_t dim[MS_ARRAY_DIMS], stride[MS_ARRAY_DIMS];
  } mark;
  const ms_task *task = ms_worker_task(worker);
  mark *marks = ms_field_scratch(L, task->operand_count, sizeof *marks);
  for (uint32_t i = 0; i < task->operand_count; i++) {
    const ms_operand *operand = &task->operands[i];
    bool dense;
    marks[i].place = ms_worker_operand(worker, i, &dense);
    marks[i].element = operand->element;
    marks[i].dims = operand->dim_count;
    ms_strided box = ms_operand_box(operand, marks[i].place, dense);
    for (uint32_t d = 0; d < operand->dim_count; d++) {
      marks[i].dim[d] = box.dims[d];
      marks[i].stride[d] = box.strides[d];
    }
  }
  lua_pushlstring(L, (const char *)marks, task->operand_count * sizeof *marks);
  lua_remove(L, -2);
}

/* worker:next() -> {key, kernel = bytes or nil, forgets, run, ranges, mark} or nil when it is
 * over. With `forgets` no earlier kernel is used again. */
static int worker_next(lua_State *L) {
  ms_worker *worker = check_worker(L, 1);
  ms_error err;
  ms_error_clear(&err);
  int got = ms_worker_next(worker, &err);
  if (got < 0) return raise(L, &err);
  if (got == 0) return 0;
  const ms_task *task = ms_worker_task(worker);
  lua_createtable(L, 0, 5);
  lua_getfenv(L, 1);
  lua_setmetatable(L, -2);
  lua_pushlstring(L, task->key, task->key_size);
  lua_setfield(L, -2, "key");
  lua_pushlstring(L, task->run, task->run_size);
  lua_setfield(L, -2, "run");
  if (task->kernel != NULL) {
    lua_pushlstring(L, task->kernel, task->kernel_size);
    lua_setfield(L, -2, "kernel");
  }
  if (ms_worker_forgets(worker)) {
    ms_field_set_boolean(L, "forgets", true);
  }
  lua_createtable(L, (int)task->grid.count, 0);
  for (uint32_t d = 0; d < task->grid.count; d++) {
    lua_pushinteger(L, (lua_Integer)task->grid.ranges[d]);
    lua_rawseti(L, -2, (int)d + 1);
  }
  lua_setfield(L, -2, "ranges");
  push_mark(L, worker);
  lua_setfield(L, -2, "mark");
  return 1;
}

/* worker:rest(ms): see ms_worker_rest. Whether there is time. */
static int worker_rest(lua_State *L) {
  ms_worker *worker = check_worker(L, 1);
  ms_error err;
  ms_error_clear(&err);
  int got = ms_worker_rest(worker, (int)luaL_checkinteger(L, 2), &err);
  if (got < 0) return raise(L, &err);
  lua_pushboolean(L, got);
  return 1;
}

void ms_lua_open_worker(lua_State *L) {
  static const luaL_Reg methods[] = {{"next", worker_next},
                                     {"rest", worker_rest},
                                     {"number", worker_number},
                                     {"close", worker_close},
                                     {NULL, NULL}};
  static const luaL_Reg functions[] = {{"worker", worker_new}, {NULL, NULL}};
  luaL_newmetatable(L, WORKER);
  lua_newtable(L);
  luaL_register(L, NULL, methods);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, worker_close);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
  luaL_register(L, NULL, functions);
}
