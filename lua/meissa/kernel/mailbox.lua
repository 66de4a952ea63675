-- SPDX-License-Identifier: MIT
--- Mailboxes: memory that processes share, where the arrays of messages lie in place of travelling.
--
-- A mailbox has a row for each who writes. What has been put there is good until its row is begun
-- again; who begins it has to know that all have read it. Whether that is so shows in stamps before
-- and behind each array, which are no others' on this memory: whoever has read an array, and only
-- then finds both stamps to be its own, has not read half of another one.
-- @module meissa.kernel.mailbox

local array = require "meissa.array"
local ffi = require "ffi"
local tables = require "meissa.base.tables"

local M = {}

--- Bytes at the beginning of a row for other uses.
M.HEAD = 1024

--- Arrays begin at such addresses; so much lies before one and behind it, with the stamps.
M.LINE = 64

local stamps = ffi.typeof "volatile double *"

local Mailbox = {}
Mailbox.__index = Mailbox

local Row = {}
Row.__index = Row

--- A mailbox in memory.
-- @param memory where it begins @number rows how many @number size bytes of each
-- @param keep what must live as long as what lies on it
function M.new(memory, rows, size, keep)
  return setmetatable({memory = ffi.cast("char *", memory), rows = rows, size = size, keep = keep,
                       places = {}}, Mailbox)
end

--- A row, from 1, to write to from behind its head on.
-- @number number which one @number stamp a number that nobody has written here before
function Mailbox:begin(number, stamp)
  return setmetatable({mailbox = self, first = (number - 1) * self.size, used = M.HEAD,
                       stamp = stamp},
                      Row)
end

--- Bytes that so many take in whole lines.
function M.room_of(bytes) return math.ceil(bytes / M.LINE) * M.LINE end

--- What lies so many bytes behind the mailbox's beginning, as an array with `type` and `dims`.
function Mailbox:array_at(about, at)
  return array.wrap_foreign {type = about.type, dims = about.dims, data = self.memory + at,
                             keep = self.keep}
end

--- An array that lies in the mailbox, which keeps the mailbox's memory alive.
-- @tab told `type` and `dims`, and what `put` gave
function Mailbox:array(told)
  local made = self:array_at(told, told.at)
  self.places[told.at] = {stamp = told.stamp,
                          footer = told.at + M.room_of(array.describe(made).bytes)}
  return made
end

--- Where an array lies that `array` gave, as `put` tells it; nil for others.
function Mailbox:place_of(value)
  local at = tonumber(ffi.cast("char *", array.core(value).data) - self.memory)
  local place = self.places[at]
  if place then return at, place.stamp end
  return nil
end

--- Whether nobody has begun to write where the arrays lie that `array` has given.
function Mailbox:is_intact()
  for at, place in tables.each(self.places) do
    local header = ffi.cast(stamps, self.memory + at - M.LINE)[0]
    local footer = ffi.cast(stamps, self.memory + place.footer)[0]
    if header ~= place.stamp or footer ~= place.stamp then return false end
  end
  return true
end

--- Forgets which arrays lie here: nobody reads them any more.
function Mailbox:clear() self.places = {} end

--- Puts the elements of a dense array on the row. `used` are the bytes that all who asked would
-- have needed.
-- @treturn number where, nil if there is no room @treturn number its stamp
function Row:put(value)
  local about, mailbox = array.describe(value), self.mailbox
  local at, room = self.first + self.used + M.LINE, M.room_of(about.bytes)
  self.used = self.used + room + 2 * M.LINE
  if self.used > mailbox.size then return nil end
  ffi.cast(stamps, mailbox.memory + at - M.LINE)[0] = self.stamp
  mailbox:array_at(about, at):copy(value)
  ffi.cast(stamps, mailbox.memory + at + room)[0] = self.stamp
  return at, self.stamp
end

return M
