-- SPDX-License-Identifier: MIT
--- Comparing bytecode dumps: is this function part of that chunk, and which part?
--
-- A dump is a header and then one record a prototype, children before parents; the records of a
-- function stand together inside those of any chunk that contains it.
--
-- A function that has run, or that was loaded from bytecode, may be dumped with other bytes than
-- its text compiled anew, and means the same. Records are equal when they are in a normal form:
-- * Of the flags only "has varargs" counts: the others follow from what stands behind them, or
--   are none (LuaJIT of 2026 lets its counter of closures into the dump).
-- * A loop over `pairs` is an ordinary loop: LuaJIT changes its instructions, for good, when
--   `pairs` turns out to be another function.
-- * A template table is the set of its fields: LuaJIT writes them in the order of its hash, those
--   that are nil in some versions only.
-- Everything else is the compiler's, which for one text always does the same: numbers of lines,
-- names of variables, order of constants. LuaJIT itself takes back what its traces put into loops.
-- Format: lj_bcdump.h, version 2, that of all LuaJIT 2.1.
-- @module meissa.capture.dump

local interrupt = require "meissa.base.interrupt"

local M = {}

local SIGNATURE, VERSION = "\27LJ", 2
local STRIPPED = 2     -- BCDUMP_F_STRIP, in the header
local HAS_VARARGS = 2  -- PROTO_VARARG, in a record
-- Types of constants, and of keys and values in template tables.
local CHILD, TABLE, INT64, UINT64, COMPLEX, STRING = 0, 1, 2, 3, 4, 5
local NIL, INTEGER, NUMBER, TEXT = 0, 3, 4, 5

-- Whether a bit is set, in small numbers.
local function has(flags, bit) return flags % (2 * bit) >= bit end

-- A position in a dump or a record.
local Reader = {}
Reader.__index = Reader

local function reader(bytes, at) return setmetatable({bytes = bytes, at = at or 1}, Reader) end

function Reader:octet()
  local byte = string.byte(self.bytes, self.at)
  if not byte then error("a dump ends too early", 0) end
  self.at = self.at + 1
  return byte
end

-- An unsigned LEB128 number.
function Reader:number()
  local value, scale = 0, 1
  repeat
    local byte = self:octet()
    value, scale = value + byte % 128 * scale, scale * 128
  until byte < 128
  return value
end

-- So many bytes.
function Reader:take(count)
  local first = self.at
  self.at = first + count
  if self.at > #self.bytes + 1 then error("a dump ends too early", 0) end
  return string.sub(self.bytes, first, self.at - 1)
end

-- What has been read since a position.
function Reader:since(first) return string.sub(self.bytes, first, self.at - 1) end

-- @bool stripped whether it is to be a stripped dump, which says no lines and names
local function split(dump, stripped)
  local at = reader(dump)
  if at:take(3) ~= SIGNATURE or at:octet() ~= VERSION or
     has(at:number(), STRIPPED) ~= stripped then
    return nil
  end
  if not stripped then at:take(at:number()) end
  local records = {stripped = stripped}
  while true do
    local length = at:number()
    if length == 0 then return records end
    records[#records + 1] = at:take(length)
  end
end

--- The records of a dump as a list of strings; nil for a stripped one or another format.
function M.records(dump)
  local ok, records = interrupt.pcall(split, dump, false)
  return ok and records or nil
end

-- ---- the normal form of a record

-- Its head: numbers of what follows.
local function head_of(at, stripped)
  local head = {varargs = has(at:octet(), HAS_VARARGS), parameters = at:octet(),
                frame = at:octet(), upvalues = at:octet(), constants = at:number(),
                numbers = at:number(), instructions = at:number()}
  head.debug = stripped and 0 or at:number()
  if head.debug > 0 then head.first, head.lines = at:number(), at:number() end
  return head
end

local function instructions_of(text)
  local at = reader(M.records(string.dump(loadstring(text)))[1])
  return at:take(4 * head_of(at).instructions)
end

-- {opcode of a loop over pairs = opcode of the same loop over another function}. Found by compiling
-- both, because opcodes' numbers differ between versions.
local general
local function generalisations()
  if general then return general end
  local map = {}
  local with = instructions_of("local t, u = ... for k, v in pairs(t) do end")
  local without = instructions_of("local t, u = ... for k, v in other(t) do end")
  for place = 1, math.min(#with, #without), 4 do
    if string.byte(with, place) ~= string.byte(without, place) then
      map[string.sub(with, place, place)] = string.sub(without, place, place)
    end
  end
  general = map
  return map
end

local function normal_instructions(code)
  local map = generalisations()
  return (string.gsub(code, "(.)(...)", function(opcode, operands)
    return map[opcode] and map[opcode] .. operands
  end))
end

-- A key or a value of a template table; nil for nil.
local function field_part(at)
  local first, kind = at.at, at:number()
  if kind == INTEGER then
    at:number()
  elseif kind == NUMBER then
    at:number()
    at:number()
  elseif kind >= TEXT then
    at:take(kind - TEXT)
  end
  if kind ~= NIL then return at:since(first) end
end

-- An integer key as it is written in the hash part.
local function integer_key(number)
  local bytes = {string.char(INTEGER)}
  while number >= 128 do
    bytes[#bytes + 1] = string.char(number % 128 + 128)
    number = math.floor(number / 128)
  end
  bytes[#bytes + 1] = string.char(number)
  return table.concat(bytes)
end

local function normal_table(at)
  local in_array, in_hash, fields = at:number(), at:number(), {}
  local function add(key, value)
    if value then fields[#fields + 1] = string.format("%d:%s%d:%s", #key, key, #value, value) end
  end
  for key = 0, in_array - 1 do add(integer_key(key), field_part(at)) end
  for _ = 1, in_hash do add(field_part(at), field_part(at)) end
  table.sort(fields)
  return table.concat(fields)
end

local NUMBERS_IN = {[CHILD] = 0, [INT64] = 2, [UINT64] = 2, [COMPLEX] = 4}

local function normal_constant(at)
  local first, kind = at.at, at:number()
  if kind == TABLE then return "{" .. normal_table(at) .. "}" end
  if kind >= STRING then
    at:take(kind - STRING)
  else
    for _ = 1, NUMBERS_IN[kind] do at:number() end
  end
  return at:since(first)
end

-- The record in a form that is equal for all dumps of one function.
local function normalise(record, stripped)
  local at = reader(record)
  local head = head_of(at, stripped)
  local parts = {string.format("%s %d %d %d %d %d %d %d %s %s\n", head.varargs, head.parameters,
    head.frame, head.upvalues, head.constants, head.numbers, head.instructions, head.debug,
    head.first, head.lines)}
  parts[#parts + 1] = normal_instructions(at:take(4 * head.instructions))
  parts[#parts + 1] = at:take(2 * head.upvalues)
  for _ = 1, head.constants do
    local constant = normal_constant(at)
    parts[#parts + 1] = #constant .. ":" .. constant
  end
  parts[#parts + 1] = string.sub(record, at.at) -- numbers, lines, names
  return table.concat(parts)
end

-- The normal form of a record of a list, which keeps it; a record that cannot be read is its own.
local function normal(records, at)
  local forms = records.forms or {}
  records.forms = forms
  if not forms[at] then
    local ok, form = interrupt.pcall(normalise, records[at], records.stripped)
    forms[at] = ok and form or records[at]
  end
  return forms[at]
end

local function equal_bytes(one, at, other, place) return one[at] == other[place] end
local function equal_meaning(one, at, other, place)
  return normal(one, at) == normal(other, place)
end

local function place_of(func, chunk, equal)
  for before = 0, #chunk - #func do
    local k = #func -- the function itself: those inside it are more often the same
    while k > 0 and equal(chunk, before + k, func, k) do k = k - 1 end
    if k == 0 then return before + #func end
  end
end

--- Where a function is in a chunk, both by their records: the place of its own record, which is its
-- place among the chunk's functions in the order of their ends. Nil if it is no part of the chunk.
-- Of functions that mean the same, the first.
function M.find(chunk, func)
  return place_of(func, chunk, equal_bytes) or place_of(func, chunk, equal_meaning)
end

--- Whether functions mean the same but for their variables, by their stripped dumps.
function M.mean_the_same(one, other)
  if one == other then return true end
  local ok, first, second = interrupt.pcall(function()
    return split(one, true), split(other, true)
  end)
  return ok and first ~= nil and second ~= nil and #first == #second and
    place_of(second, first, equal_meaning) ~= nil
end

return M
