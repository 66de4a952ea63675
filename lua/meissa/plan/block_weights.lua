-- SPDX-License-Identifier: MIT
--- How much work the ranges of a grid hold, for sharing them out.
--
-- Boxes are counted. Where a row cuts, or where the bounds of collapsed loops depend on outer
-- indices, iterations are sampled on a regular lattice: loads decide nothing but who runs what.
-- @module meissa.plan.block_weights

local axis_cuts = require "meissa.plan.axis"
local ffi = require "ffi"

local M = {}

local vector = ffi.typeof "uint64_t[?]"

local SAMPLES = 2 ^ 12 -- at most
local SAMPLE_WEIGHT = 2 ^ 16 -- so that a sample outweighs an empty block

--- Ordinals of an extent, the first and the last: how many steps behind the first index, or, where
-- outer indices bound it, the index in loop direction.
function M.ordinals(extent)
  local lo, hi, step = extent[1], extent[2], extent[3]
  if extent.low then return lo * step, hi * step end
  return 0, (hi - lo) / step
end

local function is_box(grid)
  if grid.row then return false end
  for _, extent in ipairs(grid.extents) do
    if extent.low then return false end
  end
  return true
end

-- The ranges of the space axis, and how many blocks each has.
local function space_of(grid)
  local axis = grid.axes[grid.sequential + 1]
  return axis, grid.blocks / axis.ranges
end

local function new_loads(grid)
  local axis, each = space_of(grid)
  local loads = vector(axis.ranges)
  for r = 0, axis.ranges - 1 do loads[r] = each end
  return loads, axis
end

-- More than a load can be; who has the most to do is all that matters.
local MOST = 2 ^ 62

local function count_boxes(grid)
  local loads, axis = new_loads(grid)
  local others = 1
  for d, extent in ipairs(grid.extents) do
    if d ~= axis.dim then others = others * ((extent[2] - extent[1]) / extent[3] + 1) end
  end
  local bounds, step = axis_cuts.bounds(axis), axis.range[3]
  for r = 0, axis.ranges - 1 do
    local length = tonumber(bounds[r + 1] - bounds[r]) / step
    loads[r] = math.min(tonumber(loads[r]) + length * others, MOST)
  end
  return loads
end

-- How many values are sampled along each dimension.
local function sample_counts(grid)
  local counts, product = {}, 1
  for d, extent in ipairs(grid.extents) do
    local wanted = 4
    if grid.row and grid.row[d] ~= 0 or extent.low then wanted = 64 end
    for _, axis in ipairs(grid.axes) do
      if axis.dim == d then wanted = math.max(wanted, 2 * math.min(axis.ranges, 64)) end
    end
    counts[d] = math.max(1, math.min(wanted, (extent[2] - extent[1]) / extent[3] + 1))
    product = product * counts[d]
  end
  while product > SAMPLES do
    local largest = 1
    for d = 2, #counts do
      if counts[d] > counts[largest] then largest = d end
    end
    product = product / counts[largest]
    counts[largest] = math.ceil(counts[largest] / 2)
    product = product * counts[largest]
  end
  return counts
end

-- The range (from 0) of an axis that a value lies in.
local function range_of(axis, value)
  local step = axis.range[3]
  local distance = (value - axis.range[1]) / step
  local bounds = axis_cuts.bounds(axis)
  if not bounds then return distance end
  local low, high = 1, axis.ranges
  while low < high do
    local middle = math.floor((low + high + 1) / 2)
    if (tonumber(bounds[middle - 1]) - axis.range[1]) / step <= distance then
      low = middle
    else
      high = middle - 1
    end
  end
  return low - 1
end

local function sum_at(sum, at)
  local value = sum[1]
  for d = 2, #sum do value = value + sum[d] * at[d - 1] end
  return value
end

-- Whether an index lies within what outer ones leave of its extent.
local function is_inside(extent, at, index)
  for _, low in ipairs(extent.low) do
    if index < sum_at(low, at) then return false end
  end
  for _, high in ipairs(extent.high) do
    if index > sum_at(high, at) then return false end
  end
  return true
end

local function sample(grid)
  local loads, axis = new_loads(grid)
  local counts, at, extents, row = sample_counts(grid), {}, grid.extents, grid.row
  local function visit(d, form)
    local extent = extents[d]
    if not extent then
      local r = range_of(axis, axis.row and form or at[axis.dim])
      loads[r] = loads[r] + SAMPLE_WEIGHT
      return
    end
    local first, last = M.ordinals(extent)
    for s = 0, counts[d] - 1 do
      local ordinal = first + math.floor((s + 0.5) * (last - first + 1) / counts[d])
      at[d] = extent.low and ordinal * extent[3] or extent[1] + ordinal * extent[3]
      if not extent.low or is_inside(extent, at, at[d]) then
        visit(d + 1, form + (row and row[d] * ordinal or 0))
      end
    end
  end
  visit(1, 0)
  return loads
end

-- Entries of a partition, whose first axis is the space axis but in a sweep.
local function count_entries(grid)
  local loads, axis = new_loads(grid)
  local start, each = grid.partition.start, grid.blocks / axis.ranges
  if grid.sequential == 0 then
    for r = 0, axis.ranges - 1 do loads[r] = loads[r] + start[(r + 1) * each] - start[r * each] end
    return loads
  end
  for b = 0, grid.blocks - 1 do
    local r = b % axis.ranges
    loads[r] = loads[r] + start[b + 1] - start[b]
  end
  return loads
end

--- Loads of the ranges of a grid's space axis, a vector of uint64: one for each block beside its
-- iterations or entries, so that empty ranges are shared out, too. Nil if all are alike.
function M.loads(grid)
  if grid.partition then return count_entries(grid) end
  if not is_box(grid) then return sample(grid) end
  if grid.sequential > 0 then return nil end
  return count_boxes(grid)
end

return M
