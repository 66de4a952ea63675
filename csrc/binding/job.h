/* SPDX-License-Identifier: MIT
 *
 * Jobs as Lua tables:
 *
 *   {key =, kernel =, run = strings, plan = ms_plan *, or strategy =, ranges = {n, ...},
 *    sequential = how many of the first axes a hyperplane sweeps,
 *    bounds = {int64_t * (ranges + 1 first indices), ...}; loads = uint64_t * (of ranges of the
 *    space axis, in place of the plan's), workers =, patience =,
 *    transaction = false or nil, unlogged = whether it needs no log, stalled = function(seconds,
 * worker, block), advanced = function(finished, blocks), operands = {operand, ...}, flat = whether
 * the results are wanted as one string (see push_outcome in runtime.c)}
 *
 * and operands as
 *
 *   {id =, version =, pointer =, segment = ms_segment *, element = bytes, dims = {}, strides = {},
 *    array = of the plan's that is written, or movement =, written =, along = array dimension,
 *    cut = axis, scale =, offset =, low = {}, high = {} (rows of each dimension that the job may
 *    write, all when absent), follow = {{along =, cut =, scale =, offset =}, ...} (rows that are
 *    written with the ranges of an axis; when absent, of a local or rotated operand, those that
 *    move), blind = whether the job reads nothing of it;
 *    offsets = int64_t * (first row of each block, and the end)}
 *
 * `array`, `along` and `cut` count from 1; strides are in elements, row-major when absent. */
#ifndef MS_BINDING_JOB_H
#define MS_BINDING_JOB_H

#include <lua.h>

#include "driver/session.h"

/* Reads the table at `table` (an absolute index), leaving on the stack what the job points to.
 * Raises for what is no job. */
void ms_read_job(lua_State *L, int table, ms_job *job);

/* Reads only `strategy`, `ranges`, `sequential` and `bounds`. */
void ms_read_grid(lua_State *L, int table, ms_job *job);

#endif
