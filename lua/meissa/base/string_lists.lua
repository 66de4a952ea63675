-- SPDX-License-Identifier: MIT
--- Lists of strings, which programs have of lines and documents: whether one is as it was.
--
-- Strings are what they are as long as they live, so that a copy of the list tells by as many
-- comparisons of addresses, where what encodes the list reads all of its text.
-- @module meissa.base.string_lists
local tables = require "meissa.base.tables"

local M = {}

-- Shorter lists are looked at as quickly in other ways.
local SHORT = 256

-- What a list was when it was last asked for: {count =, the strings}.
local known = setmetatable({}, { __mode = "k" })

-- Whether a table has no keys but 1 to count, all of which it has. Where `next` takes an index that
-- has no element, that is in the table's array part, and so are all before it, from 0 on; other
-- keys come after these. Else all are counted.
local function has_no_others(list, count)
  local told, key = pcall(tables.next, list, count + 1)
  if told then return key == nil and rawget(list, 0) == nil end
  local left = count
  for _ in tables.each(list) do left = left - 1 end
  return left == 0
end

local function is_same(list, copy)
  for k = 1, copy.count do
    if rawget(list, k) ~= copy[k] then return false end
  end
  return rawget(list, copy.count + 1) == nil and has_no_others(list, copy.count)
end

local function copy_of(list)
  local copy, count = {}, 0
  local item = rawget(list, 1)
  while type(item) == "string" do
    count = count + 1
    copy[count] = item
    item = rawget(list, count + 1)
  end
  copy.count = count
  return item == nil and has_no_others(list, count) and copy or nil
end

--- What stands for a list of many strings: one value as long as it has the same ones.
-- @tab list its metatable is not looked at
-- @return nil for another table
function M.state(list)
  if type(rawget(list, SHORT)) ~= "string" then return nil end
  local copy = known[list]
  if not copy or not is_same(list, copy) then
    copy = copy_of(list)
    known[list] = copy
  end
  return copy
end

return M
