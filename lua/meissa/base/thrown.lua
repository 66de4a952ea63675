-- SPDX-License-Identifier: MIT
--
-- Thrown: what a user's function raised that is no error object of ours, as one can have it: a
-- text, a value that can be sent to another process, and bytes of both.
-- @module meissa.base.thrown

local buffer = require "string.buffer"
local encoded = require "meissa.base.encoded"
local errors = require "meissa.base.errors"
local tables = require "meissa.base.tables"
local interrupt = require "meissa.base.interrupt"

local M = {}

-- How deep, and about how many bytes encoded, a value may be that an error object carries.
local DEEPEST, LARGEST = 50, 32768

-- Bytes of a value beside those of strings.
local WORD = 9

-- Bytes of a message: with such a value it fits into what a worker can send of a failure.
local LONGEST = 65536

--- The text of any value; `tostring` may be the user's, and fail.
function M.text(value)
  if type(value) == "string" then return value end
  local ok, text = pcall(tostring, value)
  if ok and type(text) == "string" then return text end
  return "a " .. type(value) .. " whose __tostring fails"
end

-- A copy of plain values and plain tables, and what is left of `room`; nil for anything else, and
-- if the room does not do.
local function copied(value, room, depth)
  local kind = type(value)
  room = room - WORD - (kind == "string" and #value or 0)
  if room < 0 then return nil end
  if kind == "string" or kind == "number" or kind == "boolean" then return value, room end
  if kind ~= "table" or depth == DEEPEST or debug.getmetatable(value) ~= nil then return nil end
  local copy = {}
  for key, item in tables.each(value) do
    local name, own
    name, room = copied(key, room, depth + 1)
    if name == nil then return nil end
    own, room = copied(item, room, depth + 1)
    if own == nil then return nil end
    copy[name] = own
  end
  return copy, room
end

--- A copy of the value if it can travel: numbers, booleans, strings, and tables of these without
-- metatables and cycles, of up to 32 KB; else its text, of that length at most.
function M.portable(value)
  if value == nil then return nil end -- what an error object without a value has
  local copy = copied(value, LARGEST, 0)
  if copy ~= nil then return copy end
  return string.sub(M.text(value), 1, LARGEST)
end

--- The same of what was raised; nil of a text, which is the message.
function M.value(raised)
  if type(raised) == "string" then return nil end
  return M.portable(raised)
end

-- The text of a value; of a table that has none, its message.
local function words_of(value)
  if type(value) ~= "table" or debug.getmetatable(value) ~= nil then return M.text(value) end
  local message = rawget(value, "message")
  if type(message) == "string" then return message end
  if type(M.portable(value)) == "table" then
    return "a table was raised: the error's `value` has it"
  end
  return "a table was raised that does not travel: only numbers, booleans, strings and plain " ..
    "tables of these do, without cycles, up to 32 KB. Give it a field `message`, which is shown"
end

--- What to say of the value, of 64 KB at most.
function M.message(value)
  local words = words_of(value)
  if #words <= LONGEST then return words end
  return string.format("%s... (%d bytes)", string.sub(words, 1, LONGEST), #words)
end

--- Bytes of an error value for the driver: tables with plain fields keep them, anything else
-- becomes its text.
-- @param err any error value
-- @return string for decode
function M.encode(err)
  local plain = {}
  if type(err) == "table" then
    for key, value in tables.each(err) do
      local kind = type(value)
      if type(key) == "string" and (kind == "string" or kind == "number" or kind == "boolean") then
        plain[key] = value
      elseif key == "iteration" and kind == "table" then
        plain[key] = {unpack(value)}
      elseif key == "value" then
        plain[key] = M.portable(value)
      end
    end
  end
  if plain.message == nil then plain.message = M.message(err) end
  return buffer.encode(plain)
end

--- The table that encode was given, or one with its text in `message`.
-- @param bytes what encode returned
-- @return table
function M.decode(bytes)
  return encoded.from_message(bytes)
end

--- Raises what a function of the user's raised, whoever has called it: error objects and Ctrl-C as
-- they are, all else as a BDY that says where it was.
-- @string where in words
function M.raise(raised, where)
  if errors.is(raised) or interrupt.is(raised) then error(raised, 0) end
  error(errors.new {code = "BDY", value = M.value(raised), message = string.format(
    "%s: %s", where, M.message(raised))}, 0)
end

return M
