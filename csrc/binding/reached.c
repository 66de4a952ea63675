/* SPDX-License-Identifier: MIT
 *
 * What captured functions and tables lead to: see reached.h. */
#include "binding/reached.h"

#include <lauxlib.h>
#include <string.h>

/* What the environment holds: by place, keys, and values that are no objects; by number, objects,
 * their forms, and the function that tells forms. */
enum { KEYS = 1, VALUES, OBJECTS, FORMS, FORM_OF };

/* What there is of a place in the list that Lua gives. */
enum { LISTED_KIND = 1, LISTED_SUBJECT, LISTED_KEY, LISTED_VALUE, LISTED = LISTED_VALUE };

/* A comparison under way: indices of the stack; `met`: the objects now, by number, and `taken`:
 * their numbers; 0: objects have to be the same. */
typedef struct comparison {
  ms_reached *all;
  int keys, values, objects, forms, form_of, met, taken;
} comparison;

/* Pushes the number of entries of a table. */
static void count_entries(lua_State *L, int table) {
  double count = 0;
  lua_pushnil(L);
  while (lua_next(L, table) != 0) {
    lua_pop(L, 1);
    count++;
  }
  lua_pushnumber(L, count);
}

/* Puts what is at a place above its key, which is at the top, in the place of its subject, which is
 * below, and the key. False where the subject is none. */
static bool read_place(lua_State *L, ms_reached_kind kind) {
  int subject = lua_gettop(L) - 1;
  bool fits = kind <= MS_REACHED_GLOBALS ? lua_isfunction(L, subject) : lua_istable(L, subject);
  if (!fits) return false;
  switch (kind) {
    case MS_REACHED_UPVALUE: {
      int number = (int)lua_tonumber(L, -1);
      if (lua_getupvalue(L, subject, number) == NULL) return false;
      break;
    }
    case MS_REACHED_GLOBALS:
      lua_getfenv(L, subject);
      break;
    case MS_REACHED_FIELD:
      lua_rawget(L, subject);
      break;
    case MS_REACHED_METATABLE:
      if (lua_getmetatable(L, subject) == 0) lua_pushnil(L);
      break;
    default:
      count_entries(L, subject);
  }
  lua_replace(L, subject);
  lua_settop(L, subject);
  return true;
}

static bool same_bits(double one, double other) {
  return memcmp(&one, &other, sizeof one) == 0;
}

/* Whether the value at the top has the form of the object with this number. */
static bool has_form(lua_State *L, const comparison *now, uint32_t object) {
  int top = lua_gettop(L);
  lua_pushvalue(L, now->form_of);
  lua_pushvalue(L, top);
  lua_call(L, 1, 1);
  lua_rawgeti(L, now->forms, (int)object);
  bool same = lua_toboolean(L, -1) != 0 && lua_rawequal(L, -1, -2) != 0;
  lua_settop(L, top);
  return same;
}

static bool is_at(lua_State *L, int table, uint32_t number) {
  lua_rawgeti(L, table, (int)number);
  bool same = lua_rawequal(L, -1, -2) != 0;
  lua_pop(L, 1);
  return same;
}

/* Whether the value at the top may be the object with this number, for which none was met yet. */
static bool meet(lua_State *L, const comparison *now, uint32_t object) {
  lua_pushvalue(L, -1);
  lua_rawget(L, now->taken);
  bool is_free = lua_isnil(L, -1);
  lua_pop(L, 1);
  if (!is_free) return false;
  if (!is_at(L, now->objects, object) && !has_form(L, now, object)) return false;
  lua_pushvalue(L, -1);
  lua_rawseti(L, now->met, (int)object);
  lua_pushvalue(L, -1);
  lua_pushboolean(L, true);
  lua_rawset(L, now->taken);
  return true;
}

/* Whether the value at the top is the object with this number. */
static bool same_object(lua_State *L, const comparison *now, uint32_t object) {
  if (now->met == 0) return is_at(L, now->objects, object);
  lua_rawgeti(L, now->met, (int)object);
  bool known = !lua_isnil(L, -1), same = lua_rawequal(L, -1, -2) != 0;
  lua_pop(L, 1);
  return known ? same : meet(L, now, object);
}

/* Whether the value at the top is that of place k. */
static bool same_value(lua_State *L, const comparison *now, uint32_t k) {
  ms_reached *all = now->all;
  ms_reached_place *place = &all->places[k];
  if (lua_type(L, -1) != place->type) return false;
  if (place->object != 0) return same_object(L, now, place->object);
  if (place->type != LUA_TNUMBER) return is_at(L, now->values, k + 1);
  double number = lua_tonumber(L, -1);
  if (same_bits(number, place->number)) return true;
  if (all->numbers_matter || place->kind == MS_REACHED_COUNT) return false;
  place->number = number;
  all->version++;
  return true;
}

/* Pushes what a comparison needs of the environment. */
static comparison begin(lua_State *L, int index) {
  comparison now = {.all = lua_touserdata(L, index)};
  lua_getfenv(L, index);
  int environment = lua_gettop(L);
  for (int k = KEYS; k <= FORM_OF; k++) lua_rawgeti(L, environment, k);
  now.keys = environment + KEYS;
  now.values = environment + VALUES;
  now.objects = environment + OBJECTS;
  now.forms = environment + FORMS;
  now.form_of = environment + FORM_OF;
  return now;
}

static bool compare(lua_State *L, const comparison *now) {
  int top = lua_gettop(L), subjects = now->met == 0 ? now->objects : now->met;
  bool same = true;
  for (uint32_t k = 0; same && k < now->all->count; k++) {
    const ms_reached_place *place = &now->all->places[k];
    lua_rawgeti(L, subjects, (int)place->subject);
    lua_rawgeti(L, now->keys, (int)k + 1);
    same = read_place(L, place->kind) && same_value(L, now, k);
    lua_settop(L, top);
  }
  return same;
}

bool ms_reached_same(lua_State *L, int index) {
  int top = lua_gettop(L);
  comparison now = begin(L, index);
  bool same = compare(L, &now);
  lua_settop(L, top);
  return same;
}

bool ms_reached_is_object(lua_State *L, int index, uint32_t object) {
  int value = lua_gettop(L);
  lua_getfenv(L, index);
  lua_rawgeti(L, -1, OBJECTS);
  lua_pushvalue(L, value);
  bool same = is_at(L, value + 2, object);
  lua_settop(L, value);
  return same;
}

/* Whether the objects in the table at `roots` may be those with their numbers. */
static bool meet_roots(lua_State *L, const comparison *now, int roots) {
  lua_pushnil(L);
  while (lua_next(L, roots) != 0) {
    if (!same_object(L, now, (uint32_t)lua_tonumber(L, -2))) return false;
    lua_pop(L, 1);
  }
  return true;
}

bool ms_reached_alike(lua_State *L, int index, int roots) {
  int top = lua_gettop(L);
  comparison now = begin(L, index);
  lua_createtable(L, (int)now.all->object_count, 0);
  now.met = lua_gettop(L);
  lua_createtable(L, 0, (int)now.all->object_count);
  now.taken = lua_gettop(L);
  bool alike = meet_roots(L, &now, roots) && compare(L, &now);
  for (uint32_t n = 1; alike && n <= now.all->object_count; n++) {
    lua_rawgeti(L, now.met, (int)n);
    lua_rawseti(L, now.objects, (int)n);
  }
  if (alike) now.all->moved = true;
  lua_settop(L, top);
  return alike;
}

ms_reached *ms_reached_check(lua_State *L, int index) {
  return luaL_checkudata(L, index, MS_REACHED);
}

static int tell_same(lua_State *L) {
  ms_reached_check(L, 1);
  luaL_checkstack(L, 10, "captured functions");
  lua_pushboolean(L, ms_reached_same(L, 1));
  return 1;
}

/* reached:version() -> another number after each `same` that has found other numbers */
static int tell_version(lua_State *L) {
  lua_pushnumber(L, ms_reached_check(L, 1)->version);
  return 1;
}

/* reached:moved() -> whether it tells of other functions and tables than it was made for */
static int tell_moved(lua_State *L) {
  lua_pushboolean(L, ms_reached_check(L, 1)->moved);
  return 1;
}

/* The number of the object at the top, which is popped; 0: it is none. */
static uint32_t pop_number(lua_State *L) {
  lua_rawget(L, 4);
  uint32_t number = (uint32_t)lua_tonumber(L, -1);
  lua_pop(L, 1);
  return number;
}

/* Reads place k of the list at 1; keys and values are put into tables of the stack. */
static void add_place(lua_State *L, ms_reached *made, uint32_t k, int keys, int values) {
  int first = (int)k * LISTED, top = lua_gettop(L);
  ms_reached_place *place = &made->places[k];
  lua_rawgeti(L, 1, first + LISTED_KIND);
  place->kind = (ms_reached_kind)lua_tonumber(L, -1);
  lua_rawgeti(L, 1, first + LISTED_SUBJECT);
  place->subject = pop_number(L);
  lua_rawgeti(L, 1, first + LISTED_KEY);
  lua_rawseti(L, keys, (int)k + 1);
  lua_rawgeti(L, 1, first + LISTED_VALUE);
  place->type = lua_type(L, -1);
  place->number = lua_tonumber(L, -1);
  if (place->type == LUA_TFUNCTION || place->type == LUA_TTABLE) {
    lua_pushvalue(L, -1);
    place->object = pop_number(L);
  }
  if (place->object == 0) lua_rawseti(L, values, (int)k + 1);
  lua_settop(L, top);
}

/* Makes the values of the table at `index` weak. */
static void weaken(lua_State *L, int index) {
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, index);
}

/* Puts the objects of the table at 4 into that at `objects`, by number; how many there are. */
static uint32_t add_objects(lua_State *L, int objects) {
  uint32_t count = 0;
  lua_pushnil(L);
  while (lua_next(L, 4) != 0) {
    int number = (int)lua_tonumber(L, -1);
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_rawseti(L, objects, number);
    count++;
  }
  return count;
}

static int make(lua_State *L) {
  lua_settop(L, 6);
  luaL_checktype(L, 1, LUA_TTABLE);
  int count = (int)luaL_checknumber(L, 2);
  luaL_argcheck(L, count >= 0 && count < (1 << 20), 2, "too many places");
  luaL_checktype(L, 4, LUA_TTABLE);
  luaL_checktype(L, 5, LUA_TTABLE);
  luaL_checktype(L, 6, LUA_TFUNCTION);
  size_t size = sizeof(ms_reached) + (size_t)count * sizeof(ms_reached_place);
  ms_reached *made = lua_newuserdata(L, size);
  memset(made, 0, size);
  made->count = (uint32_t)count;
  made->numbers_matter = lua_toboolean(L, 3) != 0;
  luaL_getmetatable(L, MS_REACHED);
  lua_setmetatable(L, 7);
  lua_createtable(L, FORM_OF, 0);
  for (int k = KEYS; k <= OBJECTS; k++) lua_newtable(L);
  const int environment = 8, keys = environment + KEYS, objects = environment + OBJECTS;
  for (uint32_t k = 0; k < made->count; k++) add_place(L, made, k, keys, keys + 1);
  made->object_count = add_objects(L, objects);
  weaken(L, keys + 1);
  weaken(L, objects);
  lua_pushvalue(L, 5);
  lua_pushvalue(L, 6);
  for (int k = FORM_OF; k >= KEYS; k--) lua_rawseti(L, environment, k);
  lua_setfenv(L, 7);
  return 1;
}

/* reached:place_of(subject, key) -> the place of this upvalue or field, counted from 0; or nothing
 */
static int find_place(lua_State *L) {
  ms_reached *of = ms_reached_check(L, 1);
  luaL_checkany(L, 3);
  lua_settop(L, 3);
  comparison now = begin(L, 1);
  int top = lua_gettop(L);
  for (uint32_t tried = 0; tried < of->count; tried++) {
    uint32_t k = (of->found + tried) % of->count;
    ms_reached_kind kind = of->places[k].kind;
    if (kind != MS_REACHED_UPVALUE && kind != MS_REACHED_FIELD) continue;
    lua_rawgeti(L, now.objects, (int)of->places[k].subject);
    lua_rawgeti(L, now.keys, (int)k + 1);
    bool found = lua_rawequal(L, -2, 2) != 0 && lua_rawequal(L, -1, 3) != 0;
    lua_settop(L, top);
    if (!found) continue;
    of->found = k;
    lua_pushnumber(L, k);
    return 1;
  }
  return 0;
}

/* reached:object(value) -> its number; or nothing */
static int find_object(lua_State *L) {
  const ms_reached *of = ms_reached_check(L, 1);
  luaL_checkany(L, 2);
  lua_settop(L, 2);
  comparison now = begin(L, 1);
  lua_pushvalue(L, 2);
  for (uint32_t n = 1; n <= of->object_count; n++) {
    if (!is_at(L, now.objects, n)) continue;
    lua_pushnumber(L, n);
    return 1;
  }
  return 0;
}

void ms_lua_open_reached(lua_State *L) {
  static const luaL_Reg methods[] = {{"same", tell_same},     {"version", tell_version},
                                     {"moved", tell_moved},   {"place_of", find_place},
                                     {"object", find_object}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"reached", make}, {NULL, NULL}};
  luaL_newmetatable(L, MS_REACHED);
  lua_newtable(L);
  luaL_register(L, NULL, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  luaL_register(L, NULL, functions);
}
