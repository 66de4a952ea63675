-- SPDX-License-Identifier: MIT
--- The loop's order of iterations: by their subscripts, the outermost first, each counted such that
-- it ascends.
-- @module meissa.kernel.order
local ffi = require "ffi"

local M = {}

local numbers_type = ffi.typeof("int32_t[?]")

--- Whether iteration a comes before iteration b of `places`, `width` subscripts each.
function M.comes_before(places, width, a, b)
  a, b = a * width, b * width
  for d = 0, width - 1 do
    local one, other = places[a + d], places[b + d]
    if one ~= other then return one < other end
  end
  return false
end

local comes_before = M.comes_before

-- Where each part begins that ascends already, and one past the end of the last.
local function ascents(places, width, count)
  local starts = { 0 }
  for k = 1, count - 1 do
    if comes_before(places, width, k, k - 1) then starts[#starts + 1] = k end
  end
  starts[#starts + 1] = count
  return starts
end

-- Merges from[first .. middle - 1] and from[middle .. last - 1] into `to`.
local function merge(places, width, from, to, first, middle, last)
  local a, b = first, middle
  for k = first, last - 1 do
    if a < middle and (b >= last or not comes_before(places, width, from[b], from[a])) then
      to[k], a = from[a], a + 1
    else
      to[k], b = from[b], b + 1
    end
  end
end

--- The numbers of iterations, from 0, in the loop's order; equal ones as they stand. What ascends
-- already is merged (Knuth, The Art of Computer Programming 3, 5.2.4, natural merging), since
-- blocks come with their own iterations in order.
-- @param places memory of `count` times `width` doubles
-- @number width subscripts of an iteration @number count iterations
-- @return memory of int32_t
function M.sorted(places, width, count)
  local starts = ascents(places, width, count)
  local from, to = numbers_type(math.max(1, count)), numbers_type(math.max(1, count))
  for k = 0, count - 1 do from[k] = k end
  while #starts > 2 do
    local kept = {}
    for s = 1, #starts - 1, 2 do
      local middle = starts[s + 1]
      merge(places, width, from, to, starts[s], middle, starts[s + 2] or middle)
      kept[#kept + 1] = starts[s]
    end
    kept[#kept + 1] = starts[#starts]
    starts, from, to = kept, to, from
  end
  return from
end

return M
