-- SPDX-License-Identifier: MIT
--
-- Arrays of objects: elements are nil, booleans, numbers, strings, and tables of these without
-- metatables.
--
-- Such an array is a Lua table with this module as its metatable, so that a loop which captures it
-- sends it as it sends any table. It lives in one process: a loop's workers get copies. A vector
-- has its elements in itself, so that `#`, ipairs and table functions work; an array of several
-- dimensions has them row-major in `items`, which its rows share. Other fields: `extents`; of rows
-- `first`, the number of elements before theirs; `labels` of dimension 1; `freed`. What is assigned
-- where nothing was is checked; LuaJIT does not tell of other assignments to a vector.
-- @module meissa.array.objects

local ffi = require "ffi"
local errors = require "meissa.base.errors"
local tables = require "meissa.base.tables"

local floor = math.floor

-- The metatable outlives a reload of the module.
local registry = debug.getregistry()
if registry["meissa.array.objects"] then return registry["meissa.array.objects"] end
local M = { methods = {} }
registry["meissa.array.objects"] = M

local int64_t, uint64_t = ffi.typeof("int64_t"), ffi.typeof("uint64_t")

--- Whether a value is an array of objects, or a row of one.
function M.is(value)
  return getmetatable(value) == M
end

local function count_of(extents)
  local count = 1
  for d = 1, #extents do count = count * extents[d] end
  return count
end

--- The table that has the elements of an array or row, and the number of those before its first.
function M.content(O)
  return rawget(O, "items") or O, rawget(O, "first") or 0
end

local content = M.content

--- A new array with nil everywhere.
-- @tab extents checked extents
-- @tab[opt] items its elements by row-major number, checked: a table that becomes the array's
function M.new(extents, items)
  items = items or {}
  if #extents > 1 then items = { items = items } end
  items.extents = extents
  return setmetatable(items, M)
end

-- Dimensions `left` of the last ones, as an array that shares the elements.
local function row_of(O, place, left)
  local extents = rawget(O, "extents")
  return setmetatable({ items = content(O), first = place,
    extents = { unpack(extents, #extents - left + 1) } }, M)
end

--- An array of objects with nil everywhere: objects(dims), a table or plain integers.
-- @usage local docs = meissa.objects(1000)
-- docs[1] = {title = "one", words = {"a", "b"}}
function M.make(...)
  local extents = require("meissa.array.make").read_shape("objects", {}, ...)
  return M.new({ unpack(extents) })
end

--- How messages name it.
function M.name_of(O)
  return string.format("DistArray<object>[%s]", table.concat(rawget(O, "extents"), "x"))
end

local plain = { ["nil"] = true, boolean = true, number = true, string = true }

-- Why a value cannot be an element, or nil. `inside` are the tables that lead to it.
local function trouble_of(value, inside)
  if plain[type(value)] then return nil end
  if type(value) == "cdata" and (ffi.istype(int64_t, value) or ffi.istype(uint64_t, value)) then
    return "a 64-bit integer (a cdata, of which tonumber makes a number)"
  end
  if type(value) ~= "table" then return "a " .. type(value) end
  if getmetatable(value) ~= nil then return "a table with a metatable" end
  if inside[value] then return "a table that contains itself" end
  inside[value] = true
  for key, item in tables.each(value) do
    local trouble = trouble_of(key, inside) or trouble_of(item, inside)
    if trouble then return trouble end
  end
  inside[value] = nil
end

--- Raises ARR unless a value can be an element.
function M.check_value(value)
  local trouble = trouble_of(value, {})
  if trouble then
    errors.raise("ARR", "cannot store %s in an array of objects: elements are numbers, strings, "
      .. "booleans and plain tables of these", trouble)
  end
  return value
end

local function words_of(key)
  if type(key) == "string" then return "'" .. key .. "'" end
  if type(key) == "number" then return string.format("%.17g", key) end
  return "a " .. type(key)
end

-- Checks the subscript of dimension d and returns it from 0.
local function position(O, d, key)
  local extent = rawget(O, "extents")[d]
  if type(key) ~= "number" or floor(key) ~= key then
    errors.raise("ARR", "subscript %s of dimension %d of %s is not a whole number", words_of(key),
      d, M.name_of(O))
  end
  if key < 1 or key > extent then
    errors.raise("ARR", "subscript %s is outside 1..%d (dimension %d of %s)", words_of(key), extent,
      d, M.name_of(O))
  end
  return key - 1
end

-- The number of the element, or the number before the first one of the row, with these subscripts,
-- and how many dimensions are left.
local function place_of(O, keys)
  local extents = rawget(O, "extents")
  if #keys < 1 or #keys > #extents then
    errors.raise("ARR", "%d subscripts for the %d dimensions of %s", #keys, #extents, M.name_of(O))
  end
  local place = 0
  for d = 1, #keys do place = place * extents[d] + position(O, d, keys[d]) end
  for d = #keys + 1, #extents do place = place * extents[d] end
  return (rawget(O, "first") or 0) + place, #extents - #keys
end

local function check_freed(O)
  if rawget(O, "freed") then errors.raise("ARR", "the array was freed") end
end

local function unknown_method(key)
  local names = {}
  for name in tables.each(M.methods) do names[#names + 1] = name end
  local near = errors.nearest(key, names)
  errors.raise("ARR", "arrays of objects have no field or method '%s'%s", key,
    near and string.format(" (did you mean '%s'?)", near) or "")
end

-- Fields that an array may not have: reading them raw gives nil.
local fields = { items = true, first = true, labels = true, freed = true, encoded = true }

--- O[i], O[{i, j}]: the element, or a row.
function M.__index(O, key)
  if type(key) == "string" then
    if fields[key] then return nil end
    return M.methods[key] or unknown_method(key)
  end
  check_freed(O)
  local place, left = place_of(O, type(key) == "table" and key or { key })
  if left == 0 then return rawget(content(O), place + 1) end
  return row_of(O, place, left)
end

--- O[i] = value, O[{i, j}] = value.
function M.__newindex(O, key, value)
  check_freed(O)
  if type(key) == "string" then
    errors.raise("ARR", "arrays have no field '%s' to assign", key)
  end
  local place, left = place_of(O, type(key) == "table" and key or { key })
  if left > 0 then
    errors.raise("ARR", "a row of an array of objects cannot be assigned; write its elements")
  end
  rawset(content(O), place + 1, M.check_value(value))
end

function M.__tostring(O)
  if rawget(O, "freed") then return "DistArray (freed)" end
  return M.name_of(O) .. " dense"
end

function M.__concat(left, right)
  return tostring(left) .. tostring(right)
end

-- Methods ------------------------------------------------------------------------------------

local methods = M.methods

--- The extent of a dimension, or a table of all.
function methods.size(O, d)
  local extents = rawget(O, "extents")
  if d == nil then return { unpack(extents) } end
  if not extents[d] then
    errors.raise("ARR", "dimension %s is not in 1..%d (%s)", tostring(d), #extents, M.name_of(O))
  end
  return extents[d]
end

--- The number of dimensions.
function methods.dim(O)
  return #rawget(O, "extents")
end

--- The number of elements.
function methods.nnz(O)
  return count_of(rawget(O, "extents"))
end

--- "object"
function methods.type()
  return "object"
end

--- The label of position i of dimension d: what group_by grouped by; i itself without one.
function methods.label(O, d, i)
  methods.size(O, d)
  local at = position(O, d, i) + 1
  local labels = d == 1 and rawget(O, "labels")
  return labels and labels[at] or i
end

--- The position of a label in dimension d, or nil.
function methods.index(O, d, label)
  local extent = methods.size(O, d)
  local labels = d == 1 and rawget(O, "labels")
  if labels then
    for i = 1, extent do
      if labels[i] == label then return i end
    end
  elseif type(label) == "number" and floor(label) == label and label >= 1 and label <= extent then
    return label
  end
end

--- Sets every element to a value (the same table, if it is one).
function methods.fill(O, value)
  check_freed(O)
  M.check_value(value)
  local items, first = content(O)
  for k = first + 1, first + methods.nnz(O) do rawset(items, k, value) end
  return O
end

local function copy_of(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, item in tables.each(value) do copy[copy_of(key)] = copy_of(item) end
  return copy
end

--- Raises ARR unless all elements are what they may be: a vector may have got others unseen.
function M.check(O)
  local items, first = content(O)
  for k = 1, methods.nnz(O) do
    local trouble = trouble_of(rawget(items, first + k), {})
    if trouble then
      errors.raise("ARR", "element %d of %s is %s: elements are numbers, strings, booleans and "
        .. "plain tables of these", k, M.name_of(O), trouble)
    end
  end
end

--- The elements by row-major number from 1, in a table of their own.
function M.elements(O)
  check_freed(O)
  local items, first = content(O)
  local list = {}
  for k = 1, methods.nnz(O) do list[k] = rawget(items, first + k) end
  return list
end

--- A copy with elements of its own, tables included.
function methods.clone(O)
  check_freed(O)
  local copy = M.elements(O)
  for k = 1, methods.nnz(O) do copy[k] = copy_of(copy[k]) end
  local made = M.new({ unpack(rawget(O, "extents")) }, copy)
  rawset(made, "labels", rawget(O, "labels"))
  return made
end

--- Nested tables of the elements.
function methods.totable(O)
  check_freed(O)
  local list = {}
  for i = 1, rawget(O, "extents")[1] do
    local item = O[i]
    list[i] = M.is(item) and item:totable() or item
  end
  return list
end

--- Iterates over the elements, row-major: subscripts, value.
function methods.each(O)
  check_freed(O)
  local extents, items, first = rawget(O, "extents"), content(O)
  local rank, count, place, at = #extents, methods.nnz(O), 0, {}
  return function()
    if place == count then return nil end
    local rest = place
    for d = rank, 1, -1 do
      at[d] = rest % extents[d] + 1
      rest = floor(rest / extents[d])
    end
    place = place + 1
    at[rank + 1] = rawget(items, first + place)
    return unpack(at, 1, rank + 1)
  end
end

--- Gives the elements to the collector; later uses raise ARR.
function methods.free(O)
  local items, first = content(O)
  for k = first + 1, first + methods.nnz(O) do rawset(items, k, nil) end
  rawset(O, "freed", true)
end

return M
