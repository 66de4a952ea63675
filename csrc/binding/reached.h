/* SPDX-License-Identifier: MIT
 *
 * What captured functions and tables lead to: places with the values that were there, compared with
 * what is there now. lua/meissa/capture/reached.lua finds them.
 *
 * Functions and tables that were walked through are objects, by number. They may be others than
 * before, as those that a function makes anew each time it is called: of the same code, or tables
 * with the same fields, and linked in the same way. A userdata, whose environment holds objects and
 * values weakly. */
#ifndef MS_BINDING_REACHED_H
#define MS_BINDING_REACHED_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#define MS_REACHED "meissa.reached"

typedef enum ms_reached_kind {
  MS_REACHED_UPVALUE, /* of a function, by its number */
  MS_REACHED_GLOBALS, /* the environment of a function */
  MS_REACHED_FIELD,   /* of a table, raw */
  MS_REACHED_METATABLE,
  MS_REACHED_COUNT /* of a table's entries */
} ms_reached_kind;

typedef struct ms_reached_place {
  ms_reached_kind kind;
  uint32_t subject; /* the object that has the place, from 1 */
  uint32_t object;  /* the object that the place holds; 0: the value is no object */
  int type;         /* of the value, as lua_type has it */
  double number;    /* the value, if it is one: that of the last look */
} ms_reached_place;

typedef struct ms_reached {
  uint32_t count, object_count;
  uint32_t found;      /* the place that was found last: the next one is often behind it */
  bool numbers_matter; /* one that is another number is a difference */
  bool moved;          /* the objects are others than those that it was made for */
  double version;      /* how often a number was found to be another one */
  ms_reached_place places[];
} ms_reached;

/* Whether all is as it was for the ms_reached at `index`, whose places then have today's numbers.
 * Raises nothing; needs 10 free slots of the stack. */
bool ms_reached_same(lua_State *L, int index);

/* Whether the value at the top is the object with this number. */
bool ms_reached_is_object(lua_State *L, int index, uint32_t object);

/* The same as ms_reached_same, where objects may be others of the same form: from those in the
 * table at `roots`, by number, to all that they lead to. If so, they are the objects from now on.
 * Raises nothing but that memory is out; needs 20 free slots. */
bool ms_reached_alike(lua_State *L, int index, int roots);

/* The ms_reached at `index`, raises if it is something else. */
ms_reached *ms_reached_check(lua_State *L, int index);

/* core.reached({kind, subject, key, value, ...}, count, numbers_matter, objects, forms, form_of) ->
 * a userdata with the methods `same`, `version`, `moved`, `place_of` and `object`; `objects` has
 * the number of each object, `forms` what `form_of(object)` gives, by number */
void ms_lua_open_reached(lua_State *L);

#endif
