-- SPDX-License-Identifier: MIT
--
-- Reductions along one dimension, as Torch has them: the dimension stays, with extent 1.
-- @module meissa.array.along

local c_api = require "meissa.array.c_api"
local make = require "meissa.array.make"
local subscript = require "meissa.array.subscript"
local valid = require "meissa.array.valid"
local errors = require "meissa.base.errors"

local lib, reduction = c_api.lib, c_api.reduction

local M = {}

--- Checks a dimension that a method was given; it is from 1.
function M.dimension(where, array, d)
  if type(d) ~= "number" or math.floor(d) ~= d or d < 1 or d > array.dim_count then
    errors.raise("ARR", "%s: the dimension must be a whole number in 1..%d, not %s (%s)", where,
      array.dim_count, valid.describe(d), valid.name_of(array))
  end
  return d
end

-- A dense array with the extents of another one, but for dimension d.
local function room_for(array, d, number)
  local dims = {}
  for k = 1, array.dim_count do dims[k] = k == d and 1 or tonumber(array.dims[k - 1]) end
  return make.dense(dims, number)
end

local double, int64 = c_api.type_numbers.double, c_api.type_numbers.int64

-- What the core makes of a handle's array along d: doubles, and where they stand if that is wanted.
local function reduce(handle, d, op, with_places)
  local array = handle.array
  local values = room_for(array, d, double)
  local places = with_places and room_for(array, d, int64) or nil
  c_api.call(lib.ms_array_reduce_along, array, d - 1, op, c_api.elements(values.array),
    places and c_api.elements(places.array) or nil)
  valid.check(array, handle.generation) -- holds the handle until here
  return values, places
end

-- The same numbers as elements of another type.
local function as_type(values, number)
  if number == double then return values end
  local array = values.array
  return subscript.methods.copy(room_for(array, 0, number), values)
end

local function change(values, fn)
  local data = c_api.elements(values.array)
  for k = 0, tonumber(values.array.count) - 1 do data[k] = fn(data[k]) end
  return values
end

-- Integers that are divided, or whose root is taken, become doubles.
local function type_of(array)
  return array.type <= double and array.type or double
end

local function check_not_empty(where, array, d)
  if array.dims[d - 1] == 0 then
    errors.raise("ARR", "%s: dimension %d of %s is empty", where, d, valid.name_of(array))
  end
end

local function check_dense(where, array)
  if array.sparse ~= 0 then
    errors.raise("ARR", "%s: along a dimension only dense arrays have it: a row of %s may have " ..
      "no entries. sum and norm take one; go through the entries in a loop", where,
      valid.name_of(array))
  end
end

--- Sums along a dimension.
function M.sum(self, d)
  local handle = subscript.to_handle(self)
  local array = handle.array
  M.dimension("sum", array, d)
  return as_type(reduce(handle, d, reduction.sum), array.type)
end

--- Means along a dimension.
function M.mean(self, d)
  local handle = subscript.to_handle(self)
  local array = handle.array
  M.dimension("mean", array, d)
  check_dense("mean", array)
  check_not_empty("mean", array, d)
  local count = tonumber(array.dims[d - 1])
  local type, values = type_of(array), reduce(handle, d, reduction.sum)
  return as_type(change(values, function(x) return x / count end), type)
end

--- Products along a dimension.
function M.prod(self, d)
  local handle = subscript.to_handle(self)
  local array = handle.array
  M.dimension("prod", array, d)
  check_dense("prod", array)
  return as_type(reduce(handle, d, reduction.product), array.type)
end

--- Checks the flag of variances: whether they are divided by how many elements there are.
function M.is_biased(where, biased)
  if biased ~= nil and type(biased) ~= "boolean" then
    errors.raise("ARR", "%s: `biased` must be true or false, not %s", where, valid.describe(biased))
  end
  return biased == true
end

--- A variance from the sum of squared differences from the mean, and the number of elements.
function M.variance(spread, count, biased)
  return spread / (biased and count or count - 1)
end

--- Refuses to make a number from no elements.
function M.need_elements(where, count)
  if count == 0 then errors.raise("ARR", "%s: an empty array has none", where) end
end

--- The same of `count` elements. Errors: ARR where there are none.
-- @string where "var" or "std"
function M.variance_of(where, count, spread, biased)
  M.need_elements(where, count)
  local value = M.variance(spread, count, M.is_biased(where, biased))
  return value
end

--- Variances along a dimension, or their roots.
-- @string where "var" or "std"
function M.var(where, self, d, biased)
  local handle = subscript.to_handle(self)
  local array = handle.array
  M.dimension(where, array, d)
  biased = M.is_biased(where, biased)
  check_dense(where, array)
  check_not_empty(where, array, d)
  local count = tonumber(array.dims[d - 1])
  local type, values = type_of(array), reduce(handle, d, reduction.spread)
  local root = where == "std" and math.sqrt or function(x) return x end
  return as_type(change(values, function(x) return root(M.variance(x, count, biased)) end), type)
end

--- The least or largest elements along a dimension, and where they stand.
-- @string where "min" or "max"
function M.extreme(where, self, d)
  local handle = subscript.to_handle(self)
  local array = handle.array
  M.dimension(where, array, d)
  check_dense(where, array)
  check_not_empty(where, array, d)
  local type, op = array.type, where == "max" and reduction.most or reduction.least
  local values, places = reduce(handle, d, op, true)
  return as_type(values, type), places
end

-- The magnitude of what is farthest from 0 along a dimension.
local function farthest(handle, d)
  check_dense("norm", handle.array)
  check_not_empty("norm", handle.array, d)
  local least, most = reduce(handle, d, reduction.least), reduce(handle, d, reduction.most)
  local low, high = c_api.elements(least.array), c_api.elements(most.array)
  for k = 0, tonumber(least.array.count) - 1 do
    local a, b = math.abs(low[k]), math.abs(high[k])
    high[k] = (a > b or a ~= a) and a or b
  end
  return most
end

--- Norms along a dimension, p = 1, 2 or math.huge.
function M.norm(self, p, d)
  local handle = subscript.to_handle(self)
  M.dimension("norm", handle.array, d)
  local type = type_of(handle.array)
  local values
  if p == 2 then
    values = change(reduce(handle, d, reduction.squares), math.sqrt)
  elseif p == 1 then
    values = reduce(handle, d, reduction.magnitudes)
  else
    values = farthest(handle, d)
  end
  return as_type(values, type)
end

return M
