-- SPDX-License-Identifier: MIT
--- Whether values are the same to whoever gets copies of them, wherever these were made: functions
-- of one code over equal variables and globals, arrays of equal elements, tables of such.
--
-- What variables share among each other is not looked at. One thread.
-- @module meissa.kernel.same_value

local array = require "meissa.array"
local array_bytes = require "meissa.kernel.array_bytes"
local bytecode_facts = require "meissa.capture.bytecode_facts"
local dumps = require "meissa.capture.dump"
local tables = require "meissa.base.tables"
local tensor = require "meissa.array.tensor"
local interrupt = require "meissa.base.interrupt"

local M = {}

local Comparison = {}
Comparison.__index = Comparison

-- Whether somebody holds an array makes no other of it.
local APART = {apart = true, free = true}

-- Arrays, rows and slices.
function Comparison:arrays(a, b)
  local is_packed = array.is(a) or array.is_handle(a)
  if not is_packed or not (array.is(b) or array.is_handle(b)) then return false end
  local of_a, of_b = array.describe(a), array.describe(b)
  if of_a.type ~= of_b.type or of_a.count ~= of_b.count then return false end
  return self:of(array_bytes.pack({a}, APART), array_bytes.pack({b}, APART))
end

function Comparison:tables(a, b)
  for key, value in tables.each(a) do
    if not self:of(value, rawget(b, key)) then return false end
  end
  for key in tables.each(b) do
    if rawget(a, key) == nil then return false end
  end
  return self:of(debug.getmetatable(a), debug.getmetatable(b))
end

-- The first variable or global in which functions of one code differ, by its name.
function Comparison:difference(a, b)
  for index = 1, math.huge do
    local name, of_a = debug.getupvalue(a, index)
    if not name then break end
    local _, of_b = debug.getupvalue(b, index)
    if not self:of(of_a, of_b) then return name end
  end
  for _, name in ipairs(bytecode_facts.about(a).globals) do
    if not self:of(getfenv(a)[name], getfenv(b)[name]) then return name end
  end
  return nil
end

local function same_code(a, b)
  local ok_a, of_a = interrupt.pcall(string.dump, a, true)
  local ok_b, of_b = interrupt.pcall(string.dump, b, true)
  return ok_a and ok_b and dumps.mean_the_same(of_a, of_b)
end

function Comparison:functions(a, b)
  return same_code(a, b) and self:difference(a, b) == nil
end

--- The same for values.
function Comparison:of(a, b)
  if rawequal(a, b) or a ~= a and b ~= b then return true end
  if type(a) ~= type(b) then return false end
  if array.is_any(a) or array.is_any(b) then return self:arrays(a, b) end
  if tensor.is_object(a) then
    return tensor.is_object(b) and tensor.pack {a} == tensor.pack {b}
  end
  local compare = type(a) == "table" and self.tables or type(a) == "function" and self.functions
  if not compare then return type(a) == "cdata" and a == b end
  if self.seen[a] then return self.seen[a] == b end
  self.seen[a] = b -- until something differs
  return compare(self, a, b)
end

--- Whether functions are the same; if not, the name of the variable or global in which they differ,
-- nil where their codes do.
-- @tab stands values that stand for each other, by each other
function M.functions(a, b, stands)
  local self = setmetatable({seen = tables.copy(stands)}, Comparison)
  if rawequal(a, b) then return true end
  if not same_code(a, b) then return false, nil end
  self.seen[a] = b
  local name = self:difference(a, b)
  return name == nil, name
end

--- Whether values are the same.
function M.is(a, b) return setmetatable({seen = {}}, Comparison):of(a, b) end

return M
