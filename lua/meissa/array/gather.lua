-- SPDX-License-Identifier: MIT
--
-- Gathering what users' functions return, on a worker, and putting it together as an array.
--
-- A function's call gives nothing (or nil): no element; one value: an element; whole numbers and
-- then a value: an entry with these subscripts. A bunch is what some calls gave, in a form that
-- travels cheaply: {count =, width = values of a call, columns = {...}, at = place of the first
-- call that gave something}. A column is a string with the doubles, if it has numbers alone, or a
-- list.
-- @module meissa.array.gather

local ffi = require "ffi"
local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local objects = require "meissa.array.objects"

local floor = math.floor
local doubles_t, doubles_pointer = ffi.typeof("double[?]"), ffi.typeof("const double *")

local M = {}

local Bunch = {}
Bunch.__index = Bunch

--- A new, empty bunch.
-- @func refuse refuse(place, format, ...) raises an error about the call at a place
-- @number[opt] rank how many subscripts an entry has; nil: as the first call shows
-- @bool[opt] flatten calls give lists of elements (with `rank`: of lists {subscripts..., value})
function M.bunch(refuse, rank, flatten)
  return setmetatable({ count = 0, width = rank and rank + 1, columns = {}, refuse = refuse,
    rank = rank, flatten = flatten }, Bunch)
end

-- Checks one element or entry, and begins the columns with the first one.
function Bunch:begin(place, width, value)
  if not self.at then
    self.at = place
    if not self.width then self.width = width end
    for c = 1, self.width do self.columns[c] = {} end
  end
  if width ~= self.width then
    self.refuse(place, "%d values where %d were expected", width, self.width)
  end
  if value == nil then self.refuse(place, "the last value is nil") end
end

local function is_subscript(value)
  return type(value) == "number" and value >= 1 and value < 2 ^ 31 and floor(value) == value
end

function Bunch:check_subscript(place, d, value)
  if is_subscript(value) then return value end
  self.refuse(place, "subscript %d is %s, not a whole number from 1", d, tostring(value))
end

-- Adds an entry of more than three values.
function Bunch:wide_entry(place, width, ...)
  local values, columns, n = { ... }, self.columns, self.count + 1
  self:begin(place, width, values[width])
  for d = 1, width - 1 do columns[d][n] = self:check_subscript(place, d, values[d]) end
  columns[width][n] = values[width]
  self.count = n
end

-- Adds an element or entry; up to three values go without a table.
function Bunch:entry(place, width, a, b, c, ...)
  if width > 3 then return self:wide_entry(place, width, a, b, c, ...) end
  local columns, n = self.columns, self.count + 1
  if width == 1 then
    self:begin(place, 1, a)
    columns[1][n] = a
  elseif width == 2 then
    self:begin(place, 2, b)
    columns[1][n], columns[2][n] = self:check_subscript(place, 1, a), b
  else
    self:begin(place, 3, c)
    columns[1][n] = self:check_subscript(place, 1, a)
    columns[2][n] = self:check_subscript(place, 2, b)
    columns[3][n] = c
  end
  self.count = n
end

function Bunch:list(place, list)
  if type(list) ~= "table" then
    self.refuse(place, "flatten = true expects a list, not a %s", type(list))
  end
  for _, each in ipairs(list) do
    if not self.rank then
      self:entry(place, 1, each)
    elseif type(each) ~= "table" then
      self.refuse(place, "a %s where {subscripts..., value} was expected", type(each))
    else
      self:entry(place, #each, unpack(each))
    end
  end
end

--- Takes what a call gave.
-- @number place which call, for messages
function Bunch:take(place, ...)
  local width = select("#", ...)
  if width == 0 or width == 1 and (...) == nil then return end
  if self.flatten then
    if width > 1 then self.refuse(place, "%d values where one list was expected", width) end
    return self:list(place, (...))
  end
  self:entry(place, width, ...)
end

-- A column as a string of doubles, or the list that it is.
local function packed(column, count)
  for k = 1, count do
    if type(column[k]) ~= "number" then return column end
  end
  local numbers = doubles_t(count)
  for k = 1, count do numbers[k - 1] = column[k] end
  return ffi.string(numbers, 8 * count)
end

--- The bunch as a plain table.
function Bunch:pack()
  local columns = {}
  for c = 1, #self.columns do columns[c] = packed(self.columns[c], self.count) end
  return { count = self.count, width = self.width, at = self.at, columns = columns }
end

-- Calls fn(pointer, first, count) for the parts of a column of numbers; false if there are others.
local function each_part(bunches, c, fn)
  local first = 0
  for _, bunch in ipairs(bunches) do
    if bunch.count > 0 then
      local column = bunch.columns[c]
      if type(column) ~= "string" then return false end
      if fn then fn(ffi.cast(doubles_pointer, column), first, bunch.count) end
      first = first + bunch.count
    end
  end
  return true
end

local function total(bunches)
  local count = 0
  for _, bunch in ipairs(bunches) do count = count + bunch.count end
  return count
end

-- The elements as an array of objects.
local function object_vector(bunches, count)
  local items, n = {}, 0
  for _, bunch in ipairs(bunches) do
    local column = bunch.columns[1]
    local numbers = type(column) == "string" and ffi.cast(doubles_pointer, column)
    for k = 1, bunch.count do
      items[n + k] = objects.check_value(numbers and numbers[k - 1] or column[k])
    end
    n = n + bunch.count
  end
  return objects.new({ count }, items)
end

-- Copies a column of numbers into elements of an array (an ms_array) of this type.
local function fill_column(bunches, c, raw, data, to_elements)
  each_part(bunches, c, function(numbers, first, count)
    for k = 0, count - 1 do data[first + k] = to_elements(raw, numbers[k]) end
  end)
end

local function as_it_is(_, value) return value end
local function zero_based(_, value) return value - 1 end

local function to_elements_of(type_name)
  if type_name == "float" or type_name == "double" then return as_it_is end
  return require("meissa.array.valid").storable
end

local function vector(bunches, count, type_name)
  if type_name == "object" or not each_part(bunches, 1) then
    if type_name ~= nil and type_name ~= "object" then
      errors.raise("ARR", "expected numbers for an array of type %s, found other values", type_name)
    end
    return object_vector(bunches, count)
  end
  local A = array.zeros({ count }, { type = type_name })
  local raw = array.core(A)
  fill_column(bunches, 1, raw, ffi.cast(c_api.pointer_ctypes[raw.type], raw.data),
    to_elements_of(A:type()))
  return A
end

-- Extents that hold all subscripts.
local function extents_of(bunches, rank)
  local extents = {}
  for d = 1, rank do
    local most = 0
    each_part(bunches, d, function(numbers, _, count)
      for k = 0, count - 1 do
        if numbers[k] > most then most = numbers[k] end
      end
    end)
    extents[d] = most
  end
  return extents
end

local function entries(bunches, count, rank, extents, type_name)
  if not each_part(bunches, rank + 1) then
    errors.raise("ARR", "the values of a sparse array are numbers; other values were returned")
  end
  local least = extents_of(bunches, rank)
  for d = 1, extents and rank or 0 do
    if least[d] > extents[d] then
      errors.raise("ARR", "subscript %d of dimension %d is outside of the extent %d", least[d], d,
        extents[d])
    end
  end
  local S = array.empty(extents or least, count, { type = type_name })
  local raw = array.core(S)
  for d = 1, rank do fill_column(bunches, d, raw, raw.coords[d - 1], zero_based) end
  fill_column(bunches, rank + 1, raw, ffi.cast(c_api.pointer_ctypes[raw.type], raw.data),
    to_elements_of(S:type()))
  return S
end

--- The array that bunches make together: a vector of numbers or objects, or a sparse array.
-- @tab bunches packed, in their order
-- @tab about `type`, `rank` and `extents` as the user wants them, or nil
-- @func refuse refuse(bunch number, place, format, ...) raises an error about a call
function M.array(bunches, about, refuse)
  local width, from = about.rank and about.rank + 1, nil
  for b, bunch in ipairs(bunches) do
    if bunch.count > 0 then
      width, from = width or bunch.width, from or b
      if bunch.width ~= width then
        refuse(b, bunch.at, "%d values where %d were expected", bunch.width, width)
      end
    end
  end
  local count = total(bunches)
  if not width or width == 1 then return vector(bunches, count, about.type) end
  return entries(bunches, count, width - 1, about.extents, about.type)
end

return M
