/* SPDX-License-Identifier: MIT
 *
 * Undo logs as Lua values, for loops that the engine runs in this process.
 *
 *   core.undo(job) -> undo | nil, error       undo:restore()       undo:free()
 *
 * `job` is what session:run takes (job.h), with `merged`, a list of the arrays (ms_array *) that
 * merging changes (core.merge), if there are any, and `spare`, a log that is free, whose memory
 * this one takes if it is enough: fresh pages cost more than what is copied to them. What else the
 * job may write is logged at once; of these arrays what is merged into. */
#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <string.h>

#include "binding/field.h"
#include "binding/job.h"
#include "binding/lua.h"
#include "binding/undo.h"

#define UNDO "meissa.undo"

typedef struct undo_log {
  ms_loop_undo undo;
  ms_segment_block room;
} undo_log;

static ms_array **read_merged(lua_State *L, int table, uint32_t *count) {
  lua_getfield(L, table, "merged");
  int list = lua_gettop(L);
  *count = lua_istable(L, list) ? (uint32_t)lua_objlen(L, list) : 0;
  ms_array **arrays = ms_field_scratch(L, *count, sizeof(ms_array *));
  for (uint32_t a = 0; a < *count; a++) {
    lua_rawgeti(L, list, (int)a + 1);
    arrays[a] = ms_field_to_pointer(L, -1, "merged");
    if (arrays[a] == NULL) luaL_error(L, "a log of no array");
    lua_pop(L, 1);
  }
  return arrays;
}

#define MOST_SPARE ((size_t)16 << 20) /* bytes of a free log */

/* The memory of the free log at `index`, if there is one, and it is enough. */
static bool take_spare(lua_State *L, int index, undo_log *log) {
  if (lua_isnil(L, index)) return false;
  undo_log *spare = luaL_checkudata(L, index, UNDO);
  if (spare->room.segment == NULL || spare->room.size < log->undo.undo.size) return false;
  log->room = spare->room;
  spare->room = (ms_segment_block){0};
  return true;
}

/* Logs all that the job itself writes, in pieces. `spare` is the index of a log or nil. */
static int fill(lua_State *L, undo_log *log, int spare, uint32_t operand_count, ms_error *err) {
  ms_undo *undo = &log->undo.undo;
  if (undo->size == 0) return 0;
  if (!take_spare(L, spare, log) && ms_undo_room(&log->room, undo->size, err) != 0) return -1;
  ms_loop_undo_attach(&log->undo, ms_segment_block_at(&log->room));
  for (uint32_t i = 0; i < operand_count; i++) ms_undo_log_operand(undo, i);
  return 0;
}

static int undo_new(lua_State *L) {
  static const ms_range_starts none;
  lua_settop(L, 1);
  ms_job job;
  ms_job_read(L, 1, &job);
  uint32_t merged_count;
  ms_array **merged = read_merged(L, 1, &merged_count);
  ms_operand *operands = ms_field_scratch(L, job.operand_count, sizeof *operands);
  void **data = ms_field_scratch(L, job.operand_count, sizeof *data);
  for (uint32_t i = 0; i < job.operand_count; i++) {
    operands[i] = ms_job_operand_of(&job, i);
    data[i] = job.operands[i].data;
  }
  lua_getfield(L, 1, "spare");
  int spare = lua_gettop(L);
  undo_log *log = lua_newuserdata(L, sizeof *log);
  memset(log, 0, sizeof *log);
  luaL_getmetatable(L, UNDO);
  lua_setmetatable(L, -2);
  lua_createtable(L, 1, 0); /* keeps the job's table: the operands point to sections that it has */
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, 1);
  lua_setfenv(L, -2);
  ms_error err;
  ms_error_clear(&err);
  if (ms_loop_undo_divide(&log->undo, &job.grid, &none, operands, data, job.operand_count, merged,
                          merged_count, &err) != 0 ||
      fill(L, log, spare, job.operand_count, &err) != 0) {
    return ms_lua_push_error(L, &err);
  }
  return 1;
}

ms_loop_undo *ms_check_undo(lua_State *L, int index) {
  if (lua_isnil(L, index)) return NULL;
  undo_log *log = luaL_checkudata(L, index, UNDO);
  return log->undo.undo.size == 0 ? NULL : &log->undo;
}

static int undo_restore(lua_State *L) {
  undo_log *log = luaL_checkudata(L, 1, UNDO);
  ms_undo_restore(&log->undo.undo);
  return 0;
}

static int undo_gc(lua_State *L) {
  undo_log *log = luaL_checkudata(L, 1, UNDO);
  ms_loop_undo_free(&log->undo);
  ms_segment_block_release(&log->room);
  return 0;
}

/* Frees all but memory that the next log may take. */
static int undo_free(lua_State *L) {
  undo_log *log = luaL_checkudata(L, 1, UNDO);
  if (log->room.size > MOST_SPARE) return undo_gc(L);
  ms_loop_undo_free(&log->undo);
  lua_newtable(L); /* in place of the job's */
  lua_setfenv(L, 1);
  return 0;
}

void ms_lua_open_undo(lua_State *L) {
  static const luaL_Reg methods[] = {{"restore", undo_restore}, {"free", undo_free}, {NULL, NULL}};
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
