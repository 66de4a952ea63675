/* SPDX-License-Identifier: MIT
 *
 * Merging into buffers, with rules that are Lua functions.
 *
 * A buffer is {arrays = {ms_array *, ...} (the target, then its helpers), apply = function(at,
 * pending, count, vector, ...) or nil}; apply gets addresses, of which it makes pointers
 * (const int64_t *, const double *, double * each). What it raises ends the merge. */
#ifndef MS_BINDING_MERGE_H
#define MS_BINDING_MERGE_H

#include <lua.h>
#include <stdbool.h>

#include "sync/merge.h"

/* Where the rules of one call of C find what they need; it must not move. */
typedef struct ms_rule_state {
  lua_State *L;
  int error; /* index of a place on the stack for what a rule has raised */
  bool failed;
} ms_rule_state;

/* Takes a place on the stack. */
void ms_rule_state_begin(lua_State *L, ms_rule_state *state);

/* Reads the buffer at `table` (an absolute index), leaving on the stack what it points to; parts
 * are left alone. Raises for what is none. */
void ms_read_merge(lua_State *L, int table, ms_rule_state *state, ms_merge *merge);

#endif
