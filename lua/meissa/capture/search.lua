-- SPDX-License-Identifier: MIT
--
-- Searches: what can be reached from a captured function or table.
--
-- Goes by upvalues, by the globals that functions name, through tables and metatables; calls
-- nothing. Tables are searched in the order of their keys, so that every process finds arrays in
-- the same order.
-- @module meissa.capture.search

local basics = require "meissa.base.basics"
local bytecode = require "meissa.capture.bytecode"
local encoded = require "meissa.base.encoded"
local tables = require "meissa.base.tables"
local known = require "meissa.capture.known"
local models = require "meissa.sync.models"
local libraries = require "meissa.base.libraries"
local namespaces = require "meissa.capture.namespace"
local objects = require "meissa.array.objects"
local ownership = require "meissa.capture.ownership"
local read_only = require "meissa.capture.read_only"
local required = require "meissa.capture.required"
local slotting = require "meissa.capture.slot"

local field_of = tables.field_of
local builtins, drawing, is_library = known.builtins, known.drawing, known.is_library

local M = {}

--- Entries of captured tables that are looked at in search of arrays, those of numbers, strings and
-- booleans apart. Where there are more, `all` is set: anything may be among them.
M.MOST = 1000000

-- What two tables share if they are one or show the same elements.
local function content_of(value)
  return objects.is(value) and (objects.content(value)) or value
end

-- Events (ms_event in plan.h) by the key of what is called for them in a metatable. Any table may
-- become a metatable.
local INDEX, ASSIGN, CALL, OPERATOR, CHANGES = 1, 2, 4, 8, 16
local EVENTS = { __index = INDEX, __newindex = ASSIGN, __call = CALL }
for name in string.gmatch([[add sub mul div mod pow unm concat len eq lt le tostring]], "%a+") do
  EVENTS["__" .. name] = OPERATOR
end

local PLAIN = tables.PLAIN

-- What a search from functions and tables finds: {found = {[binding index] = true}, all =,
-- changes =, stores =, writes = whether some function may store into arrays, lives = whether there
-- is more than data: arrays, functions, metatables, events = what operators and indexing may call}.
local Search = {}
Search.__index = Search

local function new_search(state)
  if state.methods == nil then state.methods = basics.are_changed() end
  local function is_array(value)
    return state.describe(value) ~= nil
  end
  local function is_scratch(value)
    local about = state.describe(value)
    return about ~= nil and about.scratch
  end
  local world = { is_array = is_array, field_of = field_of }
  return setmetatable({ state = state, is_array = is_array, is_scratch = is_scratch, seen = {},
    asked = {}, found = {}, holder = {}, key = {}, events = {}, left = M.MOST, waiting = {},
    count = 0, looked = 0, world = world }, Search)
end

-- What a user may call an array that was found: "model.W", or "W", a variable of a function.
function Search:name(value)
  local name
  while self.holder[value] do
    local holder, key = self.holder[value], self.key[value]
    local variable = type(holder) == "function"
    local place = type(key) == "number" and "[" .. key .. "]" or key
    if type(place) ~= "string" then return nil end
    local joint = name and string.sub(name, 1, 1) ~= "[" and "." or ""
    name = place .. joint .. (name or "")
    if variable then return name end
    value = holder
  end
  if not name or not self.root then return nil end
  return self.root .. (string.sub(name, 1, 1) == "[" and "" or ".") .. name
end

function Search:array(about, value)
  local state = self.state
  local index = state.by_array[about.array]
  if not index then
    state.extra[#state.extra + 1] = { about = about, value = value, name = self:name(value) }
    index = state.count + #state.extra
    state.by_array[about.array] = index
  end
  self.found[index] = true
end

-- The keys of a table's entries that are not simple: those of a list, then the others in an order
-- of their own, since a plan must not depend on the order of this process. Nil: too many.
function Search:keys(value)
  local keys, rest, length = {}, {}, 0
  if encoded.is_plain(value) then return keys end
  local item = rawget(value, 1)
  while item ~= nil do
    length = length + 1
    if not PLAIN[type(item)] then keys[#keys + 1] = length end
    item = rawget(value, length + 1)
  end
  for key, each in tables.each(value) do
    local listed = type(key) == "number" and key >= 1 and key <= length and key % 1 == 0
    if not listed and not (PLAIN[type(each)] and PLAIN[type(key)]) then rest[#rest + 1] = key end
  end
  self.left = self.left - #keys - #rest
  if self.left < 0 then return nil end
  table.sort(rest, tables.before)
  for _, key in ipairs(rest) do keys[#keys + 1] = key end
  return keys
end

function Search:table(value)
  self.looked = self.looked + 1
  local meta = debug.getmetatable(value)
  local keys = libraries.name(value) and libraries.keys(value) or self:keys(value)
  if meta ~= nil then self.lives = true end
  if bytecode.holds_storing(value) then self.stores = true end
  if keys then self:entries(value, keys) end
  self.all = self.all or not keys
  if type(meta) == "table" then self:wait(meta) end
end

-- The last one first: they are put on a stack.
function Search:entries(value, keys)
  for n = #keys, 1, -1 do
    local key = keys[n]
    local item, event = rawget(value, key), EVENTS[key]
    if event and (type(item) ~= "table" or event > ASSIGN) then
      self.events[event] = self.events[event] or {}
      table.insert(self.events[event], item)
    end
    self:wait(item, value, key)
    self:wait(key)
  end
end

-- What a function that has a changed library may use of it: all, if it computes names of fields.
function Search:library(value, names)
  local keys = {}
  for _, key in ipairs(libraries.keys(value)) do
    if names[key] then keys[#keys + 1] = key end
  end
  self.lives = true
  self.state.slots:reach({ [value] = true }, names)
  self:entries(value, keys)
end

-- What a function may read of a library that is as LuaJIT has it: the body may give it more fields.
function Search:fields_of_library(value, from)
  if namespaces.name(value) then return end
  local named = type(from) == "function" and not bytecode.computes_names(from)
  self.state.slots:reach({ [value] = true }, named and bytecode.names(from) or nil)
end

-- A function that is called for globals: what it finds is asked for before the loop.
function Search:called(fn)
  if not fn or self.asked[fn] then return end
  self.asked[fn] = true
  for n = 1, 255 do
    local name, value = debug.getupvalue(fn, n)
    if not name then break end
    self:assigned(name, value)
  end
  if bytecode.changes(fn, self.is_array, field_of) then
    self.looks = "it looks up variables by a function that changes others"
  end
end

--- How a global that the body names is looked up, in words, if that changes something.
function M.lookup(state, env, name)
  local fn = slotting.called_for(env, name)
  if not fn then return nil end
  local search = new_search(state)
  search:called(fn)
  return search.looks and name .. " is looked up by a function that changes variables"
end

-- Globals that the function names and that are arrays, or lead to them.
function Search:globals(fn)
  local env = debug.getfenv(fn)
  if type(env) ~= "table" then return end
  local names = bytecode.names(fn)
  slotting.note_holders(self.state.holders, env)
  local whole, slots = bytecode.computes_names(fn), self.state.slots
  local watched = not slots:is_empty()
  for _, name in ipairs(tables.keys(names)) do
    if watched then slots:read(env, name) end
    local value, asks = field_of(env, name)
    if asks then self:called(slotting.called_for(env, name)) end
    local library = type(value) == "table" and not whole and libraries.name(value)
    if library and libraries.is_changed(value) then
      self:library(value, names)
    else
      self:visit(value, fn, name)
    end
  end
end

-- A namespace, or getfenv, met in a function, a table, or as a metatable.
function Search:namespace(value, from)
  self.namespaces = true
  local keys = type(from) == "function" and type(value) == "table" and bytecode.names(from) or nil
  self.state.slots:reach(type(value) == "table" and { [value] = true } or nil, keys)
end

local function is_nan(value) return type(value) == "number" and value ~= value end

-- A local variable that the body assigns, seen by a function under this name with this value: a
-- worker's copy of the function would keep the value of before the loop.
function Search:assigned(name, value)
  for _, each in ipairs(self.state.assigned) do
    local other = each.binding.value
    if each.name == name and (rawequal(other, value) or is_nan(other) and is_nan(value)) then
      each.binding.aliased = true
    end
  end
end

-- "fit (model.lua:12)": a function in words, for who is to look at it.
function Search:words(fn, info)
  local key = self.key[fn]
  local name = type(key) == "string" and key or fn == self.start and self.root or "a function"
  local file = string.match(info.source, "^@.-([^/]*)$")
  return string.format(file and "%s (%s:%d)" or "%s (%sline %d)", name, file or "",
    info.linedefined)
end

function Search:fn(fn)
  local info = debug.getinfo(fn, "Su")
  for slot = 1, info.nups do
    local name, value = debug.getupvalue(fn, slot)
    self:assigned(name, value)
    self:visit(value, fn, name)
  end
  if info.what == "C" then
    self.writes = true
    return
  end
  local changes, stores = bytecode.changes(fn, self.is_array, field_of)
  if changes and not self.changes or stores and not self.changer then
    self.changer = self:words(fn, info)
  end
  self.changes, self.stores = self.changes or changes, self.stores or stores
  self.writes = self.writes or not read_only.only(fn,
    { is_array = self.is_array, is_scratch = self.is_scratch, field_of = field_of,
      builtins = builtins, library = is_library, methods = self.state.methods })
  self:globals(fn)
  if not self.state.requires then return end -- nothing that leads to `require` was met
  for _, name in ipairs((required.by_function(fn, self.world))) do
    self:visit(required.module(name), fn, name)
  end
end

-- Whether a table holds nothing but plain values, as the records of a data set do.
local function is_flat(value)
  if getmetatable(value) ~= nil or not encoded.is_plain(value) then return false end
  return not (builtins[value] or drawing[value] or is_library(value) or namespaces.name(value))
end

-- Puts something on the stack of what is to be looked at: lists may be linked a million times.
function Search:wait(value, from, key)
  local kind, count = type(value), self.count
  if kind == "table" and from and value ~= self.start and is_flat(value) then
    self.seen[value] = true -- it leads nowhere
    return
  end
  if kind ~= "table" and kind ~= "function" and kind ~= "cdata" and kind ~= "userdata" then
    return
  end
  local waiting = self.waiting
  waiting[count + 1], waiting[count + 2], waiting[count + 3] = value, from or false, key or false
  self.count = count + 3
end

-- Visits a value, what is under a key in a table, or a variable of a function; and all that it
-- leads to.
function Search:visit(value, from, key)
  local first, waiting = self.count, self.waiting
  self:wait(value, from, key)
  while self.count > first do
    local top = self.count
    self.count = top - 3
    self:look(waiting[top - 2], waiting[top - 1], waiting[top])
  end
end

function Search:look(value, from, key)
  local kind = type(value)
  if from and not self.seen[value] and self.holder[value] == nil then
    self.holder[value], self.key[value] = from, key
  end
  if from and value == self.start then self.returns = true end
  if namespaces.name(value) then self:namespace(value, from) end
  local about = self.state.describe(value)
  local library = is_library(value)
  if about or kind ~= "table" or library then self.lives = true end
  if library then self:fields_of_library(value, from) end
  if about then return self:array(about, value) end
  if builtins[value] and not read_only.is_harmless(builtins[value]) then self.writes = true end
  if bytecode.is_storing(value) and type(from) ~= "function" then self.stores = true end
  if builtins[value] == "require" then self.state.requires = true end
  if builtins[value] and ownership.reaches(builtins[value]) then self.reaches = true end
  if drawing[value] or known.draws(builtins[value]) then self.draws = true end
  if self.seen[value] or library or builtins[value] or self.state.opaque[value] then return end
  if models.is(value) then
    self.model = true
    return
  end
  if objects.is(value) then -- plain data: a search would find nothing in it
    objects.check(value)
    self.seen[content_of(value)] = true
    return
  end
  self.seen[value] = true
  if kind == "table" then
    self:table(value)
  elseif kind == "function" then
    self:fn(value)
  else
    self.writes = true -- what its methods do is not known
  end
end

-- How many levels of tables there are in one another, and 1 more: 2 for a list of plain values, 3
-- for a list of records; nil where that is not known.
function Search:levels()
  if self.lives or self.all or self.looks or self.looked ~= 1 then return nil end
  local first = tables.next(self.seen)
  return first == self.start and tables.next(self.seen, first) == nil and 2 or 3
end

-- Whether a function, or those of a table that is a class, store into nothing but what they are
-- given, the objects that they are called for, and what they make themselves.
function Search:is_kept()
  if self.changes or self.all or self.reaches or self.namespaces then return false end
  local state = self.state
  state.proved = state.proved or {}
  if not ownership.is_kept(self.start, self.seen, self.world, state.proved) then return false end
  if not self.state.methods then return true end
  -- What the program has given plain values may be called anywhere.
  local more = new_search(setmetatable({ by_array = {}, extra = {}, methods = false },
    { __index = self.state }))
  for _, meta in tables.each(basics.changed()) do more:visit(meta) end
  return more:is_kept()
end

-- The events for which functions were found, and those whose functions may change something: what
-- they are given is from outside.
function Search:metamethods()
  local found = 0
  for event, functions in tables.each(self.events) do
    local events = new_search(self.state)
    for _, each in ipairs(functions) do events:visit(each) end
    found = found + event
    if events.changes or events.stores or events.all then found = found + event * CHANGES end
  end
  return found
end

M.new, M.field_of, M.content_of = new_search, field_of, content_of

return M
