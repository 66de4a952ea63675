-- SPDX-License-Identifier: MIT
--- The grid: how a planned iteration space is cut into blocks.
--
-- A grid cuts along axes: a dimension of the space (collapsed loops included), or the plan's row, a
-- sum over ordinals. A block is one range of every axis and keeps the original order inside; blocks
-- are numbered row-major over the ranges. A sweep (hyperplane) has sequential axes first, with one
-- value a range.
--
-- A function of the loop's plan, the space and the options alone, never of workers, cores or time:
-- that is what makes results the same for any number of workers. One cut axis gets
-- clamp(entries / 2^14, 64, 4096) ranges, so that a few heavy iterations spread too; k of them get
-- clamp((entries / 2^14)^(1/k), 16, 1024) each, above 10^8 entries at least entries / 10^6, so that
-- a thousand workers have work; never more than the extent, nor than 2^24 blocks. The parallel axis
-- of a sweep gets 8 to 64, the fewer the shorter and the more its phases are. What a block puts
-- into buffers is merged on its own, so an axis of a loop with buffers gets at most 64, and a
-- single one fewer, 16 at least, where blocks would have less than 128 iterations. A loop that is
-- cut into stages (buffers with max_delay) gets as many more as let each stage have some 16 blocks.
-- @module meissa.plan.grid

local axis_cuts = require "meissa.plan.axis"
local errors = require "meissa.base.errors"
local partitions = require "meissa.plan.partition"
local spaces = require "meissa.plan.space"
local tables = require "meissa.base.tables"
local block_weights = require "meissa.plan.block_weights"

local M = {}

local ONE_CUT, MOST_OF_ONE = 64, 4096 -- ranges of a single cut axis
local LEAST, MOST = 16, 1024 -- ranges of each of several cut axes
local MOST_BUFFERED = 64    -- ranges of each axis of a loop with buffers
local BLOCK_ENTRIES = 2 ^ 14 -- entries of a block, as long as that leaves so many
local LARGE, LARGE_RANGE = 1e8, 1e6 -- entries of a large space, and of a range of it at most
local FEWEST = 8            -- ranges of the parallel axis of a long sweep
local LEAST_OF_PHASE = 16   -- iterations of a phase that make it worth another range
local SWEEP_BLOCKS = 2 ^ 14 -- blocks of a sweep, as long as that leaves FEWEST ranges
local STAGE_BLOCKS = 16     -- blocks of a stage, if its iterations are bounded
local LEAST_BUFFERED = 128  -- iterations of a block with buffers, as long as that leaves so many
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
  if not in_order and longest >= ONE_CUT then return best end
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

local function clamp(value, least, most)
  return math.max(least, math.min(value, most))
end

-- The most ranges that each of `parallel` axes may have.
local function most_ranges(parallel)
  return math.floor(MOST_BLOCKS ^ (1 / parallel) + 1e-9)
end

-- Ranges of the parallel axis of a sweep.
local function sweep_ranges(entries, phases)
  local ranges = math.min(entries / phases / LEAST_OF_PHASE, SWEEP_BLOCKS / phases)
  ranges = clamp(math.floor(ranges), FEWEST, ONE_CUT)
  return math.max(1, math.min(ranges, math.floor(MOST_BLOCKS / phases)))
end

-- Ranges of each axis of a loop with buffers.
local function buffered_ranges(entries, parallel, delay)
  local usual
  if parallel == 1 then
    usual = clamp(math.floor(entries / LEAST_BUFFERED), STAGE_BLOCKS, MOST_BUFFERED)
  else
    usual = clamp(math.ceil((entries / BLOCK_ENTRIES) ^ (1 / parallel)), LEAST, MOST_BUFFERED)
  end
  if delay == math.huge then return usual end
  local staged = math.ceil((entries / delay * STAGE_BLOCKS) ^ (1 / parallel))
  return math.max(usual, math.min(staged, most_ranges(parallel)))
end

-- Ranges of each axis that is cut when nothing else was asked for.
local function usual_ranges(plan, space, parallel, phases)
  if plan.strategy == "serial" then return 1 end
  local entries = volume(plan, space)
  if phases > 1 then return sweep_ranges(entries, phases) end
  if plan.max_delay then return buffered_ranges(entries, parallel, plan.max_delay) end
  if parallel == 1 then return clamp(math.ceil(entries / BLOCK_ENTRIES), ONE_CUT, MOST_OF_ONE) end
  local ranges = math.ceil((entries / BLOCK_ENTRIES) ^ (1 / parallel))
  if entries > LARGE then ranges = math.max(ranges, math.ceil(entries / LARGE_RANGE)) end
  return math.min(clamp(ranges, LEAST, MOST), most_ranges(parallel))
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
