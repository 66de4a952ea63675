-- SPDX-License-Identifier: MIT
--- What a loop that runs in this process has left in tables and variables, held to what can return
-- from a worker: such a loop accepts no values that one on workers refuses.
-- @module meissa.driver.returned

local array = require "meissa.array"
local errors = require "meissa.base.errors"
local frames = require "meissa.capture.stack_frame"
local kernel = require "meissa.kernel"
local merge = require "meissa.kernel.merge"
local tables = require "meissa.base.tables"

local M = {}

local PLAIN = tables.PLAIN

-- What a table held before the loop, but for plain values.
local function contents_of(t)
  local held = {}
  for key, value in tables.each(t) do
    if not PLAIN[type(value)] then held[value] = true end
    if not PLAIN[type(key)] then held[key] = true end
  end
  return held
end

--- Notes what the loop's output tables hold before it.
-- @tab run see meissa.driver.planning
-- @treturn table|nil for M.check; nil if the loop leaves no values
function M.watch(run)
  local list = {}
  for _, scalar in ipairs(run.plan.scalar_list) do
    local value = run.values[scalar.capture]
    if merge.TABLES[scalar.role] then
      list[#list + 1] = {scalar = scalar, table = value, held = contents_of(value)}
    elseif scalar.role == "reduction" or scalar.role == "private" and run.space.ordered then
      list[#list + 1] = {scalar = scalar, held = {}}
    end
  end
  return list[1] and list or nil
end

-- What the loop would have sent to workers, as a set: what this process has in its place returns.
local function known_values(run, list)
  local sent = {}
  for c in ipairs(run.record.captures) do sent[c] = run.values[c] end
  for _, each in ipairs(list) do sent[each.scalar.capture] = nil end
  return kernel.known(sent, run.bindings.modules)
end

-- Whether a value could return. Tables that could are added to `known`.
local function returns(value, known)
  local waiting, count = {value}, 1
  while count > 0 do
    local top = waiting[count]
    count = count - 1
    if not PLAIN[type(top)] and not known[top] then
      if type(top) ~= "table" or array.is(top) then
        if kernel.refusal("", top, known) then return false end
      else
        for key, item in tables.each(top) do
          waiting[count + 1], waiting[count + 2] = key, item
          count = count + 2
        end
        count = count + 1
        waiting[count] = debug.getmetatable(top)
      end
      known[top] = true
    end
  end
  return true
end

-- What is new in an output table or variable, but for plain values, by key.
local function news_of(each, value)
  if not each.table then return {not PLAIN[type(value)] and value or nil} end
  local news = {}
  local function is_new(item) return not PLAIN[type(item)] and not each.held[item] end
  for key, item in tables.each(each.table) do
    if is_new(item) or is_new(key) then news[key] = item end
  end
  return news
end

-- Raises, at the loop, what one on workers does for the first value that could not return.
local function check_one(run, list, each, value, known_of)
  local news = news_of(each, value)
  if tables.next(news) == nil then return end
  local known, fits = known_of(), true
  for key, item in tables.each(news) do
    fits = fits and returns(item, known) and returns(key, known)
  end
  if fits then return end
  for _, key in ipairs(tables.keys(news)) do
    local item = each.table and {[key] = news[key]} or news[key]
    local refused = kernel.refusal(each.scalar.name, item, known_values(run, list))
    if refused then
      refused.file, refused.line = run.record.file, run.record.line
      error(refused, 0)
    end
  end
  errors.raise("BUG", "a value of '%s' returns and does not", each.scalar.name)
end

--- Raises BDY if a value that the loop has left could not return from a worker.
-- @tab list what M.watch gave, or nil @tab run the run @tab slots of the captures
-- @param func the running function, or the closure @param level its stack level, seen from the
-- caller; nil for a closure
function M.check(list, run, slots, func, level)
  if not list then return end
  local known
  local function known_of()
    known = known or known_values(run, list)
    return known
  end
  for _, each in ipairs(list) do
    local c, value = each.scalar.capture, nil
    if not each.table then
      value = frames.read({slots[c]}, func, level and level + 1)[1]
      value = frames.follow(run.record.captures[c], value)
    end
    check_one(run, list, each, value, known_of)
  end
end

return M
