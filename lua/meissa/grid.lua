-- SPDX-License-Identifier: MIT
--- The grid: how a planned iteration space is cut into blocks.
--
-- A function of the loop's plan, the space and the options alone, never of workers, cores or time:
-- that is what makes results the same for any number of workers. One cut dimension gets min(n, 64)
-- ranges, so that a few heavy iterations spread too; k cut dimensions get
-- clamp((entries / 2^14)^(1/k), 16, 64) each, never more than the extent.
-- @module meissa.grid

local core = require "meissa.array.core"
local errors = require "meissa.errors"
local ffi = require "ffi"
local partitions = require "meissa.partition"
local spaces = require "meissa.space"

local M = {}

local ONE_CUT = 64          -- ranges of a single cut dimension
local LEAST, MOST = 16, 64  -- ranges of each of several cut dimensions
local BLOCK_ENTRIES = 2 ^ 14 -- entries of a block, when there are several cut dimensions

-- Which dimensions (from 1) are cut.
local function cut_dims(plan, space)
  if plan.strategy == "partition" or plan.strategy == "rotate" then
    return plan.cut_dims
  end
  -- Any cut is legal. The first dimension keeps rows together; one that is too short to feed
  -- workers gives way to the longest.
  local best, longest = 1, spaces.length(space.ranges[1])
  if plan.strategy == "independent" and longest < ONE_CUT then
    for d = 2, #space.ranges do
      local length = spaces.length(space.ranges[d])
      if length > longest then best, longest = d, length end
    end
  end
  return {best}
end

local function default_ranges(plan, space, dims)
  local ranges = {}
  for c, d in ipairs(dims) do
    local wanted = ONE_CUT
    if plan.strategy == "serial" then
      wanted = 1
    elseif #dims > 1 then
      local blocks = math.ceil((space.count / BLOCK_ENTRIES) ^ (1 / #dims))
      wanted = math.min(MOST, math.max(LEAST, blocks))
    end
    ranges[c] = math.max(1, math.min(wanted, spaces.length(space.ranges[d])))
  end
  return ranges
end

local function wanted_ranges(plan, space, dims)
  local ranges, grid = default_ranges(plan, space, dims), space.options.grid
  if not grid or plan.strategy == "serial" then return ranges end
  if #grid ~= #dims then
    errors.raise("OPT", "option 'grid' has %d entries, but the plan (%s) cuts %d dimension%s",
                 #grid, plan.strategy, #dims, #dims == 1 and "" or "s")
  end
  for c, d in ipairs(dims) do
    ranges[c] = math.max(1, math.min(grid[c], spaces.length(space.ranges[d])))
  end
  return ranges
end

-- The last index value of range r along cut dimension c.
local function last_of(grid, c, r)
  local bounds, range = grid.bounds[c], grid.cut_ranges[c]
  return bounds[r + 1] - range[3]
end

local function cut_ranges(grid, space)
  for c, d in ipairs(grid.dims) do
    local range = space.ranges[d]
    local bounds = ffi.new("int64_t[?]", grid.ranges[c] + 1)
    grid.ranges[c] = tonumber(core.lib.ms_cut_range(range[1], range[2], range[3],
                                                     grid.ranges[c], bounds))
    grid.bounds[c] = {}
    for r = 0, grid.ranges[c] do grid.bounds[c][r + 1] = tonumber(bounds[r]) end
  end
end

local function take_cuts(grid, partition)
  grid.partition = partition
  for c in ipairs(grid.dims) do
    grid.ranges[c] = tonumber(partition.cut.ranges[c - 1])
    grid.bounds[c] = {}
    for r = 0, grid.ranges[c] do grid.bounds[c][r + 1] = tonumber(partition.bounds[c - 1][r]) end
  end
end

--- Cuts a space. The result has `dims` (cut dimensions, from 1), `ranges` (how many along each),
-- `bounds` (bounds[c][r] .. bounds[c][r+1] - step are the index values of range r, from 1),
-- `blocks` (their product) and, for the entries of a sparse array, `partition`.
function M.cut(plan, space)
  local dims = cut_dims(plan, space)
  local wanted = wanted_ranges(plan, space, dims)
  local partition = space.sparse and partitions.get(space.array, dims, wanted, space.ordered)
  local key = (partition and tonumber(partition.id) or "") .. ":" .. table.concat(wanted, "x")
  local grid = plan.grids[key]
  if grid then return grid end
  grid = {dims = dims, ranges = wanted, bounds = {}, cut_ranges = {}, blocks = 1}
  for c, d in ipairs(dims) do grid.cut_ranges[c] = space.ranges[d] end
  if partition then take_cuts(grid, partition) else cut_ranges(grid, space) end
  for _, count in ipairs(grid.ranges) do grid.blocks = grid.blocks * count end
  plan.grids = {[key] = grid} -- one at a time: a grid keeps its partition alive
  return grid
end

--- The iterations of block `b` (from 0, row-major over the ranges): {first =, last =} among the
-- partition's entries, or {lo = {...}, hi = {...}}.
-- @param layout a grid, or what M.layout gave
function M.block(layout, b)
  if layout.starts then
    return {first = layout.starts[b + 1] + 1, last = layout.starts[b + 2]}
  end
  local lo, hi = {}, {}
  for d, range in ipairs(layout.space_ranges) do lo[d], hi[d] = range[1], range[2] end
  for c = #layout.dims, 1, -1 do
    local r = b % layout.ranges[c] + 1
    b = (b - r + 1) / layout.ranges[c]
    lo[layout.dims[c]], hi[layout.dims[c]] = layout.bounds[c][r], last_of(layout, c, r)
  end
  return {lo = lo, hi = hi}
end

--- What a worker needs to find a block's iterations, as plain tables.
function M.layout(grid, space)
  if grid.partition then
    local starts = {}
    for b = 0, grid.blocks do starts[b + 1] = tonumber(grid.partition.start[b]) end
    return {starts = starts}
  end
  return {dims = grid.dims, ranges = grid.ranges, bounds = grid.bounds,
          cut_ranges = grid.cut_ranges, space_ranges = space.ranges}
end

--- Iterations in each block, by block number from 1: the weights of the schedule.
function M.weights(grid, layout)
  local weights = {}
  for b = 0, grid.blocks - 1 do
    local block = M.block(layout, b)
    if block.first then
      weights[b + 1] = block.last - block.first + 1
    else
      local count = 1
      for d, range in ipairs(layout.space_ranges) do
        count = count * ((block.hi[d] - block.lo[d]) / range[3] + 1)
      end
      weights[b + 1] = count
    end
  end
  return weights
end

return M
