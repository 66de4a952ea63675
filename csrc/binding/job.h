/* SPDX-License-Identifier: MIT
 *
 * Jobs as Lua tables:
 *
 *   {key =, kernel =, run = strings, plan = ms_plan *, or strategy =, ranges = {n, ...},
 *    sequential = how many of the first axes a hyperplane sweeps,
 *    bounds = {int64_t * (ranges + 1 first indices), ...}; loads = uint64_t * (of ranges of the
 *    space axis, in place of the plan's), workers =, patience =,
 *    transaction = false or nil, unlogged = whether it needs no log, stalled = function(seconds,
 * worker, block), advanced = function(finished, blocks), operands = ms_operands *, flat = whether
 * the results are wanted as one string (see push_outcome in runtime.c)}
 *
 * The table keeps what its pointers lead to. */
#ifndef MS_BINDING_JOB_H
#define MS_BINDING_JOB_H

#include <lua.h>

#include "driver/session.h"

/* Reads the table at `table` (an absolute index), leaving on the stack what the job points to.
 * Raises for what is no job. */
void ms_job_read(lua_State *L, int table, ms_job *job);

/* Reads only `strategy`, `ranges`, `sequential` and `bounds`. */
void ms_job_read_grid(lua_State *L, int table, ms_job *job);

#endif
