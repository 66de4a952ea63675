-- SPDX-License-Identifier: MIT
--
-- Parts and copies of arrays: narrow, select, transpose, clone, snapshot, reshape. Methods; and
-- cat.
-- @module meissa.array.part

local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local make = require "meissa.array.make"
local method = require "meissa.array.method"
local subscript = require "meissa.array.subscript"
local valid = require "meissa.array.valid"
local errors = require "meissa.base.errors"

local lib = c_api.lib
local methods = subscript.methods
local to_handle = subscript.to_handle
local COPY = method.of.copy.operation

local function whole(where, name, value)
  if type(value) ~= "number" or math.floor(value) ~= value or math.abs(value) > 2 ^ 31 then
    errors.raise("ARR", "%s: %s must be a whole number, not %s", where, name, tostring(value))
  end
  return value
end

--- A view of `length` positions of dimension d, from `first` on.
function methods.narrow(self, d, first, length)
  local array = to_handle(self).array
  return element.wrap(c_api.call(lib.ms_array_narrow, array, valid.dimension(array, d),
    whole("narrow", "first", first) - 1, whole("narrow", "length", length)))
end

--- A view without dimension d, at position i of it.
function methods.select(self, d, i)
  local array = to_handle(self).array
  return element.wrap(c_api.call(lib.ms_array_select, array, valid.dimension(array, d),
    whole("select", "position", i) - 1))
end

--- A view with two dimensions (1 and 2 if not said) exchanged.
function methods.transpose(self, one, other)
  local array = to_handle(self).array
  return element.wrap(c_api.call(lib.ms_array_transpose, array,
    valid.dimension(array, one or 1), valid.dimension(array, other or 2)))
end

--- A copy with memory of its own.
function methods.clone(self)
  local handle = to_handle(self)
  local bytes = tonumber(lib.ms_array_bytes(handle.array))
  local copy = element.wrap(make.take(bytes, lib.ms_array_clone, handle.array))
  valid.check(handle.array, handle.generation) -- holds the handle until here
  return copy
end

--- A copy of the contents as of now, for loops that read old values while they write new ones. It
-- cannot be written.
function methods.snapshot(self)
  local copy = methods.clone(self)
  lib.ms_array_freeze(copy.array)
  return copy
end

--- A copy of a dense array with other extents: the same elements, row-major.
-- @usage A:reshape(2, 3), A:reshape({2, 3})
function methods.reshape(self, ...)
  local handle = to_handle(self)
  local array = handle.array
  if array.sparse ~= 0 then
    errors.raise("ARR", "reshape: %s is sparse; it is for dense arrays", valid.name_of(array))
  end
  local dims = make.read_shape("reshape", {}, ...)
  local result = make.dense(dims, array.type)
  if result.array.count ~= array.count then
    errors.raise("ARR", "reshape: %s has %d elements, %s has %d", valid.name_of(array),
      tonumber(array.count), table.concat(dims, "x"), tonumber(result.array.count))
  end
  c_api.call(lib.ms_arith_array, COPY, result.array, array, 0)
  valid.check(array, handle.generation) -- holds the handle until here
  return result
end

-- The extent of a dimension, 1 beyond those that there are.
local function extent(array, d)
  return d <= array.dim_count and tonumber(array.dims[d - 1]) or 1
end

-- Checks one of the arrays to be joined along d against the first.
local function check_part(k, array, first, d)
  if array.sparse ~= 0 then
    errors.raise("ARR", "cat: array %d, %s, is sparse; it is for dense arrays", k,
      valid.name_of(array))
  end
  if array.type ~= first.type then
    errors.raise("ARR", "cat: array %d is %s, the first one %s; meissa.from(A, {type = %q}) " ..
      "converts it", k, valid.name_of(array), valid.name_of(first), c_api.type_names[first.type])
  end
  for n = 1, math.max(array.dim_count, first.dim_count, d) do
    if n ~= d and extent(array, n) ~= extent(first, n) then
      errors.raise("ARR", "cat: array %d, %s, does not match the first, %s, in dimension %d", k,
        valid.name_of(array), valid.name_of(first), n)
    end
  end
end

-- The arrays of a list as handles.
local function handles_of(list)
  if type(list) ~= "table" or #list == 0 then
    errors.raise("ARR", "cat: expected a list of arrays, not %s",
      type(list) == "table" and "an empty one" or "a " .. type(list))
  end
  local handles = {}
  for k = 1, #list do
    if not element.kind(list[k]) then
      errors.raise("ARR", "cat: element %d of the list is a %s, not an array", k, type(list[k]))
    end
    handles[k] = to_handle(list[k])
  end
  return handles
end

local M = {}

--- A new array of dense arrays one after the other along dimension d; they must agree in type and
-- in their other extents, which are 1 beyond an array's dimensions: vectors along 2 are the columns
-- of a matrix.
-- @tab list arrays, rows, views
-- @number[opt] d the dimension, at most one more than the first array has; its last one
-- @usage meissa.cat({A, B}, 1)
function M.cat(list, d)
  local handles = handles_of(list)
  local first = handles[1].array
  if d == nil then d = first.dim_count end
  local most = math.min(first.dim_count + 1, 8)
  if type(d) ~= "number" or math.floor(d) ~= d or d < 1 or d > most then
    errors.raise("ARR", "cat: the dimension must be a whole number in 1..%d, not %s", most,
      valid.describe(d))
  end
  local dims, total = {}, 0
  for n = 1, math.max(first.dim_count, d) do dims[n] = extent(first, n) end
  for k = 1, #handles do
    check_part(k, handles[k].array, first, d)
    total = total + extent(handles[k].array, d)
  end
  dims[d] = total
  local result, at = make.dense(dims, first.type), 1
  for k = 1, #handles do
    local length = extent(handles[k].array, d)
    if length > 0 then methods.copy(methods.narrow(result, d, at, length), handles[k]) end
    at = at + length
  end
  return result
end

return M
