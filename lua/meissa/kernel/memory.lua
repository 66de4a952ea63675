-- SPDX-License-Identifier: MIT
--- Arrays as kernels see them: what the text depends on, and objects over a worker's memory.
-- @module meissa.kernel.memory
local ffi = require("ffi")
local array_core = require("meissa.array.core")
local element = require("meissa.array.element")

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

--- What a kernel depends on: {id, type, dims, strides, sparse}.
-- @param value an array
function M.describe(value)
  local raw = value.array
  local about = { id = tonumber(raw.id), type = array_core.type_names[raw.type], dims = {},
    strides = {}, sparse = raw.sparse ~= 0 }
  for d = 1, raw.dim_count do
    about.dims[d], about.strides[d] = tonumber(raw.dims[d - 1]), tonumber(raw.strides[d - 1])
  end
  return about
end

local function to_int64(list, count)
  local vector = ffi.new("int64_t[8]")
  for d = 1, count do vector[d - 1] = list[d] end
  return vector
end

-- An array object over an item's memory, which must outlive it.
local function wrap(item)
  local dims = #item.dims
  local coords
  if item.coords then
    coords = ffi.new("int32_t *[8]")
    for d = 1, dims do coords[d - 1] = ffi.cast("int32_t *", item.coords[d]) end
  end
  return element.wrap(array_core.call(array_core.lib.ms_array_foreign,
    array_core.type_numbers[item.type], dims, to_int64(item.dims, dims),
    item.strides and to_int64(item.strides, dims) or nil, ffi.cast("void *", item.pointer),
    coords, item.count or 0))
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
