-- SPDX-License-Identifier: MIT
--- Axes of a grid: where their ranges begin and end.
--
-- An axis is a plain table {dim =, or row = true; sequential =, range = {first, last, step}, ranges
-- = how many there are}. A sequential one has one value a range. Others are cut evenly (`even`),
-- where a partition says, or by a list (`bounds`). Even cuts need not travel: who gets the axis
-- finds them again.
-- @module meissa.plan.axis

local c_api = require "meissa.array.c_api"
local ffi = require "ffi"

local M = {}

local vector = ffi.typeof "int64_t[?]"

-- The bounds that are known, by axis.
local known = setmetatable({}, {__mode = "k"})

local function cut_evenly(axis, wanted)
  local range, bounds = axis.range, vector(wanted + 1)
  local ranges = c_api.lib.ms_cut_range(range[1], range[2], range[3], wanted, bounds)
  axis.ranges, known[axis] = tonumber(ranges), bounds
end

--- Cuts an axis into ranges of equal length, within one.
-- @tab axis gets `ranges` @number wanted how many at most; of a sequential one, its values
function M.cut(axis, wanted)
  axis.ranges = wanted
  if axis.sequential then return end
  axis.even = true
  cut_evenly(axis, wanted)
end

--- Cuts an axis where a partition does.
-- @tab axis gets `ranges` @number ranges how many
-- @param bounds a vector of int64 that lives as long as the axis is used
function M.take(axis, ranges, bounds)
  axis.ranges, known[axis] = ranges, bounds
end

--- The bounds of an axis as a vector of int64: range r (from 1) is bounds[r - 1] .. bounds[r] -
-- step; nil for a sequential one. The caller keeps it alive.
function M.bounds(axis)
  if known[axis] then return known[axis] end
  if axis.even then
    cut_evenly(axis, axis.ranges)
  elseif axis.bounds then
    known[axis] = vector(axis.ranges + 1, axis.bounds)
  end
  return known[axis]
end

--- First and last value of range r (from 1).
function M.values(axis, r)
  local step, bounds = axis.range[3], M.bounds(axis)
  if bounds then return tonumber(bounds[r - 1]), tonumber(bounds[r]) - step end
  local value = axis.range[1] + (r - 1) * step
  return value, value
end

return M
