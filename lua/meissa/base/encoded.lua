-- SPDX-License-Identifier: MIT
--
-- Encoded values: what string.buffer makes of bytes from outside, once the core has looked over
-- them (csrc/base/encoded.h). Nothing else of the module decodes bytes that it has not made itself
-- in the same process.
-- @module meissa.base.encoded

local buffer = require "string.buffer"
local core = require "meissa.core"
local errors = require "meissa.base.errors"
local ffi = require "ffi"

local lib = require("meissa.base.c_core").lib
local interrupt = require "meissa.base.interrupt"
local string_lists = require "meissa.base.string_lists"
local M = {}

local function decode(bytes, integers)
  local fault = lib.ms_encoded_fault(bytes, #bytes, integers)
  if fault ~= nil then return nil, ffi.string(fault) end
  local ok, value = interrupt.pcall(buffer.decode, bytes)
  if not ok then return nil, "cannot be decoded" end
  return value
end

--- A value of nil, booleans, numbers, strings and tables of these.
-- @string bytes of a file
-- @return the value; or nil and what is wrong, words that may follow "the encoding"
function M.from_file(bytes)
  return decode(bytes, false)
end

--- The same of a message of another process of this program: 64-bit integers are known, too.
-- Raises NET for anything else.
function M.from_message(bytes)
  local value, fault = decode(bytes, true)
  if fault then errors.raise("NET", "a message between processes %s", fault) end
  return value
end

-- Memory for what M.is_plain encodes, up to so many bytes.
local MOST_KEPT = 2 ^ 22
local room = buffer.new()

-- Tables in one another, as many as string.buffer takes but one (MS_ENCODED_DEPTH): it refuses the
-- first table in what is put into the innermost, and makes no copies of what that leads to.
local inner = {false}
local outer = inner
for _ = 3, 100 do outer = {outer} end
local BEFORE = #buffer.encode(outer) - 1

-- What string.buffer refuses it raises, which LuaJITs before August 2023 do not survive in machine
-- code (csrc/base/encoded.h).
local function encode(value)
  inner[1] = value
  room:reset():encode(outer)
end
jit.off(encode)

-- Encodes a table, and gives where that stands and how long it is, until the next call; nil where
-- it is not plain.
local function encode_plain(value, numbers)
  local done = interrupt.pcall(encode, value)
  inner[1] = false
  if not done then
    room:free()
    return nil
  end
  local bytes, size = room:ref()
  bytes, size = bytes + BEFORE, size - BEFORE
  return lib.ms_encoded_is_plain(bytes, size, numbers) and bytes or nil, size
end

-- What was encoded was looked at.
local function release()
  if #room > MOST_KEPT then room:free() end
end

--- Whether all keys and elements of a table are numbers, strings and booleans. What Lua's own loops
-- would look at one by one (tables.lua) is encoded and looked over, in a tenth of the time.
-- @tab value its metatable is not looked at
function M.is_plain(value)
  local plain = core.is_plain(value)
  if plain == nil and string_lists.state(value) then return true end
  if plain == nil then
    plain = encode_plain(value, false) ~= nil
    release()
  end
  return plain
end

--- Such a table as string.buffer has it; nil where it is none.
-- @tab value its metatable is not looked at
-- @bool numbers whether its elements must be numbers
function M.plain(value, numbers)
  local bytes, size = encode_plain(value, numbers)
  local text = bytes and ffi.string(bytes, size) or nil
  release()
  return text
end

local function encode_alone(value) room:reset():encode(value) end
jit.off(encode_alone)

--- Whether string.buffer has a value like this: for large ones, of which no string is made.
-- @string text what it was encoded to before
function M.is(value, text)
  if not interrupt.pcall(encode_alone, value) then
    room:free()
    return false
  end
  local bytes, size = room:ref()
  local same = size == #text and lib.ms_encoded_is_same(bytes, text, size)
  release()
  return same
end

return M
