-- SPDX-License-Identifier: MIT
--- The grid: how a planned iteration space is cut into blocks.
--
-- A grid cuts along axes: a dimension of the space (collapsed loops included), or the plan's row, a
-- sum over ordinals. A block is one range of every axis and keeps the original order inside; blocks
-- are numbered row-major over the ranges. A sweep (hyperplane) has sequential axes first, with one
-- value a range.
--
-- A function of the loop's plan, the space and the options alone, never of workers, cores or time:
-- that is what makes results the same for any number of workers. How many ranges axes get when
-- nothing else is asked for is said in csrc/plan/cutting.h.
-- @module meissa.plan.grid

local axis_cuts = require "meissa.plan.axis"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local partitions = require "meissa.plan.partition"
local spaces = require "meissa.plan.space"
local tables = require "meissa.base.tables"
local block_weights = require "meissa.plan.block_weights"

local M = {}

local cutting_type = ffi.typeof "ms_cutting"

local ENOUGH = 64           -- values of a dimension that suffice to feed workers
local MOST_BLOCKS = 2 ^ 24  -- that can be scheduled

-- Reductions whose value may depend on the order in which iterations come.
local IN_ORDER = {["and"] = true, ["or"] = true, min = true, max = true, with = true}

-- Whether an ordered loop's blocks must be ranges of its iterations, one after the other.
local function needs_order(plan, space)
  if not space.ordered then return false end
  for _, scalar in tables.each(plan.scalars) do
    if scalar.role == "listed" or IN_ORDER[scalar.op] then return true end
  end
  return false
end

-- The dimension that an independent loop is cut along. The first one keeps rows together; one that
-- is too short to feed workers gives way to the longest, or, where blocks have to follow the loop's
-- order, to the first that has several values.
local function free_dim(plan, space)
  local best, longest = 1, spaces.length(plan.extents[1])
  if plan.strategy ~= "independent" then return best end
  local in_order = needs_order(plan, space)
  if not in_order and longest >= ENOUGH then return best end
  for d = 2, space.sparse and #space.ranges or #plan.extents do
    if in_order and longest > 1 then break end
    local length = spaces.length(plan.extents[d])
    if length > longest then best, longest = d, length end
  end
  return best
end

-- An axis along the plan's row: its least and greatest value over the box around the space.
local function row_axis(plan)
  local least, greatest = 0, 0
  for d, extent in ipairs(plan.extents) do
    local first, last = block_weights.ordinals(extent)
    local a, b = plan.row[d] * first, plan.row[d] * last
    least, greatest = least + math.min(a, b), greatest + math.max(a, b)
  end
  return {row = true, range = {least, greatest, 1}}
end

local function dim_axis(plan, d)
  local extent = plan.extents[d]
  return {dim = d, range = {extent[1], extent[2], extent[3]}}
end

-- The axes, sequential ones first.
local function axes_of(plan, space)
  local axes = {}
  if plan.row then axes[1] = row_axis(plan) end
  local dims = plan.cut_dims
  if plan.strategy == "independent" or plan.strategy == "serial" then
    dims = {free_dim(plan, space)}
  end
  for _, d in ipairs(dims) do axes[#axes + 1] = dim_axis(plan, d) end
  for a = 1, plan.sequential or 0 do axes[a].sequential = true end
  return axes
end

-- How many iterations the space has at most: those of its box, or what is known of its entries.
local function volume(plan, space)
  if space.entries or space.sparse then return space.entries or space.count end
  local count = 1
  for _, extent in ipairs(plan.extents) do count = count * spaces.length(extent) end
  return count
end

-- How many phases a sweep has; 1 without sequential axes.
local function phases_of(axes)
  local phases = 1
  for _, axis in ipairs(axes) do
    if axis.sequential then phases = phases * spaces.length(axis.range) end
  end
  return phases
end

-- Ranges of each axis that is cut when nothing else was asked for.
local function usual_ranges(plan, space, parallel, phases)
  if plan.strategy == "serial" then return 1 end
  local cutting = cutting_type(volume(plan, space), phases, plan.max_delay or 0, parallel)
  return tonumber(c_api.lib.ms_cutting_ranges(cutting))
end

local function check_asked(plan, asked, parallel)
  if #asked ~= parallel then
    errors.raise("OPT", "option 'grid' has %d entries, but the plan (%s) cuts %d dimension%s",
                 #asked, plan.strategy, parallel, parallel == 1 and "" or "s")
  end
end

-- The number of ranges wanted for each axis.
local function wanted_ranges(plan, space, axes)
  local phases, parallel = phases_of(axes), #axes - (plan.sequential or 0)
  local usual = usual_ranges(plan, space, parallel, phases)
  local asked = plan.strategy ~= "serial" and space.options.grid
  if asked then check_asked(plan, asked, parallel) end
  local ranges, blocks, next_asked = {}, 1, 0
  for a, axis in ipairs(axes) do
    ranges[a] = spaces.length(axis.range)
    if not axis.sequential then
      next_asked = next_asked + 1
      ranges[a] = math.max(1, math.min(asked and asked[next_asked] or usual, ranges[a]))
    end
    blocks = blocks * ranges[a]
  end
  if blocks > MOST_BLOCKS then
    errors.raise("OPT", "the loop's plan (%s) has %.0f steps of %d blocks, and no more than %d " ..
                 "blocks can be scheduled. Run the loop serially: {serial = true}", plan.strategy,
                 phases, blocks / phases, MOST_BLOCKS)
  end
  return ranges
end

-- Cuts the axes: where a partition does, or evenly.
local function cut_axes(axes, partition, wanted)
  for a, axis in ipairs(axes) do
    if partition then
      axis_cuts.take(axis, tonumber(partition.cut.ranges[a - 1]), partition.bounds[a - 1])
    else
      axis_cuts.cut(axis, wanted[a])
    end
  end
end

-- What the last execution decided, if it was asked for the same: `dims`, which dimension each axis
-- cuts; `wanted`, ranges of each; `name`, those as a string.
local function cuts_of(plan, space, ready)
  local asked = space.options.grid
  local text = asked and table.concat(asked, "x") or ""
  if ready.cuts and ready.cuts.asked == text then return ready.cuts end
  local axes = axes_of(plan, space)
  local cuts = {wanted = wanted_ranges(plan, space, axes), asked = text, dims = {}}
  cuts.name = table.concat(cuts.wanted, "x")
  for a, axis in ipairs(axes) do cuts.dims[a] = axis.dim end
  ready.cuts = cuts
  return cuts
end

--- Cuts a space. The result has `axes` (see meissa.plan.axis), `ranges` (how many along each),
-- `sequential` (how many axes are swept), `blocks` (the product of the ranges), `volume`
-- (iterations at most), `ordered` (whether the loop is) and, for the entries of a sparse array,
-- `partition`.
-- @tab[opt] ready belongs to executions with the same plan over the same array
function M.cut(plan, space, ready)
  local cuts = cuts_of(plan, space, ready or {})
  local partition = space.sparse and
    partitions.get(space.array, cuts.dims, cuts.wanted, space.ordered) or nil
  local key = partition and tonumber(partition.id) .. ":" .. cuts.name or cuts.name
  local grid = plan.grids[key]
  if grid then return grid end
  local axes = axes_of(plan, space)
  grid = {axes = axes, extents = plan.extents, row = plan.row, partition = partition,
          sequential = plan.sequential or 0, ranges = {}, blocks = 1,
          volume = volume(plan, space), ordered = space.ordered or nil}
  cut_axes(axes, partition, cuts.wanted)
  for a, axis in ipairs(axes) do
    grid.ranges[a] = axis.ranges
    grid.blocks = grid.blocks * axis.ranges
  end
  plan.grids = {[key] = grid} -- one at a time: a grid keeps its partition alive
  return grid
end

--- The axis (from 1) whose ranges belong to workers.
function M.space_axis(grid)
  return grid.sequential + 1
end

--- The axis (from 1) along a dimension of the space that is not swept, or nil.
function M.axis_of(grid, dim)
  for a, axis in ipairs(grid.axes) do
    if axis.dim == dim and not axis.sequential then return a end
  end
end

--- Of an ordered loop: blocks k * together .. come before the next so many in the loop's order;
-- those in between may have iterations before and after each other's. Nil of loops whose order is
-- the plan's. Axes tell blocks apart while they go along the outermost dimensions, up to the first
-- of which a range has several values.
function M.together(grid)
  if not grid.ordered then return nil end
  local together, apart = grid.blocks, true
  for a, axis in ipairs(grid.axes) do
    apart = apart and axis.dim == a
    if apart then together = together / axis.ranges end
    apart = apart and axis.ranges == spaces.length(axis.range)
  end
  return together
end

return M
