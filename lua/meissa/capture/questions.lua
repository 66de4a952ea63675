-- SPDX-License-Identifier: MIT
--
-- Questions: all that a proof from bytecode asks about what is outside of a function, and the
-- answers that it got. The proof follows from them and from the code, which never changes: as long
-- as each answer is what it was, so is the proof.
--
-- An answer is a table, a function, true, or, for everything else, false: a proof does not tell
-- numbers apart. Answers keep nothing alive; one whose table has been collected is no answer.
-- @module meissa.capture.questions

local known = require "meissa.capture.known"
local tables = require "meissa.base.tables"

local M = {}

local KINDS = {}

-- A function's table of globals.
function KINDS.globals(_, fn) return debug.getfenv(fn) end

function KINDS.upvalue(_, fn, slot)
  local _, value = debug.getupvalue(fn, slot)
  return value
end

function KINDS.field(world, value, key) return (world.field_of(value, key)) end

function KINDS.array(world, value) return world.is_array(value) end

function KINDS.library(_, value) return known.is_library(value) end

function KINDS.holds_table(_, value)
  for _, each in tables.each(value) do
    if type(each) == "table" then return true end
  end
  return false
end

-- Whether the tables that fields of a class are looked up in, it and what __index leads to, hold no
-- tables but each other.
local function is_class(world, class)
  local seen = {}
  while class and not seen[class] do
    seen[class] = true
    for key, each in tables.each(class) do
      local other = type(each) == "table" and not world.is_array(each)
      if other and not (key == "__index" and (each == class or is_class(world, each))) then
        return false
      end
    end
    local meta = debug.getmetatable(class)
    class = type(meta) == "table" and rawget(meta, "__index") or nil
    if type(class) ~= "table" then return true end
  end
  return true
end
M.is_class, KINDS.class = is_class, is_class

local function ask(world, kind, subject, key)
  local answer = KINDS[kind](world, subject, key)
  local type_of = type(answer)
  if type_of == "table" or type_of == "function" then return answer end
  return answer == true
end

local Asked = {}
Asked.__index = Asked

--- What has been asked: nothing yet.
-- @tab world `is_array(value)`; `field_of(table, key)` reads a field without calling anything
function M.new(world)
  return setmetatable({ world = world, answers = {}, count = 0,
    list = setmetatable({}, { __mode = "v" }) }, Asked)
end

--- Asks for the `globals` or an `upvalue` of a function, the `field` of a table, or whether one is
-- an `array`, a `library`, a `class`, or `holds_table`s.
-- @param[opt=false] key of a field, slot of an upvalue
function Asked:ask(kind, subject, key)
  key = key or false
  local of_kind = self.answers[kind] or {}
  local of_subject = of_kind[subject] or {}
  self.answers[kind], of_kind[subject] = of_kind, of_subject
  local answer = of_subject[key]
  if answer == nil then
    answer = ask(self.world, kind, subject, key)
    of_subject[key] = answer
    local list, count = self.list, self.count
    list[count + 1], list[count + 2], list[count + 3], list[count + 4] = kind, subject, key, answer
    self.count = count + 4
  end
  return answer
end

--- The answers, for `are_same`.
function Asked:close() return { list = self.list, count = self.count } end

--- Whether all answers would be the same today.
-- @tab closed what `close` gave
-- @tab world as for `new`
function M.are_same(closed, world)
  local list = closed.list
  for n = 1, closed.count, 4 do
    local subject = list[n + 1]
    if subject == nil then return false end
    if not rawequal(ask(world, list[n], subject, list[n + 2]), list[n + 3]) then return false end
  end
  return true
end

return M
