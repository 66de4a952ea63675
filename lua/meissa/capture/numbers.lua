-- SPDX-License-Identifier: MIT
--
-- Lists of numbers among captured tables, and lists of such lists, all equally deep: what machine
-- code can read as it reads arrays.
-- @module meissa.capture.numbers

local tables = require "meissa.base.tables"

local M = {}

-- Most elements that are looked through: machine code gets a copy of its own in each loop.
local MOST = 16384

-- Most levels of lists in one another.
local DEEPEST = 4

-- How many elements a list without gaps has that holds nothing else, each of this type; nil: it is
-- none, or has more than `room`.
local function count_of(list, kind, room)
  if debug.getmetatable(list) or rawget(list, room + 1) ~= nil then return nil end
  local count = 0
  for _, element in tables.each(list) do
    count = count + 1
    if type(element) ~= kind or count > room or rawget(list, count) == nil then return nil end
  end
  return count
end

-- Looks through what is so many levels above numbers; the room that is left, or nil.
local function look(list, levels, room)
  local count = count_of(list, levels > 1 and "table" or "number", room)
  room = count and room - count
  if levels == 1 then return room end
  for k = 1, count or 0 do
    room = room and look(list[k], levels - 1, room)
  end
  return room
end

--- How many levels of lists lead to numbers, and to nothing else: 1 for a list of numbers; nil for
-- any other table. The outermost one and each first in it have an element.
function M.levels(list)
  local levels, first = 0, list
  while type(first) == "table" and levels <= DEEPEST do
    levels, first = levels + 1, rawget(first, 1)
  end
  if type(first) ~= "number" or levels > DEEPEST then return nil end
  return look(list, levels, MOST) and levels
end

return M
