-- SPDX-License-Identifier: MIT
--
-- Inner bindings: what the captured functions and tables of a loop lead to, for the analyser to
-- walk through them.
--
-- A function whose text is had gets `code`, its body as a loop in closure form, and `means`, what
-- each of the code's captures is: {index, depth, ...}. A table gets `fields`, {name, index, ...},
-- of the names that the loop's body and the functions' bodies mention. An index n > 0 is a binding
-- of the loop, -n an inner one. What is left out (text not to be had, too much of it) is unknown to
-- the analyser, which then takes the function or table as a whole. Nothing here calls user code.
-- @module meissa.capture.inner

local core = require "meissa.core"
local frames = require "meissa.capture.stack_frame"
local remember = require "meissa.base.remember"
local required = require "meissa.capture.required"
local source_text = require "meissa.capture.source_text"
local tables = require "meissa.base.tables"
local interrupt = require "meissa.base.interrupt"

local M = {}

-- The name of the field that stands for what a table does when it is called.
M.CALL = "()"

-- What the names begin with that stand for elements of a list.
M.ELEMENT = "#"

-- What the names begin with that stand for the functions that elements of a longer list have by
-- the rest of the name.
M.METHOD = "#:"

-- Inner bindings of a loop; and the functions among them.
local MOST, MOST_FUNCTIONS = 1000, 100

-- Longest list of which the elements are told apart; and of which the methods are looked at.
local MOST_ELEMENTS, MOST_LISTED = 32, 1000

-- The code of a function: {loop =, captures =, slots =, names =, id =}, or false. Found by function
-- (weak), and by text and place.
local by_function = setmetatable({}, { __mode = "kv" })
local by_place, codes = {}, 0

-- Bytes of a code, and of a letter of its text; see remember.lua.
local BYTES, LETTER = 16000, 20

local function forget(code)
  local known = by_place[code.text]
  known[code.place] = nil
  if tables.next(known) == nil then by_place[code.text] = nil end
end

local function parse(fn, info)
  local text, ordinal = source_text.text(fn, info.source)
  local place = string.format("%d:%s", ordinal, info.source)
  local code = by_place[text] and by_place[text][place]
  if code then return code end
  local loop = core.loop(text, info.source, info.linedefined, info.lastlinedefined, ordinal)
  if not loop then return false end
  codes = codes + 1
  local captures, about = loop:captures(), loop:info()
  code = { loop = loop, captures = captures, names = loop:names(), id = codes,
    calls = loop:calls(),
    slots = frames.slots(captures, fn, nil), text = text, place = place }
  by_place[text] = by_place[text] or {}
  by_place[text][place] = code
  remember.keep(code, BYTES + LETTER * (about.finish - about.begin), forget)
  return code
end

--- The code of a Lua function whose text is had: {loop =, captures =, ...}; else false.
local function code_of(fn)
  local code = by_function[fn]
  if code == nil then
    local info = debug.getinfo(fn, "S")
    local ok, found = false, nil
    if info.what == "Lua" then ok, found = interrupt.pcall(parse, fn, info) end
    code = ok and found or false
    by_function[fn] = code
  elseif code then
    remember.touch(code)
  end
  return code
end

M.code = code_of

-- Kinds of values that are all the same to the analyser.
local SHARED = { ["nil"] = true, string = true }

local Work = {}
Work.__index = Work

-- The index of an inner binding for a value.
function Work:value(value, number)
  local kind, key = type(value), value
  local unknown = (kind == "number" or kind == "boolean") and not number
  if unknown and kind == "number" then value = 0 / 0 end
  if value ~= value or SHARED[kind] or unknown then key = kind end
  local known = self.by_value[key]
  if known then return known end
  if #self.list >= MOST then return nil end
  local binding = self.tools.bind(value, 0)
  if unknown then binding.number = 0 / 0 end
  local index
  if binding.kind == "array" then
    index = self.tools.array(binding, value)
  else
    self.list[#self.list + 1] = binding
    index = -#self.list
    self:enter(binding)
  end
  self.by_value[key] = index
  return index
end

-- Notes a binding, of the loop or an inner one, for what is inside of it.
function Work:enter(binding)
  if binding.owned then return end
  if binding.kind == "function" and self.functions < MOST_FUNCTIONS then
    self.functions = self.functions + 1
    self.queue[#self.queue + 1] = binding
  elseif binding.kind == "table" and self.tools.is_searched(binding.value) then
    self.tables[#self.tables + 1] = { binding = binding, done = {} }
    local meta = debug.getmetatable(binding.value)
    local call = type(meta) == "table" and rawget(meta, "__call")
    local index = type(call) == "function" and self:value(call)
    binding.fields = index and { M.CALL, index } or {}
  end
end

function Work:add_names(names)
  for name in tables.each(names) do
    if not self.known_names[name] then
      self.known_names[name] = true
      self.names[#self.names + 1] = name
    end
  end
end

-- What the captures of a function mean; false if there is no room for them.
function Work:means(fn, code)
  local roots, means = frames.read(code.slots, fn, nil), {}
  for c, capture in ipairs(code.captures) do
    local value, depth = self.tools.follow(roots[c], capture.fields)
    local index = self:value(value, capture.parameter or capture.argument)
    if not index then return false end
    means[2 * c - 1], means[2 * c] = index, depth
  end
  return means
end

function Work:look_into(binding)
  local code = code_of(binding.value)
  local means = code and self:means(binding.value, code)
  if not means then return end
  binding.code, binding.code_id, binding.means = code.loop, code.id, means
  self:add_names(code.names)
  self:add_modules(code.calls, function(c)
    local index = means[2 * c - 1]
    local called = index > 0 and self.bindings[index] or self.list[-index]
    return called, means[2 * c] == #code.captures[c].fields
  end)
end

local function is_require(binding)
  return binding.kind == "builtin" and binding.name == "require"
end

-- Looks up the modules that a text requires by constant names; called(c) gives the binding of what
-- capture c calls, and whether that is all of its path.
function Work:add_modules(calls, called)
  for n = 1, #calls, 2 do
    local binding, whole = called(calls[n])
    local name = calls[n + 1]
    if binding and whole and is_require(binding) and not self.modules[name] then
      local module = required.module(name)
      local index = self:value(module)
      if index then
        self.modules[name] = true
        self.modules[#self.modules + 1] = name
        self.modules[#self.modules + 1] = index
      end
    end
  end
end

-- Says which tables are classes: objects of these find their fields, which are all known.
function Work:find_classes()
  for _, entry in ipairs(self.tables) do
    local binding = entry.binding
    binding.class = not binding.partial and rawget(binding.value, "__index") == binding.value
  end
end

-- What `require` gives is known as its fields.
function Work:finish()
  for _, list in ipairs { self.bindings, self.list } do
    for _, binding in ipairs(list) do
      if is_require(binding) then
        binding.fields, binding.impure = self.modules, required.COMPUTED
      end
    end
  end
  return self.list
end

-- Whether a list may be one of objects, functions or arrays, which the analyser tells apart.
local function is_object(value)
  local kind = type(value)
  return kind == "function" or kind == "cdata" or kind == "table" and
    debug.getmetatable(value) ~= nil
end

-- How long a table is that is a list of such and nothing else; nil: it is none, or too long.
local function length_of(list)
  local length, count = #list, 0
  if length > MOST_LISTED or debug.getmetatable(list) ~= nil then return nil end
  for key, each in tables.each(list) do
    local at = type(key) == "number" and key >= 1 and key <= length and key % 1 == 0
    if not at or not is_object(each) then return nil end
    count = count + 1
  end
  return count == length and length or nil
end

-- Adds the elements of a short list of such, all or none: "#1", "#2", ...; whether all are added.
function Work:fill_elements(binding)
  local list, found, k = binding.value, {}, 1
  while rawget(list, k) ~= nil do
    if k > MOST_ELEMENTS or not is_object(rawget(list, k)) then return false end
    local index = self:value(rawget(list, k))
    if not index then return false end
    found[2 * k - 1], found[2 * k] = M.ELEMENT .. k, index
    k = k + 1
  end
  for n = 1, #found do binding.fields[#binding.fields + 1] = found[n] end
  return true
end

-- Adds the functions that the elements of a longer list have by a name, if all have one, and there
-- are few.
function Work:fill_methods(binding, name)
  local found, known = {}, {}
  for _, object in ipairs(binding.value) do
    local fn = type(object) == "table" and self.tools.field_of(object, name)
    if type(fn) ~= "function" then return end
    if not known[fn] then
      local index = #found < MOST_ELEMENTS and self:value(fn)
      if not index then return end
      known[fn], found[#found + 1] = true, index
    end
  end
  for _, index in ipairs(found) do
    binding.fields[#binding.fields + 1] = M.METHOD .. name
    binding.fields[#binding.fields + 1] = index
  end
end

-- Adds the value of a table's field.
function Work:fill_field(binding, name)
  local value = self.tools.field_of(binding.value, name)
  local index = value ~= nil and self:value(value)
  binding.partial = binding.partial or value ~= nil and not index
  if index then
    binding.fields[#binding.fields + 1] = name
    binding.fields[#binding.fields + 1] = index
  end
end

-- Resolves names in a table that were not asked for yet.
function Work:fill(entry)
  local binding = entry.binding
  if not entry.looked then
    entry.looked = true
    binding.listed = (length_of(binding.value) or 0) > 0
    entry.long = not self:fill_elements(binding) and binding.listed
  end
  for n = #entry.done + 1, #self.names do
    local name = self.names[n]
    entry.done[n] = true
    if name ~= M.CALL and string.sub(name, 1, 1) ~= M.ELEMENT then
      self:fill_field(binding, name)
      if entry.long then self:fill_methods(binding, name) end
    end
  end
end

--- Looks into the functions and tables among a loop's bindings.
-- @tab bindings of the loop's captures
-- @tab names constant names of fields and methods in the loop's body, as keys
-- @tab calls what the loop's body calls with one constant string: {capture, string, ...}
-- @func whole whole(c): whether the binding of capture c is that of all its path
-- @tab tools `bind(value, depth)` makes a binding; `array(binding, value)` gives the index of an
-- array among the loop's bindings; `follow(root, fields)`, `field_of(table, key)`,
-- `is_searched(table)`
-- @treturn table the inner bindings
-- @treturn table modules that are required by constant names: {name, index, ...}, by name true
function M.resolve(bindings, names, calls, whole, tools)
  local work = setmetatable({ tools = tools, list = {}, by_value = {}, queue = {}, tables = {},
    functions = 0, names = {}, known_names = {}, bindings = bindings, modules = {} }, Work)
  for _, binding in ipairs(bindings) do work:enter(binding) end
  work:add_modules(calls, function(c) return bindings[c], whole(c) end)
  if #work.queue == 0 and #work.tables == 0 then return work:finish(), work.modules end
  work:add_names(names)
  local next_function, next_table, seen_names = 1, 1, 0
  repeat
    local binding = work.queue[next_function]
    if binding then
      next_function = next_function + 1
      work:look_into(binding)
    elseif seen_names < #work.names or next_table <= #work.tables then
      local first = seen_names < #work.names and 1 or next_table
      seen_names, next_table = #work.names, #work.tables + 1
      for t = first, next_table - 1 do work:fill(work.tables[t]) end
    end
  until not work.queue[next_function] and seen_names == #work.names
    and next_table > #work.tables
  work:find_classes()
  return work:finish(), work.modules
end

return M
