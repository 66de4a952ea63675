-- SPDX-License-Identifier: MIT
--
-- Subscripts: everything about `A[...]` that is not the fast path of element.lua: tables of
-- subscripts, rows of n-dimensional and sparse arrays, fills. What is wrong is said by valid.lua,
-- ranges are in range.lua.
-- @module meissa.array.subscript

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local errors = require "meissa.base.errors"
local range = require "meissa.array.range"
local tables = require "meissa.base.tables"
local valid = require "meissa.array.valid"

local lib, elements = c_api.lib, c_api.elements
local check, position, to_number = valid.check, valid.position, valid.to_number
local slow = element.slow

local M = {}

-- Methods by name: of arrays, and of rows and slices. Filled in by the other files.
M.methods = {}

local function unknown_method(key)
  local names = {}
  for name in tables.each(M.methods) do names[#names + 1] = name end
  local near = errors.nearest(key, names)
  errors.raise("ARR", "arrays have no field or method '%s'%s", key,
    near and string.format(" (did you mean '%s'?)", near) or "")
end

--- Raises ARR, with the nearest name, for a name that no method has.
function M.check_method(name)
  if M.methods[name] == nil then unknown_method(name) end
end

local int32_vector = ffi.typeof("int32_t[8]")

local place_pair = ffi.new("int64_t[2]")

--- Where the entries with these leading `count` subscripts (0-based) stand in the array's rows:
-- first place and the one past the last; nil when rows with the present values are not there.
function M.row_range(array, at, count)
  local rows = array.rows
  if rows == nil or rows.version ~= array.version then return nil end
  lib.ms_csr_range(rows, at, count, place_pair, place_pair + 1)
  return tonumber(place_pair[0]), tonumber(place_pair[1])
end

-- The value of the entry with these 0-based subscripts, from the rows if they are there and name
-- one; else nil.
local function find_in_rows(array, at)
  local first, last = M.row_range(array, at, array.dim_count)
  if not first or last - first > 1 then return nil end
  if first == last then return 0 end
  return to_number(ffi.cast(c_api.pointer_ctypes[array.type], array.rows.values)[first])
end

-- The number of the entry with these 0-based subscripts, or nil.
local function find_entry(array, at)
  local entry = tonumber(c_api.call(lib.ms_index_find, array, at))
  if entry >= 0 then return entry end
end

-- Reads or writes the element at 0-based positions at[0..]; n = dim_count of them.
local function read_at(array, at)
  if array.sparse ~= 0 then
    local value = find_in_rows(array, at)
    if value then return value end
    local entry = find_entry(array, at)
    return entry and to_number(elements(array)[entry]) or 0
  end
  local offset = 0
  for d = 0, array.dim_count - 1 do offset = offset + at[d] * tonumber(array.strides[d]) end
  return (to_number(elements(array)[offset]))
end

local function list_positions(at, count)
  local parts = {}
  for d = 0, count - 1 do parts[d + 1] = "[" .. (at[d] + 1) .. "]" end
  return table.concat(parts)
end

local function write_at(array, at, value)
  valid.check_writable(array)
  value = valid.storable(array, value)
  if array.sparse ~= 0 then
    local entry = find_entry(array, at)
    if not entry then
      errors.raise("ARR", "a sparse array has no entry at %s; only existing entries can be written",
        list_positions(at, array.dim_count))
    end
    elements(array)[entry] = value
    array.version = array.version + 1
    return
  end
  local offset = 0
  for d = 0, array.dim_count - 1 do offset = offset + at[d] * tonumber(array.strides[d]) end
  elements(array)[offset] = value
end

-- A row or slice: `array` with `depth` leading 0-based positions.
local function make_slice(array, at, depth)
  local rest = array.dim_count - depth
  if array.sparse == 0 and rest == 1 then
    local offset = 0
    for d = 0, depth - 1 do offset = offset + at[d] * tonumber(array.strides[d]) end
    return (element.rows[array.type](array, elements(array) + offset, array.generation,
      array.dims[depth], array.strides[depth]))
  end
  return (element.slice(array, array.generation, array.dims[depth], depth, at[0], at[1], at[2],
    at[3], at[4], at[5], at[6], at[7]))
end

local int64_vector = ffi.typeof("int64_t[8]")

-- The element at the leading positions at[0 .. depth-1] and 1 in the other dimensions.
local function address(array, at, depth)
  local offset = 0
  for d = 0, depth - 1 do offset = offset + at[d] * tonumber(array.strides[d]) end
  return elements(array) + offset
end

--- A handle for what a row or slice shows (a view); a handle is returned as it is.
-- @bool writing lost contents may be written
function M.to_handle(value, writing)
  local kind = element.kind(value)
  local array = value.array
  check(array, value.generation, writing)
  if kind == "handle" then return value end
  local view
  if kind == "row" then
    view = c_api.call(lib.ms_array_view, array, 1, int64_vector(value.extent),
      int64_vector(value.stride), value.elements)
  elseif array.sparse ~= 0 then
    errors.raise("ARR", "a row of a sparse array has no such method; use nonzeros()")
  else
    view = c_api.call(lib.ms_array_view, array, array.dim_count - value.depth,
      array.dims + value.depth, array.strides + value.depth,
      address(array, element.positions(value), value.depth))
  end
  view.readable = array.readable ~= 0 and view.generation or 0
  local gone = array.dim_count - view.dim_count
  for d = 0, view.dim_count - 1 do
    if array.labels[gone + d] ~= nil then lib.ms_array_keep_labels(view, d, array, gone + d) end
  end
  return element.wrap(view)
end

-- What a table of subscripts means: positions (and their number), or ranges.
local function positions_of(array, keys)
  local at, count, has_range = int32_vector(), #keys, false
  if count == 0 or count > array.dim_count then
    errors.raise("ARR", "%d subscripts for the %d dimensions of %s", count, array.dim_count,
      valid.name_of(array))
  end
  for d = 1, count do
    if type(keys[d]) == "table" then
      has_range = true
    elseif not has_range then
      at[d - 1] = position(array, d, keys[d])
    end
  end
  return at, count, has_range
end

--- Whether a value is a row or slice.
function M.is_part(value)
  local kind = element.kind(value)
  return kind == "row" or kind == "slice"
end

-- target[...] = value for a view: a fill or a copy.
local function assign(view, value)
  if element.kind(value) or type(value) == "table" then
    M.methods.copy(view, value)
  else
    M.methods.fill(view, value)
  end
end

local function assign_part(array, at, depth, value)
  if depth == array.dim_count then
    write_at(array, at, value)
  elseif array.sparse ~= 0 then
    errors.raise("ARR", "a row of a sparse array cannot be assigned; write existing entries")
  else
    assign(M.to_handle(make_slice(array, at, depth), true), value)
  end
end

-- The element, or the row or slice, at the first `depth` positions.
local function read_part(array, at, depth)
  if depth < array.dim_count then return (make_slice(array, at, depth)) end
  check(array, array.generation)
  return (read_at(array, at))
end

function slow.handle_get(handle, key)
  if type(key) == "string" then return M.methods[key] or unknown_method(key) end
  local array = handle.array
  check(array, handle.generation, true) -- only reading elements asks for contents
  if type(key) == "table" then
    local at, count, has_range = positions_of(array, key)
    if has_range then return range.view(array, key) end
    return (read_part(array, at, count))
  end
  return (read_part(array, int32_vector(position(array, 1, key)), 1))
end

function slow.handle_set(handle, key, value)
  local array = handle.array
  check(array, handle.generation, true)
  if type(key) == "table" then
    local at, count, has_range = positions_of(array, key)
    if has_range and array.sparse ~= 0 then return range.fill(array, key, value) end
    if has_range then return assign(range.view(array, key), value) end
    return assign_part(array, at, count, value)
  elseif type(key) == "string" then
    errors.raise("ARR", "arrays have no field '%s' to assign", key)
  end
  assign_part(array, int32_vector(position(array, 1, key)), 1, value)
end

-- Whether a subscript of a row is a table that names no element of it: a range, or a mistake.
local function is_range(key)
  return type(key) == "table" and (#key ~= 1 or type(key[1]) == "table")
end

function slow.row_get(row, key)
  if type(key) == "string" then
    local method = M.row_methods[key] or M.methods[key]
    return method or unknown_method(key)
  end
  local array = row.array
  if is_range(key) then return M.to_handle(row, true)[key] end
  check(array, row.generation)
  return (to_number(row.elements[M.row_position(row, key) * tonumber(row.stride)]))
end

function slow.row_set(row, key, value)
  local array = row.array
  check(array, row.generation, true)
  if type(key) == "string" then errors.raise("ARR", "rows have no field '%s' to assign", key) end
  if is_range(key) then
    M.to_handle(row, true)[key] = value
    return
  end
  valid.check_writable(array)
  local i = M.row_position(row, key)
  row.elements[i * tonumber(row.stride)] = valid.storable(array, value)
end

--- Checks a subscript of a row and returns it 0-based.
function M.row_position(row, key)
  local array = row.array
  if type(key) == "table" and #key == 1 then key = key[1] end
  return position(array, array.dim_count, key)
end

-- Whether a table of subscripts names an element or part of a slice: as many as it has dimensions
-- at most, and none a range.
local function goes_deeper(slice, keys)
  local count = #keys
  for k = 1, count do
    if type(keys[k]) == "table" then return false end
  end
  return count > 0 and slice.depth + count <= slice.array.dim_count
end

-- The positions of a slice with one more subscript, or those in a table.
local function deeper(slice, key)
  local array, depth = slice.array, slice.depth
  local at, positions = int32_vector(), element.positions(slice)
  for d = 0, depth - 1 do at[d] = positions[d] end
  if type(key) ~= "table" then
    at[depth] = position(array, depth + 1, key)
    return array, at, depth + 1
  end
  for k = 1, #key do at[depth + k - 1] = position(array, depth + k, key[k]) end
  return array, at, depth + #key
end

function slow.slice_get(slice, key)
  if type(key) == "string" then
    return M.slice_methods[key] or M.methods[key] or unknown_method(key)
  end
  check(slice.array, slice.generation, true)
  if type(key) == "table" and not goes_deeper(slice, key) then
    return M.to_handle(slice, true)[key]
  end
  return (read_part(deeper(slice, key)))
end

function slow.slice_set(slice, key, value)
  check(slice.array, slice.generation, true)
  if type(key) == "table" and not goes_deeper(slice, key) then
    M.to_handle(slice, true)[key] = value
    return
  end
  local array, at, depth = deeper(slice, key)
  assign_part(array, at, depth, value)
end

--- Methods that rows and slices do in their own way.
M.row_methods = {}
M.slice_methods = {}

return M
