-- SPDX-License-Identifier: MIT
--
-- Entries: making sparse arrays, walking through entries, splitting them.
-- @module meissa.array.sparse

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local make = require "meissa.array.make"
local subscript = require "meissa.array.subscript"
local valid = require "meissa.array.valid"
local errors = require "meissa.base.errors"
local tables = require "meissa.base.tables"

local lib = c_api.lib
local methods, slice_methods = subscript.methods, subscript.slice_methods
local to_handle, to_number = subscript.to_handle, valid.to_number

-- Names of the coordinate lists of `sparse`, one a dimension.
local letters = { "i", "j", "k", "l", "m", "n", "o", "p" }
local M = { letters = letters }

-- A list of numbers: a table or a one-dimensional array. Returns its length and a reader.
local function list_of(name, list)
  if type(list) == "table" then return #list, list end
  if element.kind(list) and methods.dim(list) == 1 then return methods.size(list, 1), list end
  errors.raise("ARR", "sparse: %s must be a table or vector of numbers, not a %s", name,
    type(list))
end

local function read_columns(dims, columns)
  local known = { v = true }
  for d = 1, #dims do known[letters[d]] = true end
  for name in tables.each(columns) do
    if not known[name] then
      errors.raise("OPT", "sparse: unknown column '%s' for %d dimensions", tostring(name), #dims)
    end
  end
  local lists, count = {}, nil
  for d = 1, #dims do
    local length
    length, lists[d] = list_of(letters[d], columns[letters[d]])
    count = count or length
    if length ~= count then
      errors.raise("ARR", "sparse: %s has %d numbers, i has %d", letters[d], length, count)
    end
  end
  local value_count, values = count, nil
  if columns.v ~= nil then value_count, values = list_of("v", columns.v) end
  if value_count ~= count then
    errors.raise("ARR", "sparse: v has %d numbers, i has %d", value_count, count)
  end
  return lists, values, count
end

--- A sparse array of `count` entries, all with the first subscripts and the value 0, for whoever
-- fills its coordinates and values.
function M.empty(dims, count, opts)
  local number = make.type_number("sparse", opts.type)
  return element.wrap(make.take(count * (16 + 4 * #dims), lib.ms_array_sparse, number, #dims,
    ffi.new("int64_t[8]", dims), count))
end

--- A sparse array from lists of coordinates and values, which are kept in this order.
-- @tab dims extents
-- @tab columns {i =, j =, k =, ..., v =}: tables or vectors; without v all values are 1
-- @tab[opt] opts `type`
-- @usage local S = meissa.sparse({2, 3}, {i = {1, 2}, j = {3, 1}, v = {0.5, 2}})
function M.sparse(dims, columns, opts)
  if type(columns) ~= "table" then errors.raise("OPT", "sparse: the columns must be a table") end
  local shape, options = make.read_shape("sparse", { "type" }, dims, opts)
  local lists, values, count = read_columns(shape, columns)
  local A = M.empty(shape, count, options)
  local array = A.array
  for d = 1, #shape do
    local list, coords = lists[d], array.coords[d - 1]
    for e = 1, count do coords[e - 1] = valid.position(array, d, list[e]) end
  end
  local data = ffi.cast(c_api.pointer_ctypes[array.type], array.data)
  for e = 1, count do data[e - 1] = valid.storable(array, values and values[e] or 1) end
  return A
end

-- Iteration ----------------------------------------------------------------------------------

-- The subscripts and value of entry e (0-based), for any number of dimensions.
local function entry_values(array, first_dim, e, value)
  local at = {}
  for d = first_dim, array.dim_count - 1 do at[#at + 1] = array.coords[d][e] + 1 end
  at[#at + 1] = to_number(value)
  return unpack(at)
end

local function each_entry(handle)
  local array = handle.array
  local data = ffi.cast(c_api.pointer_ctypes[array.type], array.data)
  local generation, count, e = handle.generation, tonumber(array.count), -1
  local rows, columns = array.coords[0], array.coords[1]
  local two = array.dim_count == 2
  return function()
    if handle.array.readable ~= generation then valid.check(array, generation) end
    e = e + 1
    if e >= count then return nil end
    if two then return rows[e] + 1, columns[e] + 1, to_number(data[e]) end
    return entry_values(array, 0, e, data[e])
  end
end

-- Row-major over a dense array.
local function each_element(handle)
  local array = handle.array
  local rank = array.dim_count
  local at, left = {}, tonumber(array.count)
  for d = 1, rank do at[d] = 1 end
  at[rank] = 0
  return function()
    if left == 0 then return nil end
    left = left - 1
    local d = rank
    at[d] = at[d] + 1
    while at[d] > array.dims[d - 1] and d > 1 do
      at[d] = 1
      d = d - 1
      at[d] = at[d] + 1
    end
    at[rank + 1] = nil
    at[rank + 1] = handle[at]
    return unpack(at, 1, rank + 1)
  end
end

--- Iterates over all entries, in the order in which they were given (of a dense array: over all
-- elements, row-major), in this process.
-- @usage for i, j, v in A:each() do print(i, j, v) end
function methods.each(self)
  local handle = to_handle(self)
  if handle.array.sparse ~= 0 then return each_entry(handle) end
  return each_element(handle)
end

-- A walk through a row of a matrix that has compressed rows, as a struct for each element type: the
-- loops of bodies, where a closure for each row would cost more than a short row.
local cursors, steps = {}, {}

local function define_cursor(number)
  local text = string.match(tostring(c_api.element_ctypes[number]), "ctype<(.*)>")
  cursors[number] = ffi.typeof(string.format([[struct {
    ms_array *const array; const int generation; uint32_t place; const uint32_t last;
    const int32_t *const columns; const %s *const values;
  }]], text))
  local wide = number == 3
  steps[number] = function(cursor)
    local place = cursor.place
    if cursor.array.readable ~= cursor.generation then
      valid.check(cursor.array, cursor.generation)
    end
    if place >= cursor.last then return nil end
    cursor.place = place + 1
    local value = cursor.values[place]
    return cursor.columns[place], wide and to_number(value) or value
  end
end

for number = 0, 3 do define_cursor(number) end

-- The walk through a row by the array's index, for any number of dimensions.
local function walk_index(slice)
  local array = slice.array
  local range = ffi.new("int64_t[2]")
  c_api.call(lib.ms_index_range, array, element.positions(slice), slice.depth, range, range + 1)
  local place, last = tonumber(range[0]) - 1, tonumber(range[1])
  local order, generation, depth = array.index.order, slice.generation, slice.depth
  local data = ffi.cast(c_api.pointer_ctypes[array.type], array.data)
  return function()
    if array.readable ~= generation then valid.check(array, generation) end
    place = place + 1
    if place >= last then return nil end
    local e = order[place]
    return entry_values(array, depth, e, data[e])
  end
end

--- Iterates over the entries of a row of a sparse array, in the order of their subscripts; those
-- with equal ones in file order.
-- @usage for j, v in X[i]:nonzeros() do print(j, v) end
function slice_methods.nonzeros(slice)
  local array = slice.array
  valid.check(array, slice.generation)
  if array.sparse == 0 then errors.raise("ARR", "nonzeros is for rows of sparse arrays") end
  if array.dim_count == 2 then
    local low, high = subscript.row_range(array, element.positions(slice), slice.depth)
    if low then
      local number, rows = array.type, array.rows
      return steps[number], cursors[number](array, slice.generation, low, high, rows.columns[1],
        ffi.cast(c_api.pointer_ctypes[number], rows.values))
    end
  end
  return walk_index(slice)
end

function methods.nonzeros()
  errors.raise("ARR", "nonzeros is for rows of sparse arrays: X[i]:nonzeros()")
end

--- Divides the entries of a sparse array at random in two arrays of the same extents and ids.
-- @number fraction how many of all entries the first one gets, 0..1
-- @tab[opt] opts `seed`
-- @usage local train, test = ratings:split(0.9, {seed = 1})
function methods.split(self, fraction, opts)
  local handle = to_handle(self)
  local array = handle.array
  local options = errors.check_options("split", opts, { "seed" })
  if type(fraction) ~= "number" then
    errors.raise("ARR", "split: the fraction must be a number, not a %s", type(fraction))
  end
  local parts = ffi.new("ms_array *[2]")
  make.take(tonumber(lib.ms_array_bytes(array)), lib.ms_array_split, array, fraction,
    make.seed_number("split", options.seed), parts, parts + 1)
  valid.check(array, handle.generation) -- holds the handle until here
  return element.wrap(parts[0]), element.wrap(parts[1])
end

return M
