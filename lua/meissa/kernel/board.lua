-- SPDX-License-Identifier: MIT
--- Boards: memory that processes share, where the arrays of parcels lie in place of travelling.
--
-- A board has a row for each who writes. What has been put there is good until its row is begun
-- again; who begins it has to know that all have read it.
-- @module meissa.kernel.board

local array = require "meissa.array"
local ffi = require "ffi"

local M = {}

-- Arrays begin at such addresses.
local ALIGNMENT = 64

local Board = {}
Board.__index = Board

local Row = {}
Row.__index = Row

--- A board in memory.
-- @param memory where it begins @number rows how many @number size bytes of each
-- @param keep what must live as long as what lies on it
function M.new(memory, rows, size, keep)
  return setmetatable({memory = ffi.cast("char *", memory), rows = rows, size = size, keep = keep},
                      Board)
end

--- A row, from 1, to write to from its beginning on.
function Board:begin(number)
  return setmetatable({board = self, first = (number - 1) * self.size, used = 0}, Row)
end

--- An array that lies on the board, which keeps the board's memory alive.
-- @tab told `type`, `dims` and `at`, as `put` gave it
function Board:array(told)
  return array.wrap_foreign {type = told.type, dims = told.dims, data = self.memory + told.at,
                             keep = self.keep}
end

--- Where an array lies that is on the board already; nil for others.
function Board:place_of(value)
  local at = ffi.cast("char *", array.core(value).data) - self.memory
  return at >= 0 and at < self.rows * self.size and tonumber(at) or nil
end

--- Puts the elements of a dense array on the row: where, nil if there is no room. `used` are the
-- bytes that all who asked would have needed.
function Row:put(value)
  local about = array.describe(value)
  local at = self.used
  self.used = at + math.ceil(about.bytes / ALIGNMENT) * ALIGNMENT
  if self.used > self.board.size then return nil end
  local place = {type = about.type, dims = about.dims, at = self.first + at}
  self.board:array(place):copy(value)
  return place.at
end

return M
