-- SPDX-License-Identifier: MIT
--
-- Known functions and libraries: those with effects that the analyser knows by name, and tables
-- that are never searched.
-- @module meissa.capture.known

local builtin = require "meissa.base.builtin"
local libraries = require "meissa.base.libraries"

local M = {}

local function set(names)
  local found = {}
  for name in string.gmatch(names, "%S+") do found[name] = true end
  return found
end

-- Functions of LuaJIT's with effects that the analyser knows: all of these libraries, and some.
local KNOWN_LIBRARIES = set "math bit string table os io coroutine ffi string.buffer table.new"
local KNOWN = set [[print tonumber tostring type error rawequal assert ipairs next pairs rawget
  rawset select unpack getmetatable setmetatable pcall xpcall require load loadstring loadfile
  dofile getfenv setfenv collectgarbage newproxy debug.traceback debug.getinfo]]

-- Functions with effects that the analyser knows, by value; false for others.
local builtins = setmetatable({}, {__mode = "k", __index = function(t, value)
  if type(value) ~= "function" then return nil end
  local library, name = builtin.find(value), builtin.name(value)
  t[value] = (KNOWN_LIBRARIES[library] or KNOWN[name]) and name or false
  return t[value]
end})
M.builtins = builtins

-- Tables that are known by name.
local named = { [_G] = true, [package.loaded] = true }

-- Those with functions that draw random numbers.
local drawing = {}
M.drawing = drawing

--- Makes a table known as a library: it is never searched.
-- @bool draws whether functions of it draw random numbers that belong to the iteration
function M.register_library(library, draws)
  named[library], drawing[library] = true, draws
end

--- Whether a value is a table that is known by name and never searched: a library as LuaJIT has it.
-- One that the program has changed is a table of its own.
function M.is_library(value)
  if type(value) ~= "table" then return false end
  return named[value] or libraries.name(value) ~= nil and not libraries.is_changed(value)
end

--- Makes a function known to the analyser under a name of its effects table ("meissa.random").
function M.register(fn, name)
  builtins[fn] = name
end

--- Whether a builtin of this name draws random numbers that belong to the iteration.
function M.draws(name)
  return name == "meissa.random" or name == "meissa.normal"
end

return M
