/* SPDX-License-Identifier: MIT
 *
 * Undo logs as Lua values, for loops that the engine runs in this process.
 *
 *   core.undo(job) -> undo | nil, error       undo:restore()
 *
 * `job` is what session:run takes (job.h). The log is made at once, of all that the job may write.
 */
#include <lauxlib.h>
#include <lua.h>
#include <string.h>

#include "binding/binding.h"
#include "binding/field.h"
#include "binding/job.h"
#include "job/undo.h"

#define UNDO "meissa.undo"

typedef struct undo_log {
  ms_undo undo;
  ms_grid grid;
  ms_segment_block room;
} undo_log;

/* Logs everything, in pieces. `operands` outlive the log. */
static int fill(undo_log *log, const ms_job *job, ms_operand *operands, void **data,
                ms_error *err) {
  for (uint32_t i = 0; i < job->operand_count; i++) {
    operands[i] = job->operands[i].operand;
    data[i] = job->operands[i].data;
    if (ms_operand_check(&operands[i], i, &log->grid, false, err) != 0) return -1;
  }
  ms_undo *undo = &log->undo;
  const ms_range_starts none = {{0}};
  if (ms_undo_divide(undo, &log->grid, &none, operands, job->operand_count, err) != 0) return -1;
  if (undo->size == 0) return 0;
  if (ms_undo_room(&log->room, undo->size, err) != 0) return -1;
  ms_undo_attach(undo, ms_segment_block_at(&log->room), data);
  ms_undo_clear(undo);
  for (uint32_t i = 0; i < job->operand_count; i++) ms_undo_log_operand(undo, i);
  return 0;
}

static int undo_new(lua_State *L) {
  lua_settop(L, 1);
  ms_job job;
  ms_read_job(L, 1, &job);
  undo_log *log = lua_newuserdata(L, sizeof *log);
  memset(log, 0, sizeof *log);
  log->grid = job.grid;
  luaL_getmetatable(L, UNDO);
  lua_setmetatable(L, -2);
  int self = lua_gettop(L);
  lua_createtable(L, 1, 0); /* keeps what the log points to */
  ms_operand *operands = ms_scratch(L, job.operand_count, sizeof *operands);
  lua_rawseti(L, self + 1, 1);
  void **data = ms_scratch(L, job.operand_count, sizeof *data);
  lua_pushvalue(L, self + 1);
  lua_setfenv(L, self);
  ms_error err;
  ms_error_clear(&err);
  if (fill(log, &job, operands, data, &err) != 0) return ms_push_error(L, &err);
  lua_settop(L, self);
  return 1;
}

static int undo_restore(lua_State *L) {
  undo_log *log = luaL_checkudata(L, 1, UNDO);
  ms_undo_restore(&log->undo);
  return 0;
}

static int undo_gc(lua_State *L) {
  undo_log *log = luaL_checkudata(L, 1, UNDO);
  ms_undo_free(&log->undo);
  ms_segment_block_release(&log->room);
  return 0;
}

void ms_bind_undo(lua_State *L) {
  static const luaL_Reg methods[] = {{"restore", undo_restore}, {"free", undo_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"undo", undo_new}, {NULL, NULL}};
  luaL_newmetatable(L, UNDO);
  lua_newtable(L);
  luaL_register(L, NULL, methods);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, undo_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
  luaL_register(L, NULL, functions);
}
