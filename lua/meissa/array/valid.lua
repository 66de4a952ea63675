-- SPDX-License-Identifier: MIT
--
-- Validity: whether arrays may be read and written, which subscripts they have, which values they
-- take; and the errors when not.
-- @module meissa.array.valid

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local tables = require "meissa.base.tables"

local floor = math.floor

local M = {}

--- "DistArray<double>[3x4]": how messages name an array.
function M.name_of(array)
  local dims = {}
  for d = 0, array.dim_count - 1 do dims[d + 1] = tostring(tonumber(array.dims[d])) end
  return string.format("DistArray<%s>[%s]", c_api.type_names[array.type] or "?", table.concat(dims,
    "x"))
end

--- Raises when an array (an ms_array) was freed or its contents are lost.
-- @param generation what the handle or row remembers
-- @bool writing lost contents may be written
function M.check(array, generation, writing)
  if array.id == 0 or array.generation ~= generation then
    errors.raise("ARR", "the array was freed (or collected while only a row of it was kept)")
  end
  if not writing and array.readable == 0 then
    local why = array.invalid ~= nil and ffi.string(array.invalid) or "a loop failed"
    errors.raise("ARR", "the array's contents are lost: %s; overwrite all of it first, " ..
                 "by fill or copy", why)
  end
end

-- Whether a value is a handle, a row or a slice of an array (an ms_array).
local function is_of(value, array)
  if type(value) ~= "cdata" then return false end
  local ok, same = pcall(function() return value.array == array end)
  return ok and same
end

-- The name of a variable, or of a field of one, whose value is of an array; nil: it is not.
local function name_within(name, value, array)
  if is_of(value, array) then return name end
  if type(value) ~= "table" then return nil end
  for key, each in tables.each(value) do
    if type(key) == "string" and is_of(each, array) then return name .. "." .. key end
  end
end

-- What a running function calls an array, by its variables.
local function name_at(level, array)
  local n, found = 1, nil
  while true do
    local name, value = debug.getlocal(level + 1, n)
    if not name then break end
    if string.sub(name, 1, 1) ~= "(" then found = name_within(name, value, array) or found end
    n = n + 1
  end
  local fn = debug.getinfo(level + 1, "f").func
  for k = 1, found and 0 or debug.getinfo(fn, "u").nups do
    local name, value = debug.getupvalue(fn, k)
    found = found or name ~= "" and name_within(name, value, array)
  end
  return found
end

--- What the user calls an array (an ms_array): "'A'"; "the array" where no variable of the first
-- function on the stack that is the user's has it.
function M.called(array)
  for level = 2, 200 do
    local info = debug.getinfo(level, "Sl")
    if not info then break end
    local name = info.currentline > 0 and not errors.is_own(string.sub(info.source, 2)) and
      (name_at(level, array) or "")
    if name then return name ~= "" and string.format("'%s'", name) or "the array" end
  end
  return "the array"
end

--- Raises when the elements of an array (an ms_array) may not be written.
-- @string[opt] where names the method
function M.check_writable(array, where)
  if array.writable == 0 and array.id ~= 0 then
    errors.raise("ARR", "%s%s %s", where and where .. ": " or "", M.called(array),
                 ffi.string(c_api.lib.ms_array_held_words(array)))
  end
end

--- How messages name a subscript or value.
function M.describe(key)
  if type(key) == "string" then return "'" .. key .. "'" end
  if type(key) == "number" then return (string.gsub(string.format("%.17g", key), "^(-?%d+)$",
    "%1")) end
  return "a " .. type(key)
end

--- Checks one subscript of dimension d (1-based) and returns it 0-based.
function M.position(array, d, key)
  if type(key) ~= "number" then
    errors.raise("ARR", "subscript %s of dimension %d of %s is not a number", M.describe(key), d,
      M.name_of(array))
  end
  local extent = tonumber(array.dims[d - 1])
  if floor(key) ~= key then
    errors.raise("ARR", "subscript %s of dimension %d of %s is not a whole number", M.describe(key),
      d, M.name_of(array))
  end
  if key < 1 or key > extent then
    errors.raise("ARR", "subscript %s is outside 1..%d (dimension %d of %s)", M.describe(key),
      extent, d, M.name_of(array))
  end
  return key - 1
end

--- A dimension of an array, checked and 0-based.
function M.dimension(array, d)
  if type(d) ~= "number" or floor(d) ~= d or d < 1 or d > array.dim_count then
    errors.raise("ARR", "dimension %s is not in 1..%d (%s)", tostring(d), array.dim_count,
      M.name_of(array))
  end
  return d - 1
end

--- An element as a Lua number; raises for int64 elements that are none.
function M.to_number(value)
  if type(value) == "number" then return value end
  if value > 9007199254740992LL or value < -9007199254740992LL then
    errors.raise("ARR", "the element %s is beyond 2^53 and no exact Lua number",
      (string.gsub(tostring(value), "LL$", "")))
  end
  return tonumber(value)
end

-- How messages name a value that is no number.
local function named(value)
  if type(value) ~= "cdata" then return "a " .. type(value) end
  local kind = require("meissa.array.element").kind(value)
  return kind == "handle" and "an array" or kind and "a " .. kind .. " of an array" or "a cdata"
end

--- Checks that a value may be stored in an array of this element type, and returns it.
function M.storable(array, value)
  local kind = c_api.type_names[array.type]
  if array.type == 3 and type(value) == "cdata" and ffi.istype("int64_t", value) then
    return value
  end
  if type(value) ~= "number" then
    errors.raise("ARR", "cannot store %s in an array of type %s", named(value), kind)
  end
  if array.type < 2 then return value end
  local limit = array.type == 2 and 2 ^ 31 or 2 ^ 53
  if floor(value) ~= value or value < -limit or value > limit
    or (array.type == 2 and value == limit) then
    errors.raise("ARR", "cannot store %s in an array of type %s", M.describe(value), kind)
  end
  return value
end

return M
