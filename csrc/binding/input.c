/* SPDX-License-Identifier: MIT
 *
 * The analyser's input from Lua tables: bindings; space.c has iteration spaces. Malformed tables
 * raise; memory is a userdata on the Lua stack from the start. */
#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <string.h>

#include "binding/field.h"
#include "binding/lua.h"

static ms_binding_kind kind_of(lua_State *L, int table) {
  static const char *const names[] = {"nil",   "number",  "boolean",  "string", "array",
                                      "table", "builtin", "function", "unknown"};
  lua_getfield(L, table, "kind");
  const char *kind = lua_tostring(L, -1);
  for (size_t k = 0; kind != NULL && k < sizeof names / sizeof names[0]; k++) {
    if (strcmp(names[k], kind) != 0) continue;
    lua_pop(L, 1);
    return (ms_binding_kind)k;
  }
  luaL_error(L, "unknown kind of binding: %s", kind == NULL ? "none" : kind);
  return MS_BIND_UNKNOWN;
}

/* dims = {d1, d2, ...}; the list is on top of the stack. */
static void read_dims(lua_State *L, ms_binding *binding) {
  size_t count = lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
  if (count < 1 || count > MS_MAX_DIMS)
    luaL_error(L, "an array has 1 to %d dimensions", MS_MAX_DIMS);
  binding->dim_count = (uint32_t)count;
  for (size_t k = 0; k < count; k++) {
    lua_rawgeti(L, -1, (int)k + 1);
    binding->dims[k] = ms_field_to_whole(L, -1, "dims");
    lua_pop(L, 1);
  }
}

/* Where the lists of all bindings go, one after the other. */
typedef struct room {
  uint32_t main, all; /* bindings of the loop; with those that functions and tables lead to */
  uint32_t *reached, *reached_end;
  ms_meaning *means, *means_end;
  ms_field *fields, *fields_end;
  ms_mapping *views, *views_end;
} room;

static void check_room(lua_State *L, bool fits) {
  if (!fits) luaL_error(L, "bindings changed while they were read");
}

/* The number on top of the stack as an index: n > 0 is binding n, -n is the n-th inner one. */
static uint32_t pop_index(lua_State *L, const room *at) {
  int64_t value = ms_field_to_whole(L, -1, "an index");
  int64_t index = value > 0 ? value - 1 : at->main - value - 1;
  if (value == 0 || index >= at->all) luaL_error(L, "no such binding");
  lua_pop(L, 1);
  return (uint32_t)index;
}

static void read_reached(lua_State *L, ms_binding *binding, room *at) {
  size_t count = lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
  check_room(L, count <= (size_t)(at->reached_end - at->reached));
  binding->reached = at->reached;
  binding->reached_count = (uint32_t)count;
  for (size_t k = 0; k < count; k++) {
    lua_rawgeti(L, -1, (int)k + 1);
    *at->reached++ = pop_index(L, at);
  }
}

/* means = {index, depth, index, depth, ...}, for each capture of `code` */
static void read_means(lua_State *L, ms_binding *binding, room *at) {
  size_t count = lua_istable(L, -1) ? lua_objlen(L, -1) / 2 : 0;
  check_room(L, count <= (size_t)(at->means_end - at->means));
  binding->means = at->means;
  if (binding->code != NULL && count != binding->code->capture_count)
    luaL_error(L, "a function's means do not fit its captures");
  for (size_t k = 0; k < count; k++) {
    lua_rawgeti(L, -1, (int)(2 * k) + 1);
    at->means->binding = pop_index(L, at);
    lua_rawgeti(L, -1, (int)(2 * k) + 2);
    at->means->depth = ms_field_to_small(L, -1, "depth");
    lua_pop(L, 1);
    if (binding->code != NULL && at->means->depth > binding->code->captures[k].field_count)
      luaL_error(L, "a function's capture is not that deep");
    at->means++;
  }
}

/* fields = {name, index, name, index, ...}; the names stay alive in the list */
static void read_fields(lua_State *L, ms_binding *binding, room *at) {
  size_t count = lua_istable(L, -1) ? lua_objlen(L, -1) / 2 : 0;
  check_room(L, count <= (size_t)(at->fields_end - at->fields));
  binding->fields = at->fields;
  binding->field_count = (uint32_t)count;
  for (size_t k = 0; k < count; k++) {
    lua_rawgeti(L, -1, (int)(2 * k) + 1);
    if (lua_type(L, -1) != LUA_TSTRING) luaL_error(L, "a field's name is a string");
    at->fields->name = lua_tostring(L, -1);
    lua_pop(L, 1);
    lua_rawgeti(L, -1, (int)(2 * k) + 2);
    at->fields->binding = pop_index(L, at);
    at->fields++;
  }
}

static void read_list(lua_State *L, int table, const char *key, ms_binding *binding, room *at,
                      void (*read)(lua_State *, ms_binding *, room *)) {
  lua_getfield(L, table, key);
  read(L, binding, at);
  lua_pop(L, 1);
}

/* Element `at` of the list on top of the stack. */
static int64_t listed(lua_State *L, int list, uint32_t at) {
  lua_rawgeti(L, list, (int)at + 1);
  int64_t value = ms_field_to_whole(L, -1, "a view");
  lua_pop(L, 1);
  return value;
}

/* view = {dims =, first =: by dimension of the base; along =, factor =: of the view}; along counts
 * from 1, 0 is none. */
static void read_view(lua_State *L, ms_binding *binding, room *at) {
  if (!lua_istable(L, -1)) return;
  static const char *const keys[] = {"dims", "first", "along", "factor"};
  int list[4];
  for (int k = 0, table = lua_gettop(L); k < 4; k++) {
    lua_getfield(L, table, keys[k]);
    luaL_checktype(L, -1, LUA_TTABLE);
    list[k] = lua_gettop(L);
  }
  size_t count = lua_objlen(L, list[0]);
  check_room(L, at->views < at->views_end && count >= 1 && count <= MS_MAX_DIMS);
  ms_mapping *view = at->views++;
  *view = (ms_mapping){.dim_count = (uint32_t)count};
  for (uint32_t k = 0; k < count; k++) {
    view->dims[k] = listed(L, list[0], k);
    view->first[k] = listed(L, list[1], k);
  }
  for (uint32_t d = 0; d < binding->dim_count; d++) {
    int64_t along = listed(L, list[2], d);
    view->along[d] = along < 1 || along > (int64_t)count ? MS_MAX_DIMS : (uint32_t)along - 1;
    view->factor[d] = listed(L, list[3], d);
  }
  binding->view = view;
  lua_pop(L, 4);
}

/* What an array is. */
static void read_array(lua_State *L, int table, ms_binding *binding, room *at) {
  binding->array = ms_field_count(L, table, "array", 0);
  binding->storage = ms_field_count(L, table, "storage", 0);
  binding->buffers = ms_field_count(L, table, "buffers", 0);
  binding->sparse = ms_field_boolean(L, table, "sparse");
  binding->marks = ms_field_boolean(L, table, "marks");
  binding->scratch = ms_field_boolean(L, table, "scratch");
  binding->replica = ms_field_boolean(L, table, "replica");
  binding->frozen = ms_field_boolean(L, table, "frozen");
  binding->integer = ms_field_boolean(L, table, "integer");
  lua_getfield(L, table, "dims");
  read_dims(L, binding);
  lua_pop(L, 1);
  read_list(L, table, "view", binding, at, read_view);
}

/* What a table or something that can be called may do, and leads to. */
static void read_effects(lua_State *L, int table, ms_binding *binding, room *at) {
  binding->draws = ms_field_boolean(L, table, "draws");
  binding->changes = ms_field_boolean(L, table, "changes");
  binding->stores = ms_field_boolean(L, table, "stores");
  binding->changer = ms_field_string(L, table, "changer", NULL);
  binding->other = ms_field_string(L, table, "other", NULL);
  binding->sole_name = ms_field_boolean(L, table, "sole_name");
  binding->objects = ms_field_small(L, table, "objects", 0);
  binding->plain_data = ms_field_boolean(L, table, "plain_data");
  binding->numbers = ms_field_small(L, table, "numbers", 0);
  binding->listed = ms_field_boolean(L, table, "listed");
  binding->class = ms_field_boolean(L, table, "class");
  binding->levels = ms_field_small(L, table, "levels", 0);
  binding->stores_nothing = ms_field_boolean(L, table, "stores_nothing");
  binding->kept = ms_field_boolean(L, table, "kept");
  binding->owned = ms_field_boolean(L, table, "owned");
  binding->metamethods = ms_field_small(L, table, "metamethods", 0);
  binding->impure = ms_field_string(L, table, "impure", NULL);
  lua_getfield(L, table, "code");
  if (!lua_isnil(L, -1)) binding->code = ms_lua_check_loop(L, -1);
  lua_pop(L, 1);
  read_list(L, table, "reached", binding, at, read_reached);
  read_list(L, table, "means", binding, at, read_means);
  read_list(L, table, "fields", binding, at, read_fields);
}

static void read_binding(lua_State *L, int table, ms_binding *binding, room *at) {
  *binding = (ms_binding){.kind = kind_of(L, table)};
  binding->depth = ms_field_small(L, table, "depth", 0);
  binding->number = ms_field_number(L, table, "number", NAN); /* of a boolean, 1 or 0 */
  if (binding->kind == MS_BIND_NUMBER) binding->each = ms_field_whole(L, table, "each", 0);
  binding->aliased = ms_field_boolean(L, table, "aliased");
  binding->receiver = ms_field_small(L, table, "receiver", 0);
  binding->alias = ms_field_string(L, table, "alias", NULL);
  binding->globals = ms_field_string(L, table, "globals", NULL);
  if (binding->kind < MS_BIND_ARRAY) return;
  binding->name = ms_field_string(L, table, "name", NULL);
  if (binding->kind == MS_BIND_ARRAY) {
    read_array(L, table, binding, at);
  } else {
    read_effects(L, table, binding, at);
  }
}

/* Adds to `total` the length of a list in the table on top of the stack. */
static void add_length(lua_State *L, const char *key, size_t *total) {
  lua_getfield(L, -1, key);
  if (lua_istable(L, -1)) *total += lua_objlen(L, -1);
  lua_pop(L, 1);
}

typedef struct lengths {
  size_t reached, means, fields, views;
} lengths;

/* How long the bindings' lists are; checks that every binding is a table. */
static void count_lists(lua_State *L, int index, size_t count, lengths *total) {
  for (size_t b = 0; b < count; b++) {
    lua_rawgeti(L, index, (int)b + 1);
    if (!lua_istable(L, -1)) luaL_error(L, "binding %d is not a table", (int)b + 1);
    add_length(L, "reached", &total->reached);
    add_length(L, "means", &total->means);
    add_length(L, "fields", &total->fields);
    lua_getfield(L, -1, "view");
    total->views += lua_istable(L, -1);
    lua_pop(L, 1);
    lua_pop(L, 1);
  }
}

static room make_room(lua_State *L, ms_binding **list, size_t bindings, const lengths *total) {
  if (bindings > 100000) luaL_error(L, "too many bindings");
  if (total->reached > 10000000 || total->means > 10000000 || total->fields > 10000000)
    luaL_error(L, "the bindings lead to too much");
  size_t means = total->means / 2, fields = total->fields / 2;
  *list = lua_newuserdata(L, (bindings + 1) * sizeof(ms_binding) +
                                 total->views * sizeof(ms_mapping) + fields * sizeof(ms_field) +
                                 means * sizeof(ms_meaning) + total->reached * sizeof(uint32_t));
  room at = {.all = (uint32_t)bindings, .views = (ms_mapping *)(void *)(*list + bindings + 1)};
  at.views_end = at.views + total->views;
  at.fields = (ms_field *)(void *)at.views_end;
  at.fields_end = at.fields + fields;
  at.means = (ms_meaning *)(void *)at.fields_end;
  at.means_end = at.means + means;
  at.reached = (uint32_t *)(void *)at.means_end;
  at.reached_end = at.reached + total->reached;
  return at;
}

const ms_binding *ms_lua_to_bindings(lua_State *L, int index, uint32_t *count) {
  if (index < 0) index += lua_gettop(L) + 1;
  luaL_checktype(L, index, LUA_TTABLE);
  lua_getfield(L, index, "inner");
  int inner = lua_gettop(L);
  size_t main = lua_objlen(L, index), more = lua_istable(L, inner) ? lua_objlen(L, inner) : 0;
  lengths total = {0};
  count_lists(L, index, main, &total);
  count_lists(L, inner, more, &total);
  ms_binding *list;
  room at = make_room(L, &list, main + more, &total);
  at.main = (uint32_t)main;
  for (size_t b = 0; b < main + more; b++) {
    lua_rawgeti(L, b < main ? index : inner, (int)(b < main ? b : b - main) + 1);
    read_binding(L, lua_gettop(L), &list[b], &at);
    lua_pop(L, 1);
  }
  lua_remove(L, inner);
  *count = (uint32_t)(main + more);
  return list;
}
