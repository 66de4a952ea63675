/* SPDX-License-Identifier: MIT
 *
 * Fields of Lua tables as C values. All of them raise a Lua error for values of another kind, so
 * they are called while no C memory is unowned. Strings stay owned by their table. */
#ifndef MS_BINDING_FIELD_H
#define MS_BINDING_FIELD_H

#include <lua.h>
#include <stddef.h>
#include <stdint.h>

/* The address at `index`: light userdata, a pointer that FFI made with ffi.cast (not an array,
 * which cannot be told from one here), or nil for NULL. `name` is for the error. */
void *ms_to_pointer(lua_State *L, int index, const char *name);

/* The same for a field. */
void *ms_field_pointer(lua_State *L, int table, const char *name);

/* A number; `otherwise` for nil. */
double ms_field_number(lua_State *L, int table, const char *name, double otherwise);

/* A count or an id: a whole number of at most 53 bits. */
uint64_t ms_field_count(lua_State *L, int table, const char *name, uint64_t otherwise);

/* A string that stays in its table; NULL for nil. */
const char *ms_field_string(lua_State *L, int table, const char *name, size_t *size);

/* Zeroed memory that Lua frees, pushed on the stack. */
void *ms_scratch(lua_State *L, size_t count, size_t size);

#endif
