-- SPDX-License-Identifier: MIT
--
-- Impure functions: what of files, the clock, foreign code and math.random a captured Lua function
-- may call.
--
-- Looks at what a function names itself: library fields, upvalues, globals, and the Lua functions
-- among these. Functions inside tables are not looked at, or every method of an object would count
-- for each. Nothing here calls user code.
-- @module meissa.capture.impure

local builtin = require "meissa.base.builtin"
local bytecode = require "meissa.capture.bytecode"
local ffi = require "ffi"
local libraries = require "meissa.base.libraries"
local required = require "meissa.capture.required"
local tables = require "meissa.base.tables"

local M = {}

local function set(names)
  local found = {}
  for _, name in ipairs(names) do found[name] = true end
  return found
end

-- By library: the fields whose use is impure.
local FIELDS = {
  io = set { "close", "flush", "input", "lines", "open", "output", "popen", "read", "stderr",
    "stdin", "stdout", "tmpfile", "write" },
  os = set { "clock", "date", "execute", "exit", "remove", "rename", "setlocale", "time",
    "tmpname" },
  ffi = set { "load", "C" },
  math = set { "random", "randomseed" }, -- their numbers depend on the order of the calls
}

-- By the names that the analyser knows them by. Code made at run time may assign globals, of which
-- each worker has its own.
local IMPURE = set { "meissa.clock", "dofile", "loadfile", "load", "loadstring", "setfenv" }

local function is_foreign_function(value)
  return type(value) == "cdata" and string.find(tostring(ffi.typeof(value)), "%)>$") ~= nil
end

-- What counts of a builtin, of ffi.C, or of a library of which a function uses the fields `names`.
local function of_library(value, names)
  if rawequal(value, ffi.C) then return "ffi.C" end
  if type(value) == "function" then
    local library, field = builtin.find(value)
    local fields = FIELDS[library]
    return fields and fields[field] and library .. "." .. field or nil
  end
  if type(value) == "userdata" and io.type(value) then return "io" end
  local library = type(value) == "table" and libraries.name(value)
  for field in tables.each(FIELDS[library] or {}) do
    local what = names[field] and rawget(value, field)
    if what and (type(what) ~= "function" or of_library(what)) then
      return library == "math" and "math.random" or library
    end
  end
end

-- What a value that a function has at hand lets it do; `names` are the constants that it uses.
local function impurity(value, names, world, seen)
  if value == nil then return nil end
  local name = of_library(value, names)
  if name then return "it uses " .. name end
  if type(value) == "function" and IMPURE[world.known[value]] then
    return "it uses " .. world.known[value]
  end
  if is_foreign_function(value) then return "it uses a C function" end
  if type(value) ~= "function" or world.known[value] then return nil end
  return M.of(value, world.known, world.field_of, world.requires, seen)
end

local function never() return false end

--- What a function may call that reaches files, the clock or code outside of Lua, or math.random,
-- in words ("it uses io"), or nil.
-- @func fn the function
-- @tab known names of the functions that the analyser knows, by function
-- @func field_of field_of(table, key) reads a field without calling anything
-- @bool requires whether it may lead to `require`
function M.of(fn, known, field_of, requires, seen)
  seen = seen or {}
  if seen[fn] then return nil end
  seen[fn] = true
  local info = debug.getinfo(fn, "Su")
  if info.what == "C" then return "it uses a C function" end
  local names, env = bytecode.names(fn), debug.getfenv(fn)
  local world = { known = known, field_of = field_of, requires = requires, is_array = never }
  local modules, computed = {}, false
  if requires then modules, computed = required.by_function(fn, world) end
  if computed then return "it computes a name for require" end
  for _, name in ipairs(modules) do
    local found = impurity(required.module(name), names, world, seen)
    if found then return found end
  end
  for slot = 1, info.nups do
    local _, value = debug.getupvalue(fn, slot)
    local found = impurity(value, names, world, seen)
    if found then return found end
  end
  local sorted = {}
  for name in tables.each(names) do sorted[#sorted + 1] = name end
  table.sort(sorted)
  for _, name in ipairs(sorted) do
    local value = type(env) == "table" and field_of(env, name)
    local found = value and impurity(value, names, world, seen)
    if found then return found end
  end
end

return M
