-- SPDX-License-Identifier: MIT
--
-- Sorting along a dimension: sort, topk. Methods, which give two new arrays.
-- @module meissa.array.sort

local c_api = require "meissa.array.c_api"
local along = require "meissa.array.along"
local make = require "meissa.array.make"
local subscript = require "meissa.array.subscript"
local valid = require "meissa.array.valid"
local errors = require "meissa.base.errors"

local lib, methods, to_handle = c_api.lib, subscript.methods, subscript.to_handle

local function is_flag(where, name, value)
  if value ~= nil and type(value) ~= "boolean" then
    errors.raise("ARR", "%s: `%s` must be true or false, not %s", where, name,
      valid.describe(value))
  end
  return value
end

-- The handle and its dimension; the last one if none is given.
local function lane_of(where, self, d)
  local handle = to_handle(self)
  local array = handle.array
  if array.sparse ~= 0 then
    errors.raise("ARR", "%s: %s is sparse; sort(d) and topk(k, d) are for dense arrays", where,
      valid.name_of(array))
  end
  return handle, along.dimension(where, array, d == nil and array.dim_count or d)
end

-- The first k elements along d, and where they stand.
local function sorted(handle, d, k, descending)
  local array = handle.array
  local dims = {}
  for n = 1, array.dim_count do dims[n] = n == d and k or tonumber(array.dims[n - 1]) end
  local values, places = make.dense(dims, array.type), make.dense(dims, c_api.type_numbers.int64)
  c_api.call(lib.ms_array_sort, array, d - 1, descending and 1 or 0, values.array, places.array)
  valid.check(array, handle.generation) -- holds the handle until here
  return values, places
end

--- The elements along a dimension in order, and where on it they stood: two arrays, of A's extents.
-- Equal elements keep their order; a nan is greater than all numbers.
-- @number[opt] d the dimension; the last one
-- @bool[opt] descending true: the greatest first
-- @usage local values, places = A:sort(1)
function methods.sort(self, d, descending)
  local handle, dimension = lane_of("sort", self, d)
  local extent = tonumber(handle.array.dims[dimension - 1])
  return sorted(handle, dimension, extent, is_flag("sort", "descending", descending))
end

--- The k greatest elements along a dimension, in descending order, and where on it they stand: what
-- `sort` has first.
-- @number k how many, at most as many as there are
-- @number[opt] d the dimension; the last one
-- @bool[opt] largest false: the k least, in ascending order
-- @usage local values, places = scores:topk(10)
function methods.topk(self, k, d, largest)
  local handle, dimension = lane_of("topk", self, d)
  local extent = tonumber(handle.array.dims[dimension - 1])
  if type(k) ~= "number" or math.floor(k) ~= k or k < 1 or k > extent then
    errors.raise("ARR", "topk: k must be a whole number in 1..%d, not %s (%s)", extent,
      valid.describe(k), valid.name_of(handle.array))
  end
  return sorted(handle, dimension, k, is_flag("topk", "largest", largest) ~= false)
end
