-- SPDX-License-Identifier: MIT
--- Vectors: the copies of a replica, of several arrays and types, as one list of doubles.
-- @module meissa.sync.vector

local ffi = require "ffi"

local M = {}

--- A vector of zeros.
M.new = ffi.typeof "double[?]"

-- Copies numbers between vectors of perhaps other types.
local function copy(to, from, count, alike)
  if alike then
    ffi.copy(to, from, 8 * count)
    return
  end
  for i = 0, count - 1 do to[i] = from[i] end
end

--- Fills a vector with what copies hold: a list of {pointer = typed, type =, count =}.
function M.load(copies, vector)
  for _, each in ipairs(copies) do
    copy(vector, each.pointer, each.count, each.type == "double")
    vector = vector + each.count
  end
end

--- Makes copies hold what a vector has; floats are rounded.
function M.store(copies, vector)
  for _, each in ipairs(copies) do
    copy(each.pointer, vector, each.count, each.type == "double")
    vector = vector + each.count
  end
end

return M
