-- SPDX-License-Identifier: MIT
--- What captured functions and tables lead to, as it was: what an analysis of them has found holds
-- as long as all of it is the same.
--
-- The same walk as in meissa.capture.search, by upvalues, globals, library fields that functions
-- name, entries of tables and metatables; what it meets is written down as a list of places with
-- their values, which C compares (csrc/binding/reached.h). Nothing here calls user code, and
-- nothing that is written down is kept alive.
-- @module meissa.capture.reached

local array = require "meissa.array"
local buffers = require "meissa.array.buffer"
local bytecode = require "meissa.capture.bytecode"
local bytecode_facts = require "meissa.capture.bytecode_facts"
local core = require "meissa.core"
local known = require "meissa.capture.known"
local models = require "meissa.sync.models"
local namespaces = require "meissa.capture.namespace"
local objects = require "meissa.array.objects"
local tables = require "meissa.base.tables"
local util = require "jit.util"

local builtins, is_library = known.builtins, known.is_library

local M = {}

--- Places that are worth looking at before each loop; to look at one takes some 50 ns, where to
-- find out anew what a table means takes microseconds.
M.MOST = 2 ^ 16

-- Tables that stand behind one another by `__index`, at most.
local MOST_BEHIND = 8

local PLAIN = tables.PLAIN

-- Kinds of places, as csrc/binding/reached.h has them.
local UPVALUE, GLOBALS, FIELD, METATABLE, COUNT = 0, 1, 2, 3, 4

local Walk = {}
Walk.__index = Walk

-- Gives a function or table a number, if it has none yet.
function Walk:number(value)
  if self.objects[value] then return end
  self.object_count = self.object_count + 1
  self.objects[value] = self.object_count
end

-- Writes a place down; false: there are too many.
function Walk:put(kind, subject, key, value)
  self:number(subject)
  local at = 4 * self.count
  self.list[at + 1], self.list[at + 2], self.list[at + 3] = kind, subject, key
  self.list[at + 4] = value
  self.count = self.count + 1
  return self.count <= M.MOST
end

-- Puts something on the stack of what is to be looked at: lists may be linked many times.
function Walk:wait(value)
  if PLAIN[type(value)] or self.seen[value] then return end
  self.seen[value] = true
  self.waiting[#self.waiting + 1] = value
end

-- What a table gives for a key, by `__index` tables; and whether all on the way is written down.
function Walk:field(holder, key)
  for _ = 1, MOST_BEHIND do
    local value = rawget(holder, key)
    if not self:put(FIELD, holder, key, value) then return nil, false end
    if value ~= nil then return value, true end
    local meta = debug.getmetatable(holder)
    if not self:put(METATABLE, holder, false, meta) then return nil, false end
    if meta == nil then return nil, true end
    if type(meta) ~= "table" then return nil, false end
    holder = rawget(meta, "__index")
    if not self:put(FIELD, meta, "__index", holder) then return nil, false end
    if holder == nil then return nil, true end
    if type(holder) ~= "table" then return nil, false end
  end
  return nil, false
end

-- A value that a function has at hand; of a library the fields that the function may name.
function Walk:used(value, names)
  if not is_library(value) or namespaces.name(value) then
    self:wait(value)
    return true
  end
  for name in tables.each(names) do
    if not self:put(FIELD, value, name, rawget(value, name)) then return false end
  end
  return true
end

function Walk:fn(fn)
  local names, env = bytecode.names(fn), debug.getfenv(fn)
  if type(env) ~= "table" or not self:put(GLOBALS, fn, false, env) then return false end
  for n = 1, debug.getinfo(fn, "u").nups do
    local _, value = debug.getupvalue(fn, n)
    if not self:put(UPVALUE, fn, n, value) or not self:used(value, names) then return false end
  end
  for _, name in ipairs(bytecode_facts.about(fn).globals) do
    local value, told = self:field(env, name)
    if not told or not self:used(value, names) then return false end
  end
  return true
end

function Walk:table(value)
  local meta, count = debug.getmetatable(value), 0
  if not self:put(METATABLE, value, false, meta) then return false end
  if not buffers.is(value) then self:wait(meta) end -- theirs is our own
  for key, item in tables.each(value) do
    count = count + 1
    if not PLAIN[type(key)] or not self:put(FIELD, value, key, item) then return false end
    self:wait(item)
  end
  return self:put(COUNT, value, false, count)
end

-- Whether a value leads to nothing that has to be written down; nil where that cannot be told.
local function leads_nowhere(value)
  if namespaces.name(value) or models.is(value) or objects.is(value) then return nil end
  return array.is_any(value) or (builtins[value] or is_library(value)) and true or false
end

-- What another object in the place of a function or table must have, to be found to be alike by
-- what it leads to: a function's code, which assigns nothing from outside of it, as then it matters
-- who shares a variable; nil where there can be no other.
local function form_of(value)
  if leads_nowhere(value) ~= false or buffers.is(value) then return nil end
  if type(value) == "table" then return true end
  if type(value) ~= "function" then return nil end
  local code = util.funcinfo(value).proto
  return code and not bytecode_facts.about(value).assigns and code or nil
end

-- Writes down what one value leads to; false where that cannot be done.
function Walk:look(value)
  local kind, nowhere = type(value), leads_nowhere(value)
  if nowhere ~= false then return nowhere or false end
  self:number(value)
  self.forms[self.objects[value]] = form_of(value)
  if kind == "table" then return self:table(value) end
  if kind ~= "function" or debug.getinfo(value, "S").what == "C" then return false end
  return self:fn(value)
end

-- The same for a value and all values that it leads to.
function Walk:visit(value)
  self:wait(value)
  local waiting = self.waiting
  while #waiting > 0 do
    if not self:look(table.remove(waiting)) then return false end
  end
  return true
end

-- Whether captured functions' own code depends on numbers among these: in subscripts, say.
local function numbers_matter(bindings)
  for _, binding in ipairs(bindings.inner) do
    if binding.kind == "number" and binding.number == binding.number then return true end
  end
  return false
end

--- What a loop's captured functions and tables lead to.
-- @tab bindings those of a loop with their values, as capture.resolve gives them
-- @tab kinds kinds of bindings that lead nowhere, as a set
-- @return an object with `same()`, whether all of it is as it was: numbers may differ where nothing
-- depends on them but what is computed; nil where it cannot be told, or there is too much
-- @treturn number of places that were looked at
function M.take(bindings, kinds)
  local walk = setmetatable({list = {}, count = 0, seen = {}, waiting = {}, objects = {},
                             object_count = 0, forms = {}}, Walk)
  for _, binding in ipairs(bindings) do
    if not kinds[binding.kind] and (binding.owned or not walk:visit(binding.value)) then
      return nil, walk.count
    end
  end
  local matter = numbers_matter(bindings)
  return core.reached(walk.list, walk.count, matter, walk.objects, walk.forms, form_of), walk.count
end

return M
