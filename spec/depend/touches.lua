-- SPDX-License-Identifier: MIT
--
-- What random loops touch, statement by statement, as written.

local affines = require "spec.depend.affine"
local entries_of = require("meissa.base.tables").each

local affine_value = affines.value

local M = {}

-- A counter that is not known is nan.
local function subscript_value(s, values)
  if s.kind == "opaque" then return "*" end
  if s.kind == "kept" then return values[s.name] end
  local value = affine_value(s.e, values)
  if s.kind == "either" then
    return s.test.value(values) and value or affine_value(s.other, values)
  end
  if s.other then return math[s.kind](value, affine_value(s.other, values)) end
  if value ~= value then return "*" end
  if s.kind == "modulo" then return value % s.by + s.plus end
  if s.kind == "floor" then return math.floor(value / s.by) + s.plus end
  return value
end

--- Of each dimension of the arrays.
M.EXTENT = 50

-- Where an end of a range is: a negative one counts from the dimension's end.
local function position(value) return value < 0 and M.EXTENT + 1 + value or value end

-- Calls touch(array, element, write, possible); element is a list with "*" for "any".
local function touch_access(a, values, write, possible, touch)
  local element = {}
  for k, s in ipairs(a.subscripts) do
    element[k] = subscript_value(s, values)
    if element[k] == "*" then possible = true end
  end
  for k = #element + 1, a.dims do element[k] = "*" end
  if not a.range then return touch(a.name, element, write, possible) end
  local lo = affine_value(a.range[1], values)
  for value = position(lo + a.range[3]), position(lo + a.range[4]) do
    local copy = {}
    for k = 1, a.dims do copy[k] = element[k] end
    copy[#a.subscripts + 1] = value
    touch(a.name, copy, write, possible)
  end
end

-- The counters from outside that a body changes: true where each of its runs adds the same.
local function changed_in(body)
  local changed, own = {}, {}
  local function merge(inner, steady)
    for name, same in entries_of(inner) do
      changed[name] = same and steady and changed[name] ~= false
    end
  end
  for _, s in ipairs(body) do
    if s.kind == "counter" then own[s.name] = true end
    if s.kind == "step" or s.kind == "reset" then merge({ [s.name] = true }, s.kind == "step") end
    if s.kind == "for" then merge(changed_in(s.body), true) end
    if s.kind == "if" then
      merge(changed_in(s.body), false)
      if s.middle then merge(changed_in(s.middle), false) end
      if s.other then merge(changed_in(s.other), false) end
    end
  end
  for name in entries_of(own) do changed[name] = nil end
  return changed
end

--- Whether counters that the analyser does not follow are nan.
M.forgets = true

local function lose(values, changed)
  if not M.forgets then return end
  for name, steady in entries_of(changed) do
    if not steady then values[name] = 0 / 0 end
  end
end

-- Marks, in the order of the text, which statements the analyser can only call possible: those
-- under a condition that it does not know, and all that come after a jump under one.
-- `state.unsure`: it may know more, of conditions known in part and of jumps never reached.
local function mark_possible(body, state, possible)
  for _, s in ipairs(body) do
    s.possible = possible or state.lost
    for _, test in ipairs { s.test, s.test and s.second } do
      state.unsure = state.unsure or not test.known and test.text ~= "p[0]"
    end
    if s.kind == "for" then
      mark_possible(s.body, state, possible)
    elseif s.kind == "if" then
      local inside = possible or not s.test.known
      state.depth = state.depth + 1
      mark_possible(s.body, state, inside)
      inside = inside or s.second and not s.second.known
      if s.second then mark_possible(s.middle, state, inside) end
      if s.other then mark_possible(s.other, state, inside) end
      state.depth = state.depth - 1
    elseif s.kind == "section" then
      local lost = state.lost
      mark_possible(s.body, state, possible)
      state.unsure = state.unsure or state.lost ~= lost
    elseif s.kind == "skip" then
      state.lost = state.lost or not s.test.known
      state.unsure = state.unsure or state.lost and state.depth > 0
    end
  end
end

--- Marks which statements are only possible; whether the analyser may know better.
function M.mark(body)
  local state = { lost = false, depth = 0 }
  mark_possible(body, state, false)
  return state.unsure
end

local touch_body

-- What a body gives that ends the loop around it.
local STOP = {}

local function touch_loop(s, values, touch)
  local lo, changed = affine_value(s.lo, values), changed_in(s.body)
  local hi = s.hi and affine_value(s.hi, values) or lo + (s.step > 0 and s.more or -s.more)
  local begins, ends = math.max, math.min
  if (s.step < 0) ~= (s.wide or false) then begins, ends = ends, begins end
  if s.first then lo = begins(lo, affine_value(s.first, values)) end
  if s.last then hi = ends(hi, affine_value(s.last, values)) end
  for value = lo, hi, s.step do
    values[s.name] = value
    lose(values, changed)
    if touch_body(s.body, values, touch) == STOP then break end
  end
  lose(values, changed)
end

-- Which branches a condition may lead to: those that it does not rule out.
local function branches_of(s, values)
  local first = s.test.value(values)
  local second = s.second and s.second.value(values)
  if not s.second then second = false end
  local list = {}
  if first ~= false then list[1] = s.body end
  if first ~= true and second ~= false then list[#list + 1] = s.middle end
  if first ~= true and second ~= true then list[#list + 1] = s.other end
  return list
end

local function touch_branches(s, values, touch)
  local before, changed = {}, changed_in { s }
  for name in entries_of(changed) do before[name] = values[name] end
  local branches = branches_of(s, values)
  local stopped = branches[1] and STOP
  for _, body in ipairs(branches) do
    if touch_body(body, values, touch) ~= STOP then stopped = nil end
    for name in entries_of(changed) do values[name] = before[name] end
  end
  lose(values, changed)
  return s.test.value(values) ~= nil and stopped or nil
end

-- A row that a local holds: making it touches nothing, but has to be possible.
local function touch_row(s, values, touch)
  local at = subscript_value(s.of, values)
  values[s.name] = at
  if not M.forgets then touch(s.array, { at }, false, true) end
end

function touch_body(body, values, touch)
  for _, s in ipairs(body) do
    if s.kind == "for" then
      touch_loop(s, values, touch)
    elseif s.kind == "if" then
      if touch_branches(s, values, touch) == STOP then return STOP end
    elseif s.kind == "section" then
      if touch_body(s.body, values, touch) == STOP then return STOP end
    elseif s.kind == "skip" then
      if s.test.value(values) then return end
    elseif s.kind == "stop" then
      if s.test.value(values) then return STOP end
    elseif s.kind == "choice" then
      local e = s.choice.value(values) and s.second or
        s.between and s.between.value(values) and s.third or s.other or s.e
      values[s.name] = affine_value(e, values)
    elseif s.kind == "flag" then
      values[s.name] = s.test.value(values)
    elseif s.kind == "row" then
      touch_row(s, values, touch)
    elseif s.kind == "local" or s.kind == "counter" or s.kind == "reset" then
      values[s.name] = affine_value(s.e, values)
    elseif s.kind == "step" then
      values[s.name] = values[s.name] + s.by
    else
      for _, a in ipairs(s.from) do
        if not a.when or a.when.value(values) then
          touch_access(a, values, false, s.possible, touch)
        end
      end
      if not s.read_only then touch_access(s.to, values, true, s.possible, touch) end
    end
  end
end

--- Calls touch(array, element, write, possible) for what a body does with these values of its
-- names; what comes after a jump under a condition that holds is left out.
M.body = touch_body

return M
