/* SPDX-License-Identifier: MIT
 *
 * Kernels for Lua: core.emit, core.emit_native and core.digest. */
#include <lauxlib.h>
#include <string.h>

#include "base/digest.h"
#include "binding/field.h"
#include "binding/lua.h"
#include "kernel/emit/emit.h"
#include "kernel/emit/strict_text.h"
#include "kernel/native/native_emit.h"

/* What an emission owns while Lua may raise errors: freed by the collector. */
typedef struct emission_box {
  ms_text text;
  ms_kernel_info info;
  ms_element *elements;
} emission_box;

#define EMISSION "meissa.emission"

static int emission_gc(lua_State *L) {
  emission_box *emission = luaL_checkudata(L, 1, EMISSION);
  ms_text_free(&emission->text);
  ms_kernel_info_clear(&emission->info);
  return 0;
}

static emission_box *new_emission(lua_State *L) {
  emission_box *emission = lua_newuserdata(L, sizeof *emission);
  *emission = (emission_box){0};
  if (luaL_newmetatable(L, EMISSION)) {
    lua_pushcfunction(L, emission_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return emission;
}

/* loop:strict(pow): the text of a function with calls of `pow` in the place of `^`, and the line
 * that it begins on. */
int ms_lua_strict_function(lua_State *L) {
  const ms_loop *loop = ms_lua_check_loop(L, 1);
  const char *pow = luaL_checkstring(L, 2);
  luaL_argcheck(L, loop->closure != NULL, 1, "a function expected");
  emission_box *emission = new_emission(L);
  ms_strict_text(loop->tree, loop->closure, pow, &emission->text);
  if (emission->text.failed) return luaL_error(L, "not enough memory");
  lua_pushlstring(L, emission->text.bytes, emission->text.length);
  lua_pushinteger(L, (lua_Integer)loop->closure->first_line);
  return 2;
}

static int32_t type_number(lua_State *L, int index) {
  static const char *const names[] = {"float", "double", "int32", "int64", "object", NULL};
  return luaL_checkoption(L, index, "double", names);
}

/* Reads elements[c] = {type =, strides = {...}} for the captures that are arrays. */
static void read_elements(lua_State *L, int index, const ms_binding *bindings, ms_element *elements,
                          uint32_t count) {
  for (uint32_t c = 0; c < count; c++) {
    lua_rawgeti(L, index, (int)c + 1);
    if (bindings[c].kind == MS_BIND_ARRAY && !lua_istable(L, -1))
      luaL_error(L, "capture %d is an array without an element type", (int)c + 1);
    if (lua_istable(L, -1)) {
      lua_getfield(L, -1, "type");
      elements[c].type = type_number(L, -1);
      lua_getfield(L, -2, "strides");
      luaL_checktype(L, -1, LUA_TTABLE);
      for (int d = 0; d < MS_MAX_DIMS; d++) {
        lua_rawgeti(L, -1, d + 1);
        elements[c].strides[d] = (int64_t)lua_tonumber(L, -1);
        lua_pop(L, 1);
      }
      lua_pop(L, 2);
      lua_getfield(L, -1, "rows");
      elements[c].rows = lua_toboolean(L, -1);
      lua_getfield(L, -2, "touched");
      elements[c].touched = lua_toboolean(L, -1);
      lua_pop(L, 2);
    }
    lua_pop(L, 1);
  }
}

/* Pushes "opts.model.rate". */
static void push_path(lua_State *L, const ms_capture *capture, uint32_t fields) {
  luaL_Buffer path;
  luaL_buffinit(L, &path);
  luaL_addstring(&path, capture->root);
  for (uint32_t f = 0; f < fields; f++) {
    luaL_addchar(&path, '.');
    luaL_addstring(&path, capture->fields[f]);
  }
  luaL_pushresult(&path);
}

static void push_captures(lua_State *L, const ms_loop *loop, const ms_binding *bindings) {
  static const char *const reaches[] = {"local", "upvalue", "global"};
  lua_createtable(L, (int)loop->capture_count, 0);
  for (uint32_t c = 0; c < loop->capture_count; c++) {
    const ms_capture *capture = &loop->captures[c];
    lua_createtable(L, 0, 3);
    push_path(L, capture, bindings[c].depth);
    lua_setfield(L, -2, "path");
    ms_field_set_string(L, "reach", bindings[c].depth > 0 ? "field" : reaches[capture->reach]);
    ms_field_set_number(L, "line", capture->first->line);
    lua_rawseti(L, -2, (int)c + 1);
  }
}

static void push_params(lua_State *L, const ms_kernel_info *info) {
  static const char *const kinds[] = {"coord", "entries", "value",   "pointer", "stride", "step",
                                      "table", "rows",    "inner",   "draws",   "extent", "limit",
                                      "list",  "length",  "touched", "stack",   "starts"};
  lua_createtable(L, (int)info->param_count, 0);
  for (uint32_t p = 0; p < info->param_count; p++) {
    const ms_param *param = &info->params[p];
    lua_createtable(L, 0, 3);
    ms_field_set_string(L, "kind", kinds[param->kind]);
    ms_field_set_number(L, "at", param->at + 1);
    ms_field_set_number(L, "dim", param->dim + 1);
    if (param->path != NULL) {
      ms_field_set_string(L, "path", param->path);
    }
    lua_rawseti(L, -2, (int)p + 1);
  }
}

static void push_results(lua_State *L, const ms_kernel_info *info, const ms_verdict *verdict) {
  lua_createtable(L, (int)info->result_count, 0);
  for (uint32_t r = 0; r < info->result_count; r++) {
    bool head = (info->results[r] & MS_RESULT_HEAD) != 0;
    const ms_scalar_plan *scalar = &verdict->scalars[info->results[r] & ~MS_RESULT_HEAD];
    static const char *const roles[] = {
        [MS_ROLE_REDUCTION] = "reduction", [MS_ROLE_PRIVATE] = "private",
        [MS_ROLE_SLICED] = "sliced",       [MS_ROLE_LISTED] = "listed",
        [MS_ROLE_COUNTED] = "counted",     [MS_ROLE_MARKED] = "marked"};
    bool reduction = scalar->role == MS_ROLE_REDUCTION;
    lua_createtable(L, 0, 10);
    ms_field_set_boolean(L, "exact", scalar->exact);
    ms_field_set_boolean(L, "ranked", scalar->ranked);
    ms_field_set_number(L, "capture", scalar->capture + 1);
    ms_field_set_string(L, "role", head ? "head" : roles[scalar->role]);
    if (reduction) {
      ms_field_set_string(L, "op", ms_reduce_op_name(scalar->op));
      ms_field_set_string(L, "wins", ms_reduce_wins_name(scalar->wins));
      ms_field_set_number(L, "leader", scalar->leader + 1);
      ms_field_set_boolean(L, "unset", scalar->unset);
      if (scalar->tie > 0) {
        ms_field_set_number(L, "tie", scalar->tie);
        ms_field_set_string(L, "tie_op", ms_reduce_op_name(scalar->tie_op));
      }
      if (scalar->gated) lua_pushnumber(L, scalar->gate + 1);
      if (scalar->gated) lua_setfield(L, -2, "gate");
    }
    lua_rawseti(L, -2, (int)r + 1);
  }
}

/* Sets `lines`, those on which the body stands as the user has them, and `before`, how many bytes
 * of them stand before it. */
static void push_lines(lua_State *L, const ms_loop *loop) {
  const char *text = loop->tree->text;
  size_t before = loop->body->column - 1, begin = loop->body->begin - before;
  size_t end = loop->body->end;
  while (end < loop->tree->length && text[end] != '\n') end++;
  lua_pushlstring(L, text + begin, end - begin);
  lua_setfield(L, -2, "lines");
  ms_field_set_number(L, "before", (lua_Number)before);
}

/* Pushes what the Lua side must know about the text. */
static void push_info(lua_State *L, const ms_kernel_job *job, const ms_kernel_info *info) {
  lua_createtable(L, 0, 12);
  push_captures(L, job->loop, job->bindings);
  lua_setfield(L, -2, "captures");
  push_params(L, info);
  lua_setfield(L, -2, "params");
  push_results(L, info, job->verdict);
  lua_setfield(L, -2, "results");
  lua_createtable(L, (int)info->spilled_count, 0);
  for (uint32_t s = 0; s < info->spilled_count; s++) {
    lua_pushnumber(L, info->spilled[s] + 1);
    lua_rawseti(L, -2, (int)s + 1);
  }
  lua_setfield(L, -2, "spilled");
  ms_field_set_string(L, "chunkname", job->loop->tree->name);
  ms_field_set_string(L, "prefix", info->prefix);
  push_lines(L, job->loop);
  ms_field_set_number(L, "line", job->loop->body->line);
  ms_field_set_boolean(L, "entries", info->entries);
  ms_field_set_number(L, "dim_count", info->dims);
  ms_field_set_number(L, "positions", info->positions);
  ms_field_set_boolean(L, "row", info->row);
  ms_field_set_boolean(L, "declines", info->declines);
  ms_field_set_boolean(L, "shaped", info->shaped);
  lua_createtable(L, (int)info->dims, 0);
  for (uint32_t d = 0; d < info->dims; d++) {
    lua_pushnumber(L, (lua_Number)job->verdict->extent[d].range.step);
    lua_rawseti(L, -2, (int)d + 1);
  }
  lua_setfield(L, -2, "steps");
}

/* Reads (loop, plan, bindings, space, elements, entry_type) from the first six of eight arguments;
 * vectors are userdata left on the stack. */
static void read_job(lua_State *L, ms_kernel_job *job, ms_space *space) {
  uint32_t count;
  job->loop = ms_lua_check_loop(L, 1);
  job->verdict = ms_lua_check_verdict(L, 2);
  luaL_checktype(L, 5, LUA_TTABLE);
  lua_settop(L, 8);
  job->bindings = ms_lua_to_bindings(L, 3, &count);
  ms_lua_to_space(L, 4, space);
  job->space = space;
  if (count < job->loop->capture_count)
    luaL_argerror(L, 3, "fewer bindings than the loop has captures");
  job->binding_count = count;
  ms_element *elements = lua_newuserdata(L, (count + 1) * sizeof *elements);
  memset(elements, 0, (count + 1) * sizeof *elements);
  read_elements(L, 5, job->bindings, elements, (uint32_t)lua_objlen(L, 3));
  job->elements = elements;
  job->entry_type = lua_isnoneornil(L, 6) ? MS_DOUBLE : type_number(L, 6);
}

/* core.emit(loop, plan, bindings, space, elements, entry_type, locals, general) -> text, info or
 * nil, error. `locals` bounds the captured values that are passed as locals; nil for the usual
 * bound. */
static int emit(lua_State *L) {
  ms_space space;
  ms_kernel_job job = {0};
  read_job(L, &job, &space);
  job.locals = (uint32_t)luaL_optinteger(L, 7, MS_KERNEL_LOCALS);
  job.general = lua_toboolean(L, 8) != 0;
  emission_box *emission = new_emission(L);
  ms_error err;
  ms_error_clear(&err);
  if (ms_kernel_emit(&job, &emission->text, &emission->info, &err) != 0)
    return ms_lua_push_error(L, &err);
  lua_pushlstring(L, emission->text.bytes, emission->text.length);
  push_info(L, &job, &emission->info);
  return 2;
}

static void push_advice(lua_State *L, const ms_kernel_job *job, const ms_kernel_info *info) {
  if (info->fast_line != 0) {
    ms_field_set_number(L, "fast_line", info->fast_line);
  }
  if (info->wide_line != 0 && info->wide < job->loop->capture_count) {
    ms_field_set_number(L, "wide_line", info->wide_line);
    ms_field_set_number(L, "wide", info->wide + 1);
  }
}

/* core.emit_native(loop, plan, bindings, space, elements, entry_type, fast, general) -> C text,
 * info; or nil, {line =, column =, message =} if the body stays on the Lua engine; or nil, error.
 * The info is that of core.emit with `messages`, the texts of MS_NATIVE_ERROR, and what would be
 * faster, if anything: `fast_line`, or `wide` and `wide_line`, see emit.h. */
static int emit_native(lua_State *L) {
  ms_space space;
  ms_kernel_job job = {0};
  read_job(L, &job, &space);
  bool fast = lua_toboolean(L, 7);
  job.general = lua_toboolean(L, 8);
  emission_box *emission = new_emission(L);
  ms_native_messages messages;
  ms_native_refusal why;
  ms_error err;
  ms_error_clear(&err);
  int result = ms_native_emit(&job, fast, &emission->text, &emission->info, &messages, &why, &err);
  if (result < 0) return ms_lua_push_error(L, &err);
  if (result > 0) {
    lua_pushnil(L);
    lua_createtable(L, 0, 3);
    ms_field_set_number(L, "line", why.line);
    ms_field_set_number(L, "column", why.column);
    ms_field_set_string(L, "message", why.message);
    return 2;
  }
  lua_pushlstring(L, emission->text.bytes, emission->text.length);
  push_info(L, &job, &emission->info);
  lua_createtable(L, (int)messages.count, 0);
  for (uint32_t m = 0; m < messages.count; m++) {
    lua_pushstring(L, messages.text[m]);
    lua_rawseti(L, -2, (int)m + 1);
  }
  lua_setfield(L, -2, "messages");
  push_advice(L, &job, &emission->info);
  return 2;
}

/* core.digest(string) -> 32 hexadecimal digits */
static int digest(lua_State *L) {
  size_t length;
  const char *bytes = luaL_checklstring(L, 1, &length);
  char hex[MS_DIGEST_SIZE + 1];
  ms_digest(bytes, length, hex);
  lua_pushlstring(L, hex, MS_DIGEST_SIZE);
  return 1;
}

void ms_lua_open_kernel(lua_State *L) {
  lua_pushcfunction(L, emit);
  lua_setfield(L, -2, "emit");
  lua_pushcfunction(L, emit_native);
  lua_setfield(L, -2, "emit_native");
  lua_pushcfunction(L, digest);
  lua_setfield(L, -2, "digest");
}
