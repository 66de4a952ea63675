-- SPDX-License-Identifier: MIT
--
-- Lists of numbers among captured tables: what machine code can read as it reads arrays.
-- @module meissa.capture.numbers

local tables = require("meissa.base.tables")

local M = {}

-- Longest list that is looked through: machine code gets a copy of its own in each loop.
local MOST = 16384

--- Whether a table is a list of numbers without gaps, and holds nothing else.
function M.are(table)
  if type(rawget(table, 1)) ~= "number" or debug.getmetatable(table) then return false end
  if rawget(table, MOST + 1) ~= nil then return false end
  local count = 0
  for _, number in tables.each(table) do
    count = count + 1
    if type(number) ~= "number" or count > MOST or rawget(table, count) == nil then return false end
  end
  return true
end

return M
