-- SPDX-License-Identifier: MIT
--- Whether two dense arrays have elements in common: one memory may be seen by many views.
--
-- Exact. Where both lie in one piece their ends say it; else the elements of one are marked.
-- @module meissa.array.overlap

local ffi = require "ffi"

local M = {}

local marks_of = ffi.typeof "uint8_t[?]"

-- The first element and the one behind the last, counted from the segment's begin.
local function ends_of(about, first)
  local low, high = first, first
  for d, extent in ipairs(about.dims) do
    local reach = (extent - 1) * about.strides[d]
    low, high = low + math.min(reach, 0), high + math.max(reach, 0)
  end
  return low, high + 1
end

-- Visits the places of an array's elements until `visit` says true; whether it did.
local function any_element(about, first, visit)
  local function go(d, at)
    if d > #about.dims then return visit(at) end
    for k = 0, about.dims[d] - 1 do
      if go(d + 1, at + k * about.strides[d]) then return true end
    end
    return false
  end
  return go(1, first)
end

--- Whether two arrays have an element in common.
-- @tab left @tab right what array.describe gives of dense arrays
function M.overlap(left, right)
  local apart = left.store ~= right.store or left.store == 0 or left.count == 0 or
    right.count == 0
  if apart then return false end
  local size = left.bytes / left.count
  local one, other = left.offset / size, right.offset / size
  local low, high = ends_of(left, one)
  local least, most = ends_of(right, other)
  if high <= least or most <= low then return false end
  if high - low == left.count and most - least == right.count then return true end
  local marks = marks_of(high - low)
  any_element(left, one, function(at)
    marks[at - low] = 1
    return false
  end)
  return any_element(right, other, function(at)
    return at >= low and at < high and marks[at - low] == 1
  end)
end

return M
