-- SPDX-License-Identifier: MIT
--- Vectors: the copies of a replica, of several arrays and types, as one list of doubles. (Those of
-- int64, which are private and never computed with, are their bits.)
-- @module meissa.sync.vector

local c_api = require "meissa.array.c_api"
local ffi = require "ffi"

local M = {}

--- A vector of zeros.
M.new = ffi.typeof "double[?]"

-- Copies numbers between vectors of perhaps other types.
local function copy(to, from, count, alike)
  if alike then -- as large as doubles
    ffi.copy(to, from, 8 * count)
    return
  end
  for i = 0, count - 1 do to[i] = from[i] end
end

--- A copy at an address, as the functions below take it: {pointer = typed, type =, count =}.
function M.copy(address, name, count)
  local number = c_api.type_numbers[name]
  return {pointer = ffi.cast(c_api.pointer_ctypes[number], address), type = name, count = count}
end

--- Fills a vector with what copies hold, a list.
function M.load(copies, vector)
  for _, each in ipairs(copies) do
    copy(vector, each.pointer, each.count, c_api.element_sizes[each.type] == 8)
    vector = vector + each.count
  end
end

--- Makes copies hold what a vector has; floats are rounded.
function M.store(copies, vector)
  for _, each in ipairs(copies) do
    copy(each.pointer, vector, each.count, c_api.element_sizes[each.type] == 8)
    vector = vector + each.count
  end
end

return M
