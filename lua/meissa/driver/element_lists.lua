-- SPDX-License-Identifier: MIT
--- Element lists: which elements of inspected arrays each block of a loop may write.
--
-- Where an inspection has found that no two iterations meet, its marks tell which iteration may
-- write an element, so which block does; no other block touches that. What a block has on its list
-- is all that is logged for it, and all that comes back of it (csrc/job/listed.h). Lists are made
-- for the blocks of one grid, lie where workers see them, and take no more than the array. They go
-- with the proof. Where iterations meet in the order of their levels, lists are those of what goes
-- from block to block (see prefetch.lua). Lives on the driver.
-- @module meissa.driver.element_lists

local array = require "meissa.array"
local c_core = require "meissa.base.c_core"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local grids = require "meissa.plan.grid"
local plans = require "meissa.plan"
local pool = require "meissa.driver.pool"
local tables = require "meissa.base.tables"
local worker_count = require "meissa.driver.worker_count"

local M = {}

local lib = c_core.lib

-- Loops whose lists are kept: the last ones that were listed.
local MOST_KEPT = 16

local kept, count = {}, 0

--- Moves lists (ms_needs *) into one array's memory, where workers see them.
-- @treturn DistArray
function M.hold(...)
  local sizes, total = {}, 0
  for k, needs in ipairs {...} do
    sizes[k] = 8 * math.ceil(tonumber(lib.ms_needs_size(needs)) / 8)
    total = total + sizes[k]
  end
  local holder = array.zeros(total / 8)
  local place = ffi.cast("char *", array.core(holder).data)
  for k, needs in ipairs {...} do
    lib.ms_needs_move(needs, place)
    place = place + sizes[k]
  end
  return holder
end

-- The lists for one array, {needs = ms_needs *, holder = the array that they lie in}; nil where
-- there are none, or they would be no gain.
local function make(marks, about, grid, by_value)
  local err = c_core.new_error()
  local numbers = ffi.cast("const double *", array.core(marks).data)
  local most = by_value and about.count or about.count - 1 -- a log of all is sooner copied as it is
  local needs = lib.ms_needs_of_numbers(numbers, about.count, most, grid.layout, err)
  if needs == nil then
    if err.code ~= 0 then errors.raise_core(err) end
    return nil
  end
  ffi.gc(needs, lib.ms_needs_free)
  if tonumber(lib.ms_needs_size(needs)) >= about.bytes then return nil end
  return {needs = needs, holder = M.hold(needs)}
end

-- Remembers which plan has lists, and takes those away from the plan that was listed long ago.
local function keep(plan, listed)
  count = count % MOST_KEPT + 1
  if kept[count] then kept[count].listed = nil end
  kept[count], plan.listed = plan, listed
end

-- Whether workers will run a proved loop with a log, or send back what they write.
local function is_wanted(run, by_value)
  local plan, space = run.plan, run.space
  return not space.array and plan.strategy ~= "serial" and #plan.replicas == 0 and
    not plans.is_empty(plan, space) and (by_value or space.transaction)
end

--- Gives a proved run `lists`, by the id of the array, if its blocks have any.
-- @tab run the run, whose plan has `proved`
-- @func marks marks() gives arrays of numbers of iterations, from 1: of those that may write each
-- element; in the order of the plan's `collisions.arrays`
function M.find(run, marks)
  local plan = run.plan
  if pool.workers() == 0 then return end
  local by_value = worker_count.by_value(pool.session())
  if not is_wanted(run, by_value) then return end
  local grid, known = grids.cut(plan, run.space), plan.listed
  local id = tonumber(grid.core.id)
  if not known or known.state ~= plan.proved or known.grid ~= id or known.by_value ~= by_value then
    local lists, stored = {}, marks()
    for k, b in ipairs(plan.collisions.arrays) do
      local about = array.describe(run.bindings[b].value or run.values[b])
      lists[about.id] = stored and make(stored[k], about, grid, by_value)
    end
    known = {state = plan.proved, grid = id, by_value = by_value, lists = lists}
    keep(plan, known)
  end
  run.lists = tables.next(known.lists) ~= nil and known.lists or nil
end

return M
