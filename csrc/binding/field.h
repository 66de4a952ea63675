/* SPDX-License-Identifier: MIT
 *
 * Fields of Lua tables as C values, and the other way round. What reads raises a Lua error for
 * values of another kind, so it is called while no C memory is unowned; `table` is absolute, and a
 * name is the field's and what an error calls it. Strings stay owned by their table. */
#ifndef MS_BINDING_FIELD_H
#define MS_BINDING_FIELD_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The address at `index`: light userdata, a pointer that FFI made with ffi.cast (not an array,
 * which cannot be told from one here), or nil for NULL. */
void *ms_field_to_pointer(lua_State *L, int index, const char *name);

/* A whole number that a double holds without loss. */
int64_t ms_field_to_whole(lua_State *L, int index, const char *name);

/* A whole number from 0 to 1e9: lengths, depths and numbers of things in memory. */
uint32_t ms_field_to_small(lua_State *L, int index, const char *name);

/* The same of a field; `otherwise` for nil. */
void *ms_field_pointer(lua_State *L, int table, const char *name);
int64_t ms_field_whole(lua_State *L, int table, const char *name, int64_t otherwise);
uint32_t ms_field_small(lua_State *L, int table, const char *name, uint32_t otherwise);

/* Any number; a whole one from 0 on, which is a count or an id. */
double ms_field_number(lua_State *L, int table, const char *name, double otherwise);
uint64_t ms_field_count(lua_State *L, int table, const char *name, uint64_t otherwise);

/* Whether the field is anything but nil and false. */
bool ms_field_boolean(lua_State *L, int table, const char *name);

/* A string that stays in its table, and its size, unless `size` is NULL; NULL for nil and false. */
const char *ms_field_string(lua_State *L, int table, const char *name, size_t *size);

/* Set a field of the table on top of the stack. NULL leaves it out. */
void ms_field_set_number(lua_State *L, const char *name, double value);
void ms_field_set_boolean(lua_State *L, const char *name, bool value);
void ms_field_set_string(lua_State *L, const char *name, const char *value);

/* Zeroed memory that Lua frees, pushed on the stack. */
void *ms_field_scratch(lua_State *L, size_t count, size_t size);

#endif
