-- SPDX-License-Identifier: MIT
--
-- Namespaces: `_G`, `package.loaded` and what `getfenv` gives, where they are used as tables.
--
-- A worker has namespaces of its own: of the program's variables it has those that the body and the
-- functions that it calls name. What looks variables up otherwise (`_G[name]`, `pairs(_G)`,
-- `getfenv(1).x`) is found here. Reading a constant field of a namespace (`_G.x`) does no harm in
-- the body, where it is a captured variable, and in functions where all processes find the same.
-- Nothing here calls user code.
-- @module meissa.capture.namespace

local bytecode = require "meissa.capture.bytecode"
local known = require "meissa.capture.known"
local objects = require "meissa.array.objects"
local tables = require "meissa.base.tables"

local builtins, is_library = known.builtins, known.is_library

local M = {}

local NAMES = { [_G] = "_G", [package.loaded] = "package.loaded" }
if type(package.loaded.package) == "table" then NAMES[package.loaded.package] = "package" end

--- The name of a namespace, or of the builtin that gives one; nil for other values.
function M.name(value)
  return NAMES[value] or builtins[value] == "getfenv" and "getfenv" or nil
end

local function is_same_everywhere(value)
  return value == nil or builtins[value] or is_library(value) and not NAMES[value]
end

local function words_of(name)
  return name == "getfenv" and "it looks up variables by getfenv" or
    "it looks up variables in " .. name
end

-- Calls visit(item) for the namespaces and functions among what a table holds, tables in it and
-- metatables included, until it returns true; whether it did.
local function any_inside(value, world, visit)
  local seen, queue, at = {}, { value }, 1
  local function add(item)
    local kind = type(item)
    if (kind == "table" or kind == "function") and not seen[item] then
      seen[item] = true
      queue[#queue + 1] = item
    end
  end
  while queue[at] do
    local item = queue[at]
    at = at + 1
    if M.name(item) or type(item) == "function" then
      if visit(item) then return true end
    elseif not (is_library(item) or world.opaque[item] or world.is_array(item) or
                objects.is(item)) then
      add(debug.getmetatable(item))
      for key, content in tables.each(item) do
        add(key)
        add(content)
      end
    end
  end
  return false
end

-- The name of a namespace that a table leads to, or nil.
local function namespace_in(value, world)
  local name
  any_inside(value, world, function(item)
    name = type(item) == "table" and M.name(item) or nil
    return name
  end)
  return name
end

--- How a Lua function looks up variables, itself or by functions that it names, in words; or nil.
-- @func fn the function
-- @tab world `is_array(value)`; `field_of(table, key)` reads a field without calling anything;
-- `opaque`, a set of tables that are not looked into
function M.of(fn, world, seen)
  seen = seen or {}
  if seen[fn] or debug.getinfo(fn, "S").what == "C" then return nil end
  seen[fn] = true
  local found
  bytecode.each_value(fn, world, function(value, holder, is_read)
    local name = M.name(value)
    if found then
      return
    elseif name then
      found = not is_read and words_of(name) or nil
    elseif NAMES[holder] then
      found = not is_same_everywhere(value) and words_of(NAMES[holder]) or nil
    elseif type(value) == "table" then
      name = not is_read and namespace_in(value, world)
      found = name and words_of(name) or nil
    elseif type(value) == "function" and not builtins[value] then
      found = M.of(value, world, seen)
    end
  end)
  return found
end

--- What a captured table leads to: a namespace's name, if one is in it; how some function in it
-- looks up variables, in words. Either may be nil.
-- @tab world as for M.of
function M.within(value, world)
  local looks
  any_inside(value, world, function(item)
    if type(item) == "function" then
      local name = M.name(item)
      looks = name and words_of(name) or not builtins[item] and M.of(item, world) or nil
    end
    return looks
  end)
  return namespace_in(value, world), looks
end

return M
