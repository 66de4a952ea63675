-- SPDX-License-Identifier: MIT
--- The operation of an allReduce where replicas are carried: what it makes of values, as the driver
-- would have it, or nothing.
--
-- A copy runs, as where it is sent: what it changes outside of its arguments is lost. One whose
-- code changes nothing there, and finds nothing there that could be changed, runs itself. What it
-- would not do everywhere alike (draw random numbers, print, fail), and what takes more than its
-- numbers, strings and functions, is left to the driver.
-- @module meissa.worker.operation

local builtin = require "meissa.base.builtin"
local generators = require "meissa.sync.generators"
local bytecode_facts = require "meissa.capture.bytecode_facts"
local isolate = require "meissa.sync.isolate"
local jit_util = require "jit.util"
local tables = require "meissa.base.tables"
local value_rows = require "meissa.worker.value_rows"
local values = require "meissa.sync.values"

local M = {}

local PLAIN = tables.PLAIN

-- Whether a value is plain, a module, or a function that passes `test` and captures only such ones.
local function is_made_of(value, test, seen)
  if PLAIN[type(value)] then return true end
  if type(value) == "table" then return isolate.is_common(value) end
  if type(value) ~= "function" then return false end
  if seen[value] then return true end
  seen[value] = true
  if not test(value, seen) then return false end
  local index = 1
  while true do
    local name, each = debug.getupvalue(value, index)
    if not name then return true end
    if not is_made_of(each, test, seen) then return false end
    index = index + 1
  end
end

local function is_any() return true end

--- Whether an operation may run where replicas are carried.
function M.is_simple(op)
  return package.loaded.torch == nil and is_made_of(op, is_any, {})
end

-- Whether a function assigns no variable from outside, and reads no global that could be changed.
local function changes_nothing(fn, seen)
  if jit_util.funcinfo(fn).addr then return true end -- in C
  local about = bytecode_facts.about(fn)
  for _, name in ipairs(about.assigns and {} or about.globals) do
    if not is_made_of(getfenv(fn)[name], changes_nothing, seen) then return false end
  end
  return not about.assigns
end

local function refuse() error("this is the driver's", 0) end

local function instead_of(fn)
  local library, name = builtin.find(fn)
  return library == "_G" and name == "print" and refuse or nil
end

-- What values become: those of the first list with those of the others, one list after the other;
-- nil: the driver is to do it.
local function reduce(op, lists)
  local drawn_from, outer = generators.watch()
  local held = {}
  local ok, results = pcall(function()
    local own = is_made_of(op, changes_nothing, {}) and op or
      (isolate.copy(op, {}, 0, instead_of, held))
    return values.reduce(lists, own, true)
  end)
  for _, release in ipairs(held) do release() end
  if generators.has_drawn(drawn_from, outer) or not ok then return nil end
  for e, result in ipairs(results) do
    if not values.fit(result, lists[1][e]) then return nil end
  end
  return results
end

--- Combines what lies on rows of a mailbox, and puts it on the first one, between stamps.
-- @tab rows by replica @tab layout, list, board see meissa.worker.value_rows @number stamp
-- @treturn boolean false: the driver is to do it
function M.combine(op, rows, layout, list, board, stamp)
  local lists = {}
  for k, row in ipairs(rows) do
    local values_of_row, arrays = value_rows.values_on(row, layout, list, board)
    for e, value in tables.each(arrays) do values_of_row[e] = value end
    lists[k] = values_of_row
  end
  local results = reduce(op, lists)
  for _, place in ipairs(results and layout.places or {}) do
    value_rows.write_between(rows[1], place, 1, stamp, function()
      if not place.e then
        value_rows.put_numbers(rows[1], place, results)
      elseif results[place.e] ~= lists[1][place.e] then
        lists[1][place.e]:copy(results[place.e])
      end
    end)
  end
  return results ~= nil
end

return M
