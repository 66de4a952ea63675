/* SPDX-License-Identifier: MIT
 *
 * What captured functions and tables lead to: places with the values that were there, compared with
 * what is there now. lua/meissa/capture/reached.lua finds them. A userdata, whose environment holds
 * subjects, keys and values, weakly. */
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
  int type;      /* of the value, as lua_type has it */
  double number; /* the value, if it is one: that of the last look */
} ms_reached_place;

typedef struct ms_reached {
  uint32_t count;
  bool numbers_matter; /* one that is another number is a difference */
  double version;      /* how often a number was found to be another one */
  ms_reached_place places[];
} ms_reached;

/* Whether all is as it was for the ms_reached at `index`, whose places then have today's numbers.
 * Raises nothing; needs 10 free slots of the stack. */
bool ms_reached_same(lua_State *L, int index);

/* The ms_reached at `index`, raises if it is something else. */
ms_reached *ms_reached_check(lua_State *L, int index);

/* core.reached({kind, subject, key, value, ...}, count, numbers_matter) -> a userdata with the
 * methods `same`, `version` and `place_of` */
void ms_bind_reached(lua_State *L);

#endif
