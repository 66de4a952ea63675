/* SPDX-License-Identifier: MIT
 *
 * Places: where a captured variable of a running function is found, as
 * lua/meissa/capture/stack_frame.lua has it, read and written without Lua.
 *
 * Names are strings in a table, by number; a place has their numbers. Nothing here raises: what
 * only a function as `__index` could tell is not read. */
#ifndef MS_BINDING_PLACE_H
#define MS_BINDING_PLACE_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum ms_place_reach {
  MS_PLACE_NOWHERE, /* there is no such variable: nil */
  MS_PLACE_FRAME,   /* a local variable of the running function, by its slot */
  MS_PLACE_UPVALUE, /* by its number */
  MS_PLACE_GLOBAL
} ms_place_reach;

typedef struct ms_variable_place {
  ms_place_reach reach;
  int slot;
  int name;                /* of a global */
  int first_field, fields; /* read one from the other, the first from the root */
} ms_variable_place;

/* A function that runs: its activation record, its index on the stack, and that of the names. */
typedef struct ms_running {
  lua_Debug *frame;
  int func, names;
} ms_running;

/* Reads {reach =, slot =, name =, fields =} at the top of the stack; its names are put behind the
 * `*count` that the table at `names` has. Raises what is malformed. */
ms_variable_place ms_place_from_lua(lua_State *L, int names, int *count);

/* Pushes what is there. False, and nothing pushed, where functions may have a say. */
bool ms_place_push(lua_State *L, const ms_running *at, const ms_variable_place *place);

/* Whether a variable is where it is assigned: a global may stand behind the environment. */
bool ms_place_is_own(lua_State *L, const ms_running *at, const ms_variable_place *place);

/* Gives a variable, which has no fields and is its own, the value at the top of the stack, and pops
 * it. */
void ms_place_assign(lua_State *L, const ms_running *at, const ms_variable_place *place);

#endif
