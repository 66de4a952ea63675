-- SPDX-License-Identifier: MIT
--- Whether dense arrays have elements in common: one memory may be seen by many views.
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

-- Whether any two of these spans have an element in common; all lie from `low` to before `high`.
local function meet(spans, low, high)
  local marks = marks_of(high - low)
  for _, each in ipairs(spans) do
    local met = any_element(each.about, each.first, function(at) return marks[at - low] ~= 0 end)
    if met then return true end
    any_element(each.about, each.first, function(at)
      marks[at - low] = 1
      return false
    end)
  end
  return false
end

-- Adds the group of spans that lie one upon the other, if they have an element in common.
local function add_group(groups, spans)
  if #spans < 2 then return end
  local low, high = spans[1].low, 0
  for _, each in ipairs(spans) do high = math.max(high, each.high) end
  if not meet(spans, low, high) then return end
  local group = {low = low, high = high, members = {}}
  for _, each in ipairs(spans) do
    group.members[#group.members + 1] = {number = each.number, at = each.first - low}
  end
  groups[#groups + 1] = group
end

-- By store, where the elements of arrays with one lie, from the first place on.
local function spans_of(list)
  local stores, by_store = {}, {}
  for number, about in ipairs(list) do
    if about.store ~= 0 and about.count > 0 then
      local first = about.offset / (about.bytes / about.count)
      local low, high = ends_of(about, first)
      if not by_store[about.store] then
        by_store[about.store] = {}
        stores[#stores + 1] = by_store[about.store]
      end
      table.insert(by_store[about.store], {number = number, about = about, first = first,
                                           low = low, high = high})
    end
  end
  for _, spans in ipairs(stores) do
    table.sort(spans, function(a, b)
      if a.low ~= b.low then return a.low < b.low end
      return a.number < b.number
    end)
  end
  return stores
end

--- Groups of arrays that see the same memory.
-- @tab list what array.describe gives of dense arrays
-- @treturn table a list of {low =, high = the elements of the store between which they lie, members
-- = a list of {number = in the list, at = how far from `low` its element [1]...[1] is}}
function M.groups(list)
  local groups = {}
  for _, spans in ipairs(spans_of(list)) do
    local upon, high = {}, -math.huge
    for _, each in ipairs(spans) do
      if each.low >= high then
        add_group(groups, upon)
        upon, high = {}, -math.huge
      end
      upon[#upon + 1], high = each, math.max(high, each.high)
    end
    add_group(groups, upon)
  end
  return groups
end

return M
