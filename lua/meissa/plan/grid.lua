-- SPDX-License-Identifier: MIT
--- The grid: how a planned iteration space is cut into blocks, as Lua sees it.
--
-- A grid cuts along axes: a dimension of the space (collapsed loops included), or the plan's row, a
-- sum over ordinals. A block is one range of every axis and keeps the original order inside; blocks
-- are numbered row-major over the ranges. A sweep (hyperplane) has sequential axes first, with one
-- value a range.
--
-- A function of the loop's plan, the space and the options alone, never of workers, cores or time:
-- that is what makes results the same for any number of workers. All of it is found and kept in C,
-- csrc/plan/plan.h; jobs are given that.
-- @module meissa.plan.grid

local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local layouts = require "meissa.plan.layout"
local partition_entries = require "meissa.plan.partition_entries"

local M = {}

local lib = c_api.lib

local MOST_AXES = 8
local NO_BLOCK = 2 ^ 32 - 1

local terms, cut = ffi.new "ms_plan_terms", ffi.new "ms_cut"
local cache = ffi.gc(c_api.call(lib.ms_plan_cache_new), lib.ms_plan_cache_free)

-- How many entries the space has, if it has entries.
local function entries_of(space)
  if space.entries or space.sparse then return space.entries or space.count end
  return -1
end

local function set_terms(plan, space)
  terms.verdict, terms.entries, terms.delay = plan.address, entries_of(space), plan.max_delay or 0
  terms.merged = plan.merged or 0
  terms.ordered = space.ordered and 1 or 0
  terms.sparse = space.sparse and #space.ranges or 0
  local asked = space.options.grid
  terms.asked = asked and #asked or 0
  for a = 1, asked and math.min(#asked, MOST_AXES) or 0 do terms.ask[a - 1] = asked[a] end
  terms.partition, terms.rounds = nil, 0
end

--- What a plan's grid is made of, an ms_plan_terms that is good until the next call.
function M.terms(plan, space)
  set_terms(plan, space)
  return terms
end

-- The partition that entries of a sparse array need.
local function find_partition(space)
  if not space.sparse then return nil end
  c_api.call(lib.ms_plan_cut, terms, cut)
  local partition = partition_entries.find(space.array, cut)
  terms.partition = partition
  return partition
end

-- What Lua has of a plan in C.
local function view(core, partition)
  lib.ms_plan_keep(core)
  local together = core.grid.together
  local grid = {
    core = ffi.gc(core, lib.ms_plan_release), partition = partition, ranges = {},
    blocks = core.blocks, volume = core.volume, sequential = core.grid.sequential,
    reach = {core.grid.reach[0], core.grid.reach[1]},
    together = together > 0 and together or nil, layout = core.layout,
    words = layouts.words(core.layout),
  }
  for a = 1, core.grid.count do grid.ranges[a] = core.grid.ranges[a - 1] end
  return grid
end

--- Cuts a space. The result has `core` (ms_plan *), `ranges` (how many along each axis),
-- `sequential` (how many axes are swept), `reach` (of a sweep: down and up, see csrc/plan/grid.h),
-- `blocks` (the product of the ranges), `volume` (iterations at most), `layout` (see
-- meissa.plan.layout), `words` (what a worker is told of it), for the entries of a sparse array
-- `partition`, and of an ordered loop `together`: blocks k * together .. come before the next so
-- many in the loop's order; nil where its order is the plan's.
-- Errors: OPT.
function M.cut(plan, space)
  set_terms(plan, space)
  local partition = find_partition(space)
  local core = c_api.call(lib.ms_plan_cache_get, cache, terms)
  local grid = plan.cut
  if not grid or grid.core ~= core then
    grid = view(core, partition)
    plan.cut = grid -- one at a time: a grid keeps its partition alive
  end
  return grid
end

--- The grid of a space whose entries a partition holds that was made elsewhere; not kept.
-- @number[opt] rounds that the partition has
-- Errors: OPT.
function M.of_partition(plan, space, partition, rounds)
  set_terms(plan, space)
  terms.entries, terms.partition = tonumber(partition.count), partition
  terms.rounds = rounds or 0
  local core = c_api.call(lib.ms_plan_new, terms)
  local grid = view(core, partition)
  lib.ms_plan_release(core) -- the grid keeps it
  return grid
end

--- The axis (from 1) whose ranges belong to workers.
function M.space_axis(grid)
  return grid.sequential + 1
end

--- The axes, for showing them: a list of {dim = (from 1) or row = true, values = {first, last,
-- step}, ranges = (how many)}.
function M.axes(grid)
  local axes = {}
  for a, ranges in ipairs(grid.ranges) do
    local axis = grid.core.axes[a - 1]
    local values, row = axis.values, axis.dim < 0
    axes[a] = {dim = not row and axis.dim + 1 or nil, row = row, ranges = ranges, number = a,
               values = {tonumber(values.lo), tonumber(values.hi), tonumber(values.step)}}
  end
  return axes
end

local pair = ffi.new "int64_t[2]"

--- First and last value of range r (from 1) of axis a (from 1).
function M.values(grid, a, r)
  lib.ms_plan_values(grid.core, a - 1, r - 1, pair)
  return tonumber(pair[0]), tonumber(pair[1])
end

--- What range r (from 1) of the space axis weighs: its blocks and their iterations; nil where all
-- ranges are alike.
function M.load(grid, r)
  local loads = grid.core.loads
  return loads ~= nil and tonumber(loads[r - 1]) or nil
end

--- A function that returns the blocks, by number from 0, in the plan's serial order, then nil.
-- @number[opt] first of the blocks @number[opt] last one, not included: of rounds, whose order is
-- that of the numbers
function M.serial_order(grid, first, last)
  local core, block = grid.core, NO_BLOCK
  if first then
    local number = first - 1
    return function()
      number = number + 1
      return number < last and number or nil
    end
  end
  return function()
    if not block then return nil end
    block = lib.ms_plan_next(core, block)
    if block == NO_BLOCK then block = nil end
    return block
  end
end

return M
