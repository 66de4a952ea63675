-- SPDX-License-Identifier: MIT
--- Strict arithmetic: the operations on which LuaJIT's interpreter and compiler disagree (`^` with
-- small integer exponents, `math.max` and `math.min` with nan and signed zeros, `math.ceil` with
-- the sign of zero, `bit` on sums that are no whole numbers), with one definition that every engine
-- and the driver share.
--
-- `max(a, b)` is a if a > b, else b, as LuaJIT's interpreter has it: of equal numbers the later
-- one, and nan only if the later argument is nan.
-- @module meissa.base.strict
local builtin = require "meissa.base.builtin"
local c_core = require "meissa.base.c_core"
local tables = require "meissa.base.tables"

local each = tables.each

local M = {}

local lib = c_core.lib

local type, select, tonumber = type, select, tonumber
local next, pairs = next, pairs -- which what is here may stand for in the program

-- A number, or a string that is one.
local function operand(value)
  return (type(value) == "number" or type(value) == "string") and tonumber(value) or nil
end

-- Operands that are not both numbers: strings are converted and metamethods called, as Lua does.
-- `level` is the caller's caller: where the operator stands.
local function power_of_others(x, y)
  if type(x) == "cdata" or type(y) == "cdata" then return x ^ y end
  local a, b = operand(x), operand(y)
  local mx, my = debug.getmetatable(x), debug.getmetatable(y)
  local event = not (a and b) and (type(mx) == "table" and rawget(mx, "__pow")
    or type(my) == "table" and rawget(my, "__pow"))
  if event then return event(x, y) end
  if not a or not b then
    local wrong = x
    if a then wrong = y end
    error("attempt to perform arithmetic on a " .. type(wrong) .. " value", 3)
  end
  return b == 2 and a * a or lib.ms_strict_pow(a, b)
end

--- x to the power of y: x * x for y = 2, else the C library's pow.
-- @param x base
-- @param y exponent
-- @return a number (or what a `__pow` metamethod returns)
function M.pow(x, y)
  if type(x) == "number" and type(y) == "number" then
    if y == 2 then return x * x end
    return lib.ms_strict_pow(x, y)
  end
  local result = power_of_others(x, y)
  return result
end

-- An argument as a number; `level` is where an error is placed, seen from here.
local function argument(value, at, name, level)
  local number = tonumber(value)
  if type(value) ~= "number" and type(value) ~= "string" or not number then
    local got = type(value)
    error(string.format("bad argument #%d to '%s' (number expected, got %s)", at, name, got), level)
  end
  return number
end

-- Refuses a call without arguments, as Lua does.
local function some(count, name)
  if count > 0 then return end
  error(string.format("bad argument #1 to '%s' (number expected, got no value)", name), 4)
end

local function fold(name, wins, ...)
  some(select("#", ...), name)
  local best = argument((...), 1, name, 4)
  for at = 2, select("#", ...) do
    local value = argument(select(at, ...), at, name, 4)
    if not wins(best, value) then best = value end
  end
  return best
end

local function greater(a, b) return a > b end
local function less(a, b) return a < b end

--- The greatest of its arguments.
-- @param ... numbers, at least one
function M.max(...)
  if select("#", ...) == 2 then
    local a, b = ...
    if type(a) == "number" and type(b) == "number" then
      if a > b then return a end
      return b
    end
  end
  local best = fold("max", greater, ...)
  return best
end

--- The least of its arguments.
-- @param ... numbers, at least one
function M.min(...)
  if select("#", ...) == 2 then
    local a, b = ...
    if type(a) == "number" and type(b) == "number" then
      if a < b then return a end
      return b
    end
  end
  local best = fold("min", less, ...)
  return best
end

local floor = math.floor

--- The least integer that is not less than x. LuaJIT's interpreter gives 0 for -0.9 where its
-- compiler gives -0; this is -0.
-- @param x a number
function M.ceil(x)
  if type(x) == "number" then return -floor(-x) end
  local number = argument(x, 1, "ceil", 3)
  return -floor(-number)
end

-- LuaJIT's own are text of its own, where their errors would be placed.
local function times(name, factor)
  return function(x)
    if type(x) == "number" then return x * factor end
    local number = argument(x, 1, name, 3)
    return number * factor
  end
end

--- The `math` table as loop bodies see it.
M.math = {}
for name, value in tables.each(math) do M.math[name] = value end
M.math.pow, M.math.max, M.math.min, M.math.ceil = M.pow, M.max, M.min, M.ceil
M.math.deg, M.math.rad = times("deg", 57.29577951308232), times("rad", 0.017453292519943295)

-- LuaJIT compiles bit.tobit(a + b) to an addition of whole numbers, which is another result when a
-- or b is none. A product stands in the way, if its factor is not known to be constant.
local one = 1

--- Says what the factor is: 1. That it can be said makes it no constant.
function M.set_factor(value) one = value end

local function bits_of_one(fn)
  return function(x, ...)
    if type(x) == "number" then return fn(x * one, ...) end
    return fn(x, ...)
  end
end

local function bits_of_two(fn)
  return function(x, y)
    if type(x) == "number" and type(y) == "number" then return fn(x * one, y * one) end
    return fn(x, y)
  end
end

-- Any number of arguments.
local function fold_bits(name, fn, ...)
  local result
  some(select("#", ...), name)
  for at = 1, select("#", ...) do
    local value = select(at, ...)
    if type(value) ~= "cdata" then value = argument(value, at, name, 4) * one end
    if result then result = fn(result, value) else result = fn(value) end
  end
  return result
end

local function bits_of_all(name, fn)
  return function(...)
    local x, y = ...
    if select("#", ...) == 2 and type(x) == "number" and type(y) == "number" then
      return fn(x * one, y * one)
    end
    local result = fold_bits(name, fn, ...)
    return result
  end
end

--- The `bit` table as loop bodies see it.
M.bit = {}
for name, value in tables.each(bit) do M.bit[name] = value end
for _, name in ipairs { "tobit", "bnot", "bswap", "tohex" } do
  M.bit[name] = bits_of_one(bit[name])
end
for _, name in ipairs { "lshift", "rshift", "arshift", "rol", "ror" } do
  M.bit[name] = bits_of_two(bit[name])
end
for _, name in ipairs { "band", "bor", "bxor" } do M.bit[name] = bits_of_all(name, bit[name]) end

local function is_sequence(t)
  local count = #t
  for key in each(t) do
    if type(key) ~= "number" or key < 1 or key > count or key % 1 ~= 0 then return false end
  end
  return true
end

local function step_sequence(t, k)
  local count = #t
  repeat
    k = k + 1
    if k > count then return nil end
  until t[k] ~= nil
  return k, t[k]
end

--- `pairs` in the order of the keys. LuaJIT's own order of string keys differs from process to
-- process, and a result must not depend on which worker formed it.
function M.pairs(t)
  if type(t) ~= "table" then return pairs(t) end
  if is_sequence(t) then return step_sequence, t, 0 end
  local keys = tables.keys(t)
  local k = 0
  return function()
    repeat
      k = k + 1
      if keys[k] == nil then return nil end
    until t[keys[k]] ~= nil
    return keys[k], t[keys[k]]
  end
end

-- Tables that are being gone through by `next`: {first =, keys = in order, place = by key}. The key
-- that came last may have been taken out of its table since.
local walked = setmetatable({}, { __mode = "k" })

local function first_key(t)
  local best
  for key in each(t) do
    if best == nil or tables.before(key, best) then best = key end
  end
  return best
end

local function walk(t, first)
  local keys, place = tables.keys(t), {}
  for k, key in ipairs(keys) do place[key] = k end
  if first ~= nil and not place[first] then place[first] = 0 end
  walked[t] = { keys = keys, place = place }
  return walked[t]
end

--- `next` in the order of the keys, for the same reason. The first call of a walk looks at all
-- keys, the second one sorts them.
function M.next(t, key)
  if type(t) ~= "table" then return next(t, key) end
  if key == nil then
    local first = first_key(t)
    walked[t] = { first = first }
    if first == nil then return nil end
    return first, t[first]
  end
  local known = walked[t] or {}
  if not known.place or not known.place[key] then
    known = walk(t, known.first == key and key or nil)
  end
  local keys, k = known.keys, known.place[key]
  if not k then error("invalid key to 'next'", 2) end
  repeat
    k = k + 1
    if keys[k] == nil then return nil end
  until rawget(t, keys[k]) ~= nil
  return keys[k], t[keys[k]]
end

-- Where they are captured they are what `pairs` and `next` are.
builtin.stand_for(M.pairs, "_G", "pairs")
builtin.stand_for(M.next, "_G", "next")

return M
