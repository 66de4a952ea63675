-- SPDX-License-Identifier: MIT
--- Comparing bytecode dumps: is this function part of that chunk?
--
-- A dump is a header and then one record a prototype, children before parents; the records of a
-- function stand together inside the dump of any chunk that contains it.
-- Format: LuaJIT 2.1, lj_bcdump.h.
-- @module meissa.dump

local bit = require "bit"

local M = {}

local STRIPPED = 2 -- BCDUMP_F_STRIP

-- Reads an unsigned LEB128 number: value, next position.
local function uleb(dump, at)
  local value, shift = 0, 1
  repeat
    local byte = dump:byte(at)
    if not byte then return nil end
    value = value + (byte % 128) * shift
    shift, at = shift * 128, at + 1
  until byte < 128
  return value, at
end

-- Opcodes that LuaJIT changes in place when `pairs` turns out not to be the built-in iteration:
-- found by compiling such a loop, because their numbers differ between versions.
local specialised

local function body_start(dump)
  if dump:sub(1, 3) ~= "\27LJ" then return nil end
  local flags, at = uleb(dump, 5)
  if not flags or bit.band(flags, STRIPPED) ~= 0 then return nil end
  local length
  length, at = uleb(dump, at)
  return length and at + length
end

--- The prototype records of a dump, without its header and end mark; nil for a stripped dump.
function M.body(dump)
  local start = body_start(dump)
  return start and dump:sub(start, -2)
end

-- Positions of the opcode bytes of a record that starts at `at`: first, count, end of record.
local function instructions(body, at)
  local length, start = uleb(body, at)
  if not length then return nil end
  local numkgc, numkn, count
  local pos = start + 4
  numkgc, pos = uleb(body, pos)
  numkn, pos = uleb(body, pos)
  count, pos = uleb(body, pos)
  local debug_size
  debug_size, pos = uleb(body, pos)
  if debug_size > 0 then
    local _
    _, pos = uleb(body, pos)
    _, pos = uleb(body, pos)
  end
  return pos, count, start + length, numkgc, numkn
end

local function opcodes_of(text)
  local body = M.body(string.dump(loadstring(text)))
  local first, count = instructions(body, 1)
  local list = {}
  for i = 0, count - 1 do list[#list + 1] = body:byte(first + 4 * i) end
  return list
end

-- {from opcode = to opcode}: ITERN -> ITERC, ISNEXT -> JMP. A loop over pairs() is compiled to the
-- first of each pair, the same loop over another call to the second.
local function specialisations()
  if specialised then return specialised end
  specialised = {}
  local with = opcodes_of("local t, u = ... for k, v in pairs(t) do end")
  local without = opcodes_of("local t, u = ... for k, v in other(t) do end")
  for i = 1, math.min(#with, #without) do
    if with[i] ~= without[i] then specialised[with[i]] = without[i] end
  end
  return specialised
end

-- The body with all specialised opcodes taken back.
local function despecialise(body)
  local map, parts, last, at = specialisations(), {}, 1, 1
  while at <= #body do
    local first, count, after = instructions(body, at)
    if not first then return body end
    for i = 0, count - 1 do
      local place = first + 4 * i
      local general = map[body:byte(place)]
      if general then
        parts[#parts + 1] = body:sub(last, place - 1) .. string.char(general)
        last = place + 1
      end
    end
    at = after
  end
  return table.concat(parts) .. body:sub(last)
end

--- Whether the function with this body is part of the chunk with this dump.
function M.contains(dump, body)
  local whole = M.body(dump)
  if not whole then return false end
  if whole:find(body, 1, true) then return true end
  return despecialise(whole):find(despecialise(body), 1, true) ~= nil
end

return M
