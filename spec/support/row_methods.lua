-- SPDX-License-Identifier: MIT
--
-- Methods that both engines run on rows, from the table of methods: for tests that draw or try all.
local method = require "meissa.array.method"

local M = {}

--- Those that change their row, and those that give a number: entries of meissa.array.method.
M.changing, M.reading = {}, {}
for _, entry in ipairs(method.list) do
  if entry.rowwise then
    table.insert(entry.effect == "read" and M.reading or M.changing, entry)
  end
end

--- Whether a method takes a number, or another row.
function M.takes_number(entry) return entry.takes == "number" or entry.takes == "both" end
function M.takes_other(entry) return entry.takes == "other" or entry.takes == "both" end

--- Names of those that give a number from one row alone.
M.measures = {}
for _, entry in ipairs(M.reading) do
  if not M.takes_other(entry) then table.insert(M.measures, entry.name) end
end

--- The call of a method as text.
-- @string y the row; @string x another one; @string a a number
function M.call(entry, y, x, a)
  local given = {M.takes_number(entry) and a or nil}
  if M.takes_other(entry) then given[#given + 1] = x end
  return ("%s:%s(%s)"):format(y, entry.name, table.concat(given, ", "))
end

-- Those that change a row: arithmetic, and functions, after which much is nan or infinite.
local arithmetic, functions = {}, {}
for _, entry in ipairs(M.changing) do
  table.insert(entry.operation < method.of.exp.operation and arithmetic or functions, entry)
end

--- The call of one of those that change a row, drawn: all functions together as often as one of
-- the others.
-- @func random random(n): a number from 1 to n
function M.draw(random, y, x, a)
  local entry = arithmetic[random(#arithmetic + 1)] or functions[random(#functions)]
  return M.call(entry, y, x, a)
end

return M
