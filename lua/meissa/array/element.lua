-- SPDX-License-Identifier: MIT
--
-- Element access: the C structs that stand for arrays in Lua, and their fast paths.
--
-- A handle owns a reference to an ms_array. A row is what `A[i]` of a matrix gives: it owns
-- nothing, remembers the array's generation, and is refused once the array is gone. Both are small
-- enough for LuaJIT to keep in registers. Their fields cannot be assigned; no method may have the
-- name of a field. A slice is a row of an array with three dimensions or
-- more, or of a sparse one: the leading subscripts. What is not an in-range number goes to `slow`,
-- filled in by the other files. What they give stands in brackets: LuaJIT counts tail calls, of
-- ctypes too, as rounds of a loop that it unrolls, and gives up a loop with 16 of them.
--
-- The structs can get their metatables only once in a lua_State, so they are kept in the registry
-- and a reload of the module finds them.
-- @module meissa.array.element

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"

local floor, type = math.floor, type
local lib = c_api.lib
local registry = debug.getregistry()
if registry["meissa.array"] then return registry["meissa.array"] end

local M = {
  handles = {}, -- ctype of dense handles by element type number
  rows = {}, -- ctype of rows by element type number
  sparse_handle = nil,
  slice = nil,
  slow = {}, -- handle_get, handle_set, row_get, row_set, slice_get, slice_set, show
}
registry["meissa.array"] = M
local slow = M.slow

-- Largest magnitude up to which every integer is a Lua number.
local EXACT = 2 ^ 53

-- What differs between element types: how a number is read and when it may be stored.
local integer_limits = { [2] = { -2 ^ 31, 2 ^ 31 - 1 }, [3] = { -EXACT, EXACT } }

-- The collector may run inside an operation on a row of the array (boxing a number is enough), so
-- the memory is kept until the next array is made, or thousands of others have been found unused.
local function release(handle)
  if handle.array ~= nil then lib.ms_array_release_later(handle.array) end
end

local function len(handle)
  return handle.extent
end

-- Arrays have methods where numbers have operators.
local function no_operator()
  errors.raise("ARR", "arrays have no arithmetic operators; use methods, which work in place: "
    .. "A:add(B), A:scal(2), A:cmul(B), A:axpy(a, B)")
end

local function joined(left, right)
  return tostring(left) .. tostring(right)
end

-- Gives a ctype its metatable, with what is the same for all arrays and rows.
local function make_type(ctype, methods)
  for _, name in ipairs { "__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm" } do
    methods[name] = no_operator
  end
  methods.__concat = joined
  ffi.metatype(ctype, methods)
end

local function define(number)
  -- Written out, not with "$": busted's ffi.typeof knows types by their text.
  local element = string.match(tostring(c_api.element_ctypes[number]), "ctype<(.*)>")
  local row_t = ffi.typeof(string.format([[struct {
    ms_array *const array; %s *const elements;
    const int generation, extent; const long long stride;
  }]], element))
  local handle_t = ffi.typeof(string.format([[struct {
    ms_array *const array; %s *const elements;
    const int generation, extent, rank, extent2; const long long stride, stride2;
  }]], element))
  local wide = number == 3
  local limits = integer_limits[number]
  local least, most = limits and limits[1], limits and limits[2]

  local function row_get(row, key)
    if type(key) == "number" then
      local i = key - 1
      if row.array.readable == row.generation and i >= 0 and i < row.extent
        and floor(key) == key then
        local value = row.stride == 1 and row.elements[i] or row.elements[i * row.stride]
        if not wide then return value end
        if value <= 9007199254740992LL and value >= -9007199254740992LL then
          return (tonumber(value))
        end
      end
    end
    return (slow.row_get(row, key))
  end

  local function row_set(row, key, value)
    if type(key) == "number" and type(value) == "number" then
      local i = key - 1
      if row.array.writable == row.generation and i >= 0 and i < row.extent
        and floor(key) == key
        and (not limits or value >= least and value <= most and floor(value) == value) then
        if row.stride == 1 then
          row.elements[i] = value
        else
          row.elements[i * row.stride] = value
        end
        return
      end
    end
    slow.row_set(row, key, value)
  end

  local function get(handle, key)
    if type(key) == "number" then
      local i = key - 1
      local array = handle.array
      if array.readable == handle.generation and i >= 0 and i < handle.extent
        and floor(key) == key then
        if handle.rank == 2 then
          return (row_t(array, handle.elements + i * handle.stride, handle.generation,
            handle.extent2, handle.stride2))
        elseif handle.rank == 1 then
          local value = handle.stride == 1 and handle.elements[i]
            or handle.elements[i * handle.stride]
          if not wide then return value end
          if value <= 9007199254740992LL and value >= -9007199254740992LL then
            return (tonumber(value))
          end
        else
          return (M.slice(array, handle.generation, handle.extent2, 1, i))
        end
      end
    end
    return (slow.handle_get(handle, key))
  end

  local function set(handle, key, value)
    if type(key) == "number" and type(value) == "number" then
      local i = key - 1
      if handle.rank == 1 and handle.array.writable == handle.generation and i >= 0
        and i < handle.extent and floor(key) == key
        and (not limits or value >= least and value <= most and floor(value) == value) then
        if handle.stride == 1 then
          handle.elements[i] = value
        else
          handle.elements[i * handle.stride] = value
        end
        return
      end
    end
    slow.handle_set(handle, key, value)
  end

  make_type(row_t, { __index = row_get, __newindex = row_set, __len = len,
    __tostring = function(row) return slow.show(row) end })
  make_type(handle_t, { __index = get, __newindex = set, __len = len, __gc = release,
    __tostring = function(handle) return slow.show(handle) end })
  M.rows[number] = row_t
  M.handles[number] = handle_t
end

for number = 0, 3 do define(number) end

-- The positions are fields of their own: LuaJIT compiles no initializer of an array in a struct.
M.slice = ffi.typeof([[struct {
  ms_array *const array; const int generation, extent, depth;
  const int at0, at1, at2, at3, at4, at5, at6, at7;
}]])
local AT = ffi.offsetof(M.slice, "at0")
local bytes_t, positions_t = ffi.typeof("const char *"), ffi.typeof("const int *")

--- The `depth` leading positions (0-based) of a slice: a pointer, good while the slice is held.
function M.positions(slice)
  return ffi.cast(positions_t, ffi.cast(bytes_t, slice) + AT)
end

-- A row of a slice of a dense array. Without a loop: LuaJIT compiles none that is so short.
-- Positions that a slice does not have are 0.
local function slice_get(slice, key)
  local array, depth = slice.array, slice.depth
  if type(key) == "number" and depth == array.dim_count - 2 and array.sparse == 0 then
    local i, s = key - 1, array.strides
    if array.generation == slice.generation and i >= 0 and i < slice.extent and
       floor(key) == key then
      local offset = i * tonumber(s[depth]) + slice.at0 * tonumber(s[0])
      if depth > 1 then offset = offset + slice.at1 * tonumber(s[1]) end
      if depth > 2 then
        offset = offset + slice.at2 * tonumber(s[2]) + slice.at3 * tonumber(s[3]) +
          slice.at4 * tonumber(s[4]) + slice.at5 * tonumber(s[5]) + slice.at6 * tonumber(s[6])
      end
      return (M.rows[array.type](array, c_api.elements(array) + offset, array.generation,
        array.dims[depth + 1], s[depth + 1]))
    end
  end
  return (slow.slice_get(slice, key))
end

make_type(M.slice, {
  __index = slice_get,
  __newindex = function(slice, key, value) slow.slice_set(slice, key, value) end,
  __len = len,
  __tostring = function(slice) return slow.show(slice) end,
})

M.sparse_handle = ffi.typeof([[struct {
  ms_array *const array; const int generation, extent, rank, extent2;
}]])
make_type(M.sparse_handle, {
  __index = function(handle, key)
    if type(key) == "number" and handle.rank > 1 then
      local i = key - 1
      if handle.array.generation == handle.generation and i >= 0 and i < handle.extent
        and floor(key) == key then
        return (M.slice(handle.array, handle.generation, handle.extent2, 1, i))
      end
    end
    return (slow.handle_get(handle, key))
  end,
  __newindex = function(handle, key, value) slow.handle_set(handle, key, value) end,
  __len = len,
  __gc = release,
  __tostring = function(handle) return slow.show(handle) end,
})

--- Wraps an array of the core; its reference becomes the handle's.
function M.wrap(array)
  local extent = array.dims[0]
  local more = array.dim_count > 1
  if array.sparse ~= 0 then
    return M.sparse_handle(array, array.generation, extent, array.dim_count,
      more and array.dims[1] or 0)
  end
  return M.handles[array.type](array, ffi.cast(c_api.pointer_ctypes[array.type], array.data),
    array.generation, extent, array.dim_count, more and array.dims[1] or 0, array.strides[0],
    more and array.strides[1] or 0)
end

local istype = ffi.istype

local function kind_of(value)
  if istype(M.sparse_handle, value) then return "handle" end
  if istype(M.slice, value) then return "slice" end
  for number = 0, 3 do
    if istype(M.handles[number], value) then return "handle" end
    if istype(M.rows[number], value) then return "row" end
  end
end

local fields = ffi.typeof("void **")

--- Says that the elements of a dense array over memory of somebody else are elsewhere now.
function M.move(handle, pointer)
  handle.array.data = pointer
  ffi.cast(fields, handle)[1] = pointer -- `elements`, the second field
end

--- What a value is: "handle", "row", "slice", or nil. ffi.istype takes the types themselves for
-- values of theirs; they have a number.
function M.kind(value)
  local kind = type(value) == "cdata" and kind_of(value)
  if kind and not tonumber(value) then return kind end
end

return M
