-- SPDX-License-Identifier: MIT
--
-- Encoded values: what string.buffer makes of bytes from outside, once the core has looked over
-- them (csrc/base/encoded.h). Nothing else of the module decodes bytes that it has not made itself
-- in the same process.
-- @module meissa.base.encoded

local buffer = require("string.buffer")
local core = require("meissa.core")
local errors = require("meissa.base.errors")
local ffi = require("ffi")

local lib = require("meissa.base.c_core").lib
local interrupt = require("meissa.base.interrupt")
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

local function encode(value)
  inner[1] = value
  room:reset():encode(outer)
end

--- Whether all keys and elements of a table are numbers, strings and booleans. What Lua's own loops
-- would look at one by one (tables.lua) is encoded and looked over, in a tenth of the time.
-- @tab value its metatable is not looked at
function M.is_plain(value)
  local plain = core.is_plain(value)
  if plain ~= nil then return plain end
  plain = false
  local encoded = interrupt.pcall(encode, value)
  inner[1] = false
  if encoded then
    local bytes, size = room:ref()
    plain = lib.ms_encoded_is_plain(bytes + BEFORE, size - BEFORE)
  end
  if not encoded or #room > MOST_KEPT then room:free() end
  return plain
end

return M
