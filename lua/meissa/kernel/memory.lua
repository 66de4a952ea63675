-- SPDX-License-Identifier: MIT
--- Arrays as kernels see them.
-- @module meissa.kernel.memory
local array = require("meissa.array")
local element = require("meissa.array.element")
local ffi = require("ffi")

local M = {}

--- Whether a value is an array (rows and slices of one are not).
function M.is_array(value)
  return element.kind(value) == "handle"
end

--- For results: nil for what is no array, false for arrays and parts of arrays.
function M.refuse(value)
  if element.kind(value) then return false end
  return nil
end

--- What is known about an array: id, type, dims, strides, sparse, count...
M.describe = array.describe

local function wrap(item)
  local coords
  if item.coords then
    coords = {}
    for d, vector in ipairs(item.coords) do coords[d] = ffi.cast("int32_t *", vector) end
  end
  return array.wrap_foreign { type = item.type, dims = item.dims, strides = item.strides,
    data = ffi.cast("void *", item.pointer), coords = coords, count = item.count, keep = item }
end

--- A function from a capture's number to its array as an object, made when first asked for.
-- @tab items {pointer =, type =, dims =, strides =} by capture; sparse ones have coords (vectors of
-- 0-based int32) and count
function M.object_maker(items)
  local objects = {}
  return function(capture)
    if not objects[capture] then objects[capture] = wrap(items[capture]) end
    return objects[capture]
  end
end

return M
