-- SPDX-License-Identifier: MIT
--- Run-time helpers of the Lua engine's chunks: checks on the way to an element, strict arithmetic,
-- row builtins. The fast paths are one comparison each once compiled; what fails goes to the
-- arrays' own face, so the errors are the same as outside a loop.
-- @module meissa.kernel.helpers
local new_table = require "table.new"
local errors = require "meissa.base.errors"
local known = require "meissa.capture.known"
local random = require "meissa.kernel.random"
local strict = require "meissa.base.strict"
local valid = require "meissa.array.valid"
local tables = require "meissa.base.tables"

local M = {}

local floor, type, tonumber = math.floor, type, tonumber

-- object(capture) of the kernel that is running: gives the array as an object.
local running

-- Tables by capture that the next block goes on with, nil if none ever does; whether one of them
-- has got a key now that is no number, string or boolean.
local going_on, has_others

--- Says whose arrays failing checks are about, and what tables the next block goes on with.
-- @param object function from a capture's number to its array object
-- @tab[opt] kept by capture, where blocks may go on with tables
function M.enter(object, kept)
  running, going_on, has_others = object, kept, false
end

--- Whether the block has put a key into a table that it may have gone on with that travels only
-- with the rest of the block's results, or not at all: a table or a function, say.
function M.has_other_keys()
  return has_others
end

-- Calls fn(...); an error is placed on `line`, if that is known to be another than the caller's.
local function on_line(line, fn, ...)
  if not line then return fn(...) end
  local ok, result = pcall(fn, ...)
  if ok then return result end
  if errors.is(result) then result.line = line end
  error(result, 0)
end

local function bad_subscript(at, dim, key, line)
  if type(key) == "table" and #key == 1 and type(key[1]) == "number" then key = key[1] end
  return on_line(line, valid.position, running(at).array, dim, key) + 1
end

local function bad_value(at, value, line)
  return on_line(line, valid.storable, running(at).array, value)
end

--- A subscript that lies in its dimension.
-- @param key the subscript
-- @number extent of the dimension
-- @number dim which, from 1
-- @number at capture of the array
-- @number[opt] line that an error names
function M.check(key, extent, dim, at, line)
  if type(key) == "number" and key >= 1 and key <= extent and floor(key) == key then return key end
  local position = bad_subscript(at, dim, key, line)
  return position
end

local check = M.check

--- The offset of an element by two subscripts that are checked once both are evaluated.
-- @number at capture of the array
-- @number dim the first of its dimensions
-- @param i subscript @param k subscript
-- @number m extent @number s stride of i's dimension
-- @number n extent @number t stride of k's dimension
function M.pair(at, dim, i, k, m, s, n, t)
  return check(i, m, dim, at) * s + check(k, n, dim + 1, at) * t
end

--- The same of three.
function M.triple(at, dim, i, j, k, l, r, m, s, n, t)
  return check(i, l, dim, at) * r + check(j, m, dim + 1, at) * s + check(k, n, dim + 2, at) * t
end

--- The array of capture `at`, or the first of its parts with so many subscripts.
function M.part(at, subscripts)
  local part = running(at)
  for _ = 1, subscripts do part = part[1] end
  return part
end

--- Refuses a subscript of a part with so many elements in a line.
-- @param key the subscript @number extent of the part @number at capture of the array
function M.place(key, extent, at)
  local part = {dim_count = 1, dims = {[0] = extent}, type = running(at).array.type}
  valid.position(part, 1, key)
end

--- A value that a float or double array can store.
function M.number(value, at, line)
  if type(value) == "number" then return value end
  local stored = bad_value(at, value, line)
  return stored
end

--- A value that an int32 array can store.
function M.int32(value, at, line)
  if type(value) == "number" and value >= -0x80000000 and value <= 0x7fffffff
    and floor(value) == value then
    return value
  end
  local stored = bad_value(at, value, line)
  return stored
end

--- A value that an int64 array can store.
function M.int64(value, at, line)
  if type(value) == "number" and value >= -2 ^ 53 and value <= 2 ^ 53 and floor(value) == value then
    return value
  end
  local stored = bad_value(at, value, line)
  return stored
end

--- An int64 element as a Lua number.
function M.wide(value)
  if value <= 9007199254740992LL and value >= -9007199254740992LL then return tonumber(value) end
  local number = valid.to_number(value)
  return number
end

local rshift = bit.rshift

--- Marks an element that is about to be stored into (csrc/array/touched.h).
-- @param touched the marks @number at the element, from 0
-- @treturn number at
function M.touch(touched, at)
  touched[rshift(at, 6)] = 1
  return at
end

local touch = M.touch

--- The same of `count` elements from there on.
function M.touch_row(touched, at, count)
  for each = at - at % 64, at + count - 1, 64 do touch(touched, each) end
  return at
end

M.pow = strict.pow

--- Says which iteration begins, where the body may draw random numbers.
M.at = random.at

-- For the bounds of loops, which are whole numbers and never -0.
M.floor, M.ceil, M.greater, M.less = math.floor, math.ceil, math.max, math.min

--- Marks a private scalar that no iteration of the block has assigned.
M.none = setmetatable({}, { __tostring = function() return "none" end })

-- What a block has assigned to each element of a table: {content =, gone =}; an element that is
-- assigned nil goes to `gone`.
local parts = setmetatable({}, { __mode = "k" })

local slice_meta = {
  __newindex = function(slice, key, value)
    local part = parts[slice]
    part.content[key], part.gone[key] = value, value == nil or nil
  end,
}

--- Stands in a block for a table that the body only assigns elements of. It stays empty itself, so
-- that every assignment is seen.
function M.slice()
  local slice = setmetatable({}, slice_meta)
  parts[slice] = { content = {}, gone = {} }
  return slice
end

--- What was assigned to a slice: its elements by key; a list of keys that were assigned nil.
function M.sliced(slice)
  local part, gone = parts[slice], {}
  for key in tables.each(part.gone) do gone[#gone + 1] = key end
  return part.content, gone
end

-- Keys that a table has room for at most when a block begins: to grow to so many takes as long as
-- to put them in.
local MOST_ROOM = 1024

-- Looks at the keys that come into a table, once each.
local keyed_meta = {
  __newindex = function(part, key, value)
    if key == nil then error("table index is nil", 2) end
    if key ~= key then error("table index is NaN", 2) end
    if not tables.PLAIN[type(key)] then has_others = true end
    rawset(part, key, value)
  end,
}

--- A table that will have keys: the one of capture `at` that blocks before have left, or one with
-- room for as many as there are indices from one to the other. Where blocks may go on with it, it
-- has a metatable.
function M.keyed(first, last, at)
  if going_on and going_on[at] then return going_on[at] end
  local part = new_table(0, math.min(math.abs(last - first) + 1, MOST_ROOM))
  return going_on and setmetatable(part, keyed_meta) or part
end

-- A loop in a body whose text is a kernel's calls them: they read what they are given.
for _, name in ipairs {"check", "pair", "triple", "number", "int32", "int64", "wide"} do
  known.register(M[name], "kernel." .. name)
end
for _, library in ipairs {"math", "bit"} do
  for name, fn in tables.each(strict[library]) do
    if type(fn) == "function" then known.register(fn, library .. "." .. name) end
  end
end

return M
