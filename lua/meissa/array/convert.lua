-- SPDX-License-Identifier: MIT
--
-- Between arrays and plain Lua tables: from, totable.
-- @module meissa.array.convert

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local make = require "meissa.array.make"
local sparse = require "meissa.array.sparse"
local subscript = require "meissa.array.subscript"
local tensor = require "meissa.array.tensor"
local valid = require "meissa.array.valid"
local errors = require "meissa.base.errors"
local objects = require "meissa.array.objects"
local interrupt = require "meissa.base.interrupt"

local methods = subscript.methods
local to_handle, to_number = subscript.to_handle, valid.to_number

local M = {}

-- Extents of a nested table, by its first elements.
local function table_dims(value)
  local dims = {}
  while type(value) == "table" do
    dims[#dims + 1] = #value
    if #dims > 8 then errors.raise("ARR", "from: the table is nested more than 8 deep") end
    value = value[1]
  end
  return dims
end

local function place_name(path)
  local parts = {}
  for k = 1, #path do parts[k] = "[" .. path[k] .. "]" end
  return table.concat(parts)
end

-- Writes a nested table's numbers row-major; `next` is where.
local function write_table(value, dims, depth, path, array, data, at)
  if type(value) ~= "table" then
    errors.raise("ARR", "from: element %s is a %s, expected a table of %d", place_name(path),
      type(value), dims[depth])
  end
  if #value ~= dims[depth] then
    errors.raise("ARR", "from: the table at %s has %d elements, expected %d",
      #path > 0 and place_name(path) or "the top", #value, dims[depth])
  end
  for k = 1, #value do
    path[depth] = k
    if depth < #dims then
      at = write_table(value[k], dims, depth + 1, path, array, data, at)
    else
      if type(value[k]) ~= "number" and type(value[k]) ~= "cdata" then
        errors.raise("ARR", "from: element %s is a %s, not a number", place_name(path),
          type(value[k]))
      end
      data[at] = valid.storable(array, value[k])
      at = at + 1
    end
  end
  path[depth] = nil
  return at
end

-- A vector of the values of a list.
local function objects_from(list)
  if type(list) ~= "table" then
    errors.raise("ARR", "from: expected a list of objects, not a %s", type(list))
  end
  local items = {}
  for k = 1, #list do items[k] = objects.check_value(list[k]) end
  return objects.new({ #list }, items)
end

--- A dense array from a nested table, another array (to change the type), or a Torch tensor; with
-- type = "object" a vector of the values of a list.
-- @usage local A = meissa.from({{1, 2}, {3, 4}}, {type = "float"})
function M.from(value, opts)
  local options = errors.check_options("from", opts, { "type" })
  if options.type == "object" then return objects_from(value) end
  if element.kind(value) then
    local source = to_handle(value)
    if source.array.sparse ~= 0 then errors.raise("ARR", "from: the array is sparse") end
    local type_name = options.type or methods.type(source)
    local copy = make.dense(methods.size(source), make.type_number("from", type_name))
    return methods.copy(copy, source)
  end
  local read = tensor.read(value)
  if read then
    local type_name = options.type or "double"
    return type_name == methods.type(read) and read or M.from(read, { type = type_name })
  end
  if type(value) ~= "table" then
    local ok, converted = interrupt.pcall(function() return value:totable() end)
    if not ok or type(converted) ~= "table" then
      errors.raise("ARR", "from: expected a table or a tensor, not a %s", type(value))
    end
    value = converted
  end
  local dims = table_dims(value)
  local A = make.dense(dims, make.type_number("from", options.type))
  local data = ffi.cast(c_api.pointer_ctypes[A.array.type], A.array.data)
  write_table(value, dims, 1, {}, A.array, data, 0)
  return A
end

make.from = M.from

local function read_table(array, data, d, offset)
  local result = {}
  local stride, extent = tonumber(array.strides[d]), tonumber(array.dims[d])
  for k = 1, extent do
    local at = offset + (k - 1) * stride
    if d + 1 < array.dim_count then
      result[k] = read_table(array, data, d + 1, at)
    else
      result[k] = to_number(data[at])
    end
  end
  return result
end

--- Nested tables of a dense array's numbers; {i =, j =, ..., v =} of a sparse one's entries, as
-- `sparse` takes them.
function methods.totable(self)
  local array = to_handle(self).array
  local data = ffi.cast(c_api.pointer_ctypes[array.type], array.data)
  if array.sparse == 0 then return read_table(array, data, 0, 0) end
  local columns = { v = {} }
  local count = tonumber(array.count)
  for d = 1, array.dim_count do
    local list, coords = {}, array.coords[d - 1]
    for e = 1, count do list[e] = coords[e - 1] + 1 end
    columns[sparse.letters[d]] = list
  end
  for e = 1, count do columns.v[e] = to_number(data[e - 1]) end
  return columns
end

--- A Torch tensor with a copy of a dense array's elements. Errors: OPT when Torch is not there.
function methods.totensor(self)
  local handle = to_handle(self)
  local raw = handle.array
  if raw.sparse ~= 0 then errors.raise("ARR", "totensor: the array is sparse; use totable()") end
  local ok, torch = interrupt.pcall(require, "torch")
  if not ok or type(torch) ~= "table" then
    errors.raise("OPT", "totensor needs Torch7: the module 'torch' cannot be loaded")
  end
  return tensor.write(torch, handle)
end

return M
