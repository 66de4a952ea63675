/* SPDX-License-Identifier: MIT
 *
 * Fields of the tables that the analyser is given, by the absolute index of a table. They raise for
 * values of another kind. */
#ifndef MS_BINDING_INPUT_H
#define MS_BINDING_INPUT_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

/* A field's number; `missing` where it is nil. */
double ms_input_number(lua_State *L, int table, const char *key, double missing);

/* A field's truth. */
bool ms_input_boolean(lua_State *L, int table, const char *key);

/* A field's string, which stays alive in the table; NULL where it is none. */
const char *ms_input_string(lua_State *L, int table, const char *key);

/* A whole number that a double holds without loss; `what` is it called. */
int64_t ms_input_whole(lua_State *L, double value, const char *what);

/* A whole number from 0 to 1e9. */
uint32_t ms_input_count(lua_State *L, double value, const char *what);

#endif
