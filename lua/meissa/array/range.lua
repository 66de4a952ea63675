-- SPDX-License-Identifier: MIT
--
-- Ranges: subscripts such as A[{{2, 5}, 3}], as in Torch.
-- @module meissa.array.range

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local errors = require "meissa.base.errors"
local valid = require "meissa.array.valid"

local lib = c_api.lib
local floor = math.floor
local int32_vector, int64_vector = ffi.typeof("int32_t[8]"), ffi.typeof("int64_t[8]")

local M = {}

-- A range {lo, hi} of dimension d as 0-based first and length; negative ends count from the end,
-- {} is everything, {k} is {k, k}.
local function range_of(array, d, range)
  local extent = tonumber(array.dims[d - 1])
  local lo, hi = range[1], range[2]
  if lo == nil then return 0, extent end
  if hi == nil then hi = lo end
  if type(lo) ~= "number" or type(hi) ~= "number" or floor(lo) ~= lo or floor(hi) ~= hi then
    errors.raise("ARR", "range {%s, %s} of dimension %d: both ends must be whole numbers",
      valid.describe(lo), valid.describe(hi), d)
  end
  local first = lo < 0 and extent + 1 + lo or lo
  local last = hi < 0 and extent + 1 + hi or hi
  if first < 1 or last > extent or first > last then
    errors.raise("ARR", "range {%s, %s} is outside 1..%d (dimension %d of %s)", valid.describe(lo),
      valid.describe(hi), extent, d, valid.name_of(array))
  end
  return first - 1, last - first + 1
end

-- The first positions and lengths that a table of subscripts with ranges means, and which
-- dimensions are ranges.
local function ranges_of(array, keys)
  local first, length, keep = int64_vector(), int64_vector(), int32_vector()
  for d = 1, array.dim_count do
    local key = keys[d]
    if type(key) == "table" or key == nil then
      first[d - 1], length[d - 1] = range_of(array, d, key or {})
      keep[d - 1] = 1
    else
      first[d - 1], length[d - 1] = valid.position(array, d, key), 1
    end
  end
  return first, length, keep
end

--- Sets the entries of a sparse array in some ranges to a number.
function M.fill(array, keys, value)
  if type(value) ~= "number" then
    errors.raise("ARR", "a range of a sparse array can be set to a number, which its entries get")
  end
  valid.check_writable(array)
  valid.storable(array, value)
  local first, length = ranges_of(array, keys)
  local data = c_api.elements(array)
  for e = 0, tonumber(array.count) - 1 do
    local inside = true
    for d = 0, array.dim_count - 1 do
      local at = array.coords[d][e] - first[d]
      inside = inside and at >= 0 and at < length[d]
    end
    if inside then data[e] = value end
  end
  array.version = array.version + 1
end

--- A view by a table of subscripts with ranges in it; of a sparse array a copy of the entries.
function M.view(array, keys)
  if array.sparse ~= 0 then
    return element.wrap(c_api.call(lib.ms_array_cut, array, ranges_of(array, keys)))
  end
  local dims, strides, from = int64_vector(), int64_vector(), int32_vector()
  local rank, offset = 0, 0
  for d = 1, array.dim_count do
    local key = keys[d]
    local first, length
    if type(key) == "table" or key == nil then
      first, length = range_of(array, d, key or {})
      dims[rank], strides[rank] = length, array.strides[d - 1]
      from[rank] = d - 1
      rank = rank + 1
    else
      first = valid.position(array, d, key)
    end
    offset = offset + first * tonumber(array.strides[d - 1])
  end
  local view = c_api.call(lib.ms_array_view, array, rank, dims, strides,
    c_api.elements(array) + offset)
  view.readable = array.readable ~= 0 and view.generation or 0
  for d = 0, rank - 1 do
    if array.labels[from[d]] ~= nil then lib.ms_array_keep_labels(view, d, array, from[d]) end
  end
  return element.wrap(view)
end

return M
