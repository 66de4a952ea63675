/* SPDX-License-Identifier: MIT
 *
 * The analyser in Lua, loops: text to captures; verdict.c goes on from there.
 *
 * A loop userdata owns its tree. It is made before the C memory that it will own, so a Lua error on
 * the way leaks nothing. Lua's thread only. */
#include <lauxlib.h>
#include <limits.h>
#include <lua.h>
#include <string.h>

#include "array/method.h"
#include "binding/field.h"
#include "binding/lua.h"
#include "depend/capture_path.h"
#include "depend/parameter.h"
#include "syntax/version_split.h"

static const char loop_type[] = "meissa.loop";

typedef struct loop_box {
  ms_tree *tree;
  ms_loop *loop;
} loop_box;

static int collect_loop(lua_State *L) {
  loop_box *box = luaL_checkudata(L, 1, loop_type);
  ms_tree_destroy(&box->tree);
  box->loop = NULL;
  return 0;
}

ms_loop *ms_lua_check_loop(lua_State *L, int index) {
  loop_box *box = luaL_checkudata(L, index, loop_type);
  if (box->loop == NULL) luaL_argerror(L, index, "the loop was released");
  return box->loop;
}

static uint32_t check_line(lua_State *L, int index) {
  lua_Number line = luaL_checknumber(L, index);
  luaL_argcheck(L, line >= 0 && line <= INT_MAX, index, "not a line number");
  return (uint32_t)line;
}

static uint32_t check_optional(lua_State *L, int index) {
  return lua_isnoneornil(L, index) ? 0 : check_line(L, index);
}

/* The text of a function that runs is one that this LuaJIT has compiled. */
static void say_newer(ms_error *err) {
  ms_error found = *err;
  ms_error_clear(err);
  ms_error_set(err, MS_SRC,
               "%s, which this LuaJIT reads: Meissa knows the syntax that LuaJIT had until 2026; "
               "keep newer operators and statements out of files with parallel loops",
               found.message);
  ms_error_place(err, found.file, found.line);
}

/* core.loop(text, chunkname, first_line, last_line, place, line): the loop whose call opens on
 * `line` in the function with these lines and, if it is given, at this place (see ms_which);
 * without `line`, that function as a loop's body; without lines, the first loop of the text. */
static int make_loop(lua_State *L) {
  size_t length;
  ms_error err = {0};
  const char *text = luaL_checklstring(L, 1, &length);
  const char *name = luaL_checkstring(L, 2);
  bool first = lua_isnoneornil(L, 3);
  ms_which which = {0};
  if (!first) which = (ms_which){check_line(L, 3), check_line(L, 4), check_optional(L, 5)};
  bool closure = lua_isnoneornil(L, 6);
  uint32_t line = check_optional(L, 6);
  loop_box *box = lua_newuserdata(L, sizeof *box);
  *box = (loop_box){0};
  luaL_getmetatable(L, loop_type);
  lua_setmetatable(L, -2);
  box->tree = ms_tree_parse(text, length, name, &err);
  if (box->tree != NULL) {
    box->loop = first     ? ms_loop_first(box->tree, &err)
                : closure ? ms_loop_closure(box->tree, which, &err)
                          : ms_loop_find(box->tree, which, line, &err);
  } else if (!first) {
    say_newer(&err);
  }
  return box->loop != NULL ? 1 : ms_lua_push_error(L, &err);
}

typedef struct capture_uses {
  const ms_loop *loop;
  int64_t capture;
  bool read, stored;
} capture_uses;

static bool visit_use(ms_node *node, void *context) {
  capture_uses *uses = context;
  if (ms_capture_path_of(uses->loop, node) != uses->capture) return true;
  const ms_node *around = node->parent;
  bool element = around->kind == MS_INDEX && node->ordinal == 0;
  bool target =
      element && around->parent->kind == MS_ASSIGN && around->ordinal < around->parent->targets;
  uses->stored = uses->stored || target;
  uses->read = uses->read || !target;
  return true;
}

/* Whether the body reads elements of what a capture is, and stores none by its name. */
static bool is_read_only(const ms_loop *loop, uint32_t capture) {
  capture_uses uses = {.loop = loop, .capture = capture};
  ms_node_walk(loop->body, visit_use, &uses);
  return uses.read && !uses.stored;
}

static void push_capture(lua_State *L, const ms_capture *capture, bool parameter, bool argument) {
  static const char *const reach[] = {"local", "upvalue", "global"};
  lua_createtable(L, 0, 8);
  ms_field_set_string(L, "root", capture->root);
  ms_field_set_string(L, "reach", reach[capture->reach]);
  lua_createtable(L, (int)capture->field_count, 0);
  for (uint32_t f = 0; f < capture->field_count; f++) {
    lua_pushstring(L, capture->fields[f]);
    lua_rawseti(L, -2, (int)f + 1);
  }
  lua_setfield(L, -2, "fields");
  ms_field_set_boolean(L, "assigned", capture->assigned);
  ms_field_set_boolean(L, "parameter", parameter);
  ms_field_set_boolean(L, "argument", argument);
  ms_field_set_number(L, "line", capture->first->line);
  ms_field_set_number(L, "column", capture->first->column);
  ms_field_set_boolean(L, "tested", capture->tested);
  ms_field_set_boolean(L, "next", capture->symbol != NULL && capture->symbol->next);
  if (capture->read != NULL) ms_field_set_number(L, "read", capture->read->line);
  if (capture->called != NULL) ms_field_set_number(L, "called", capture->called->line);
}

/* loop:captures(); `parameter`: a plan may depend on its value, if it is a number; `argument`: it
 * may if captured functions are looked into; `reads`: elements of it may be read, and none are
 * stored by its name; `read` and
 * `called`: the lines of the first uses that need a value and that call it; `tested`: some use only
 * asks whether it is there. */
static int loop_captures(lua_State *L) {
  const ms_loop *loop = ms_lua_check_loop(L, 1);
  bool *used = lua_newuserdata(L, 2 * (loop->capture_count + 1));
  bool *through = used + loop->capture_count + 1;
  if (ms_parameters_find(loop, false, NULL, used) != 0 ||
      ms_parameters_find(loop, true, NULL, through) != 0)
    return luaL_error(L, "not enough memory");
  lua_createtable(L, (int)loop->capture_count, 0);
  for (uint32_t c = 0; c < loop->capture_count; c++) {
    push_capture(L, &loop->captures[c], used[c], through[c]);
    ms_field_set_boolean(L, "only_read", is_read_only(loop, c));
    lua_rawseti(L, -2, (int)c + 1);
  }
  return 1;
}

/* loop:parameters({whether a capture is an array, ...}, whether captured functions are looked
 * into): by capture, whether a plan may depend on its value */
static int loop_parameters(lua_State *L) {
  const ms_loop *loop = ms_lua_check_loop(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  bool through = lua_toboolean(L, 3) != 0;
  bool *arrays = lua_newuserdata(L, 2 * (loop->capture_count + 1));
  bool *used = arrays + loop->capture_count + 1;
  for (uint32_t c = 0; c < loop->capture_count; c++) {
    lua_rawgeti(L, 2, (int)c + 1);
    arrays[c] = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
  }
  if (ms_parameters_find(loop, through, arrays, used) != 0) {
    return luaL_error(L, "not enough memory");
  }
  lua_createtable(L, (int)loop->capture_count, 0);
  for (uint32_t c = 0; c < loop->capture_count; c++) {
    lua_pushboolean(L, used[c]);
    lua_rawseti(L, -2, (int)c + 1);
  }
  return 1;
}

static void push_name(const char *name, void *context) {
  lua_State *L = context;
  lua_pushstring(L, name);
  lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
}

static bool add_name(ms_node *node, void *context) {
  lua_State *L = context;
  if (node->kind != MS_METHOD && (node->kind != MS_STRING || node->parent->kind != MS_INDEX))
    return true;
  lua_pushlstring(L, node->text, node->length);
  lua_pushboolean(L, true);
  lua_rawset(L, -3);
  return true;
}

/* loop:names(): the constant names of fields and methods in the body, as keys */
static int loop_names(lua_State *L) {
  const ms_loop *loop = ms_lua_check_loop(L, 1);
  lua_newtable(L);
  ms_node_walk(loop->body, add_name, L);
  return 1;
}

/* The capture that a call with one constant string calls, or -1: require "name". */
static int64_t named_call(const ms_loop *loop, const ms_node *node) {
  if (node->kind != MS_CALL || node->kids != 2 || node->kid[1]->kind != MS_STRING) return -1;
  return ms_capture_path_of(loop, node->kid[0]);
}

typedef struct calls {
  lua_State *L;
  const ms_loop *loop;
} calls;

static bool add_call(ms_node *node, void *context) {
  calls *all = context;
  int64_t capture = named_call(all->loop, node);
  if (capture < 0) return true;
  int count = (int)lua_objlen(all->L, -1);
  lua_pushinteger(all->L, (lua_Integer)capture + 1);
  lua_rawseti(all->L, -2, count + 1);
  lua_pushlstring(all->L, node->kid[1]->text, node->kid[1]->length);
  lua_rawseti(all->L, -2, count + 2);
  return true;
}

/* loop:calls(): what the body calls with one constant string, as require "name": {capture, string,
 * capture, string, ...} */
static int loop_calls(lua_State *L) {
  calls all = {L, ms_lua_check_loop(L, 1)};
  lua_newtable(L);
  ms_node_walk(all.loop->body, add_call, &all);
  return 1;
}

/* loop:visible(c): names of the local variables that can be seen where capture c is first used */
static int loop_visible(lua_State *L) {
  const ms_loop *loop = ms_lua_check_loop(L, 1);
  lua_Integer c = luaL_checkinteger(L, 2);
  luaL_argcheck(L, c >= 1 && c <= (lua_Integer)loop->capture_count, 2, "no such capture");
  lua_newtable(L);
  ms_loop_each_visible(loop, loop->captures[c - 1].first, push_name, L);
  return 1;
}

/* loop:indices() */
static int loop_indices(lua_State *L) {
  const ms_loop *loop = ms_lua_check_loop(L, 1);
  lua_createtable(L, (int)loop->index_count, 0);
  for (uint32_t k = 0; k < loop->index_count; k++) {
    lua_pushstring(L, loop->indices[k]->name);
    lua_rawseti(L, -2, (int)k + 1);
  }
  return 1;
}

static ms_reach reach_of(const ms_loop *loop, const ms_symbol *symbol) {
  if (symbol == NULL) return MS_REACH_GLOBAL;
  return symbol->function == loop->function ? MS_REACH_LOCAL : MS_REACH_UPVALUE;
}

/* Adds `callee` for a loop over the call of a path of constant fields: like a capture, and `text`,
 * its source. */
static void set_callee(lua_State *L, const ms_loop *loop) {
  if (loop->closure != NULL || loop->call->kind != MS_CALL) return;
  const ms_node *callee = loop->call->kid[0], *root = callee;
  uint32_t fields = 0;
  for (; root->kind == MS_INDEX && root->kid[1]->kind == MS_STRING; root = root->kid[0]) fields++;
  if (root->kind != MS_NAME) return;
  static const char *const reach[] = {"local", "upvalue", "global"};
  lua_createtable(L, 0, 4);
  ms_field_set_string(L, "root", root->text);
  ms_field_set_string(L, "reach", reach[reach_of(loop, root->symbol)]);
  lua_createtable(L, (int)fields, 0);
  for (const ms_node *each = callee; fields > 0; each = each->kid[0]) {
    lua_pushlstring(L, each->kid[1]->text, each->kid[1]->length);
    lua_rawseti(L, -2, (int)fields--);
  }
  lua_setfield(L, -2, "fields");
  lua_pushlstring(L, loop->tree->text + callee->begin, callee->end - callee->begin);
  lua_setfield(L, -2, "text");
  lua_setfield(L, -2, "callee");
}

static bool find_power(ms_node *node, void *context) {
  bool *found = context;
  *found = *found || (node->kind == MS_BINARY && node->op == MS_OP_POW);
  return !*found;
}

/* loop:info(): lines of the statement, of the call's bracket and of the body, and the bytes (from
 * 1, inclusive, as for string.sub) of the statement, the call and the body. */
static int loop_info(lua_State *L) {
  const ms_loop *loop = ms_lua_check_loop(L, 1);
  const ms_tree *tree = loop->tree;
  const struct {
    const char *begin, *end;
    const ms_node *node;
  } spans[] = {{"begin", "finish", loop->statement},
               {"call_begin", "call_finish", loop->call},
               {"body_begin", "body_finish", loop->body}};
  uint32_t last_line = loop->statement->line;
  for (size_t k = loop->statement->begin; k < loop->statement->end; k++)
    last_line += tree->text[k] == '\n';
  lua_createtable(L, 0, 12);
  ms_field_set_number(L, "line",
                      loop->closure != NULL ? loop->statement->line : loop->call->open_line);
  ms_field_set_number(L, "first_line", loop->statement->line);
  ms_field_set_number(L, "last_line", last_line);
  ms_field_set_number(L, "body_first_line",
                      loop->body->kids > 0 ? loop->body->kid[0]->line : loop->body->line);
  for (size_t k = 0; k < sizeof spans / sizeof spans[0]; k++) {
    ms_field_set_number(L, spans[k].begin, (double)spans[k].node->begin + 1);
    ms_field_set_number(L, spans[k].end, (double)spans[k].node->end);
  }
  ms_field_set_boolean(L, "closure_form", loop->closure != NULL);
  set_callee(L, loop);
  bool power = false;
  ms_node_walk(loop->body, find_power, &power);
  ms_field_set_boolean(L, "power", power);
  return 1;
}

static bool changes_array(const char *name) {
  const ms_method *method = ms_method_find(name);
  return method != NULL &&
         (method->effect == MS_METHOD_WRITE || method->effect == MS_METHOD_UPDATE);
}

/* loop:split(flags): gives what the body writes of the captures with a true flag a variable of its
 * own, see syntax/version_split.h. The captures are others then. */
static int loop_split(lua_State *L) {
  ms_error err = {0};
  ms_loop *loop = ms_lua_check_loop(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  bool *split = lua_newuserdata(L, (loop->capture_count + 1) * sizeof *split);
  for (uint32_t c = 0; c < loop->capture_count; c++) {
    lua_rawgeti(L, 2, (int)c + 1);
    split[c] = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  if (ms_version_split(loop, split, changes_array, &err) != 0) return ms_lua_push_error(L, &err);
  lua_settop(L, 1);
  return 1;
}

void ms_lua_open_analysis(lua_State *L) {
  static const luaL_Reg methods[] = {{"captures", loop_captures},
                                     {"parameters", loop_parameters},
                                     {"indices", loop_indices},
                                     {"info", loop_info},
                                     {"names", loop_names},
                                     {"calls", loop_calls},
                                     {"keys", ms_lua_list_keys},
                                     {"settle", ms_lua_settle_keys},
                                     {"visible", loop_visible},
                                     {"split", loop_split},
                                     {"strict", ms_lua_strict_function},
                                     {NULL, NULL}};
  luaL_newmetatable(L, loop_type);
  lua_pushcfunction(L, collect_loop);
  lua_setfield(L, -2, "__gc");
  lua_newtable(L);
  luaL_register(L, NULL, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_pushcfunction(L, make_loop);
  lua_setfield(L, -2, "loop");
}
