-- SPDX-License-Identifier: MIT
--
-- Known functions and libraries: those with effects that the analyser knows by name, and tables
-- that are never searched.
-- @module meissa.capture.known

local tables = require("meissa.tables")

local M = {}

-- Functions with effects that the analyser knows, by value.
local builtins = {}
M.builtins = builtins

-- Tables of the standard library: known by name, never searched.
local libraries = { [_G] = true, [package.loaded] = true }
M.libraries = libraries

-- Libraries with functions that draw random numbers.
local drawing = {}
M.drawing = drawing

--- Makes a table known as a library: it is never searched.
-- @bool draws whether functions of it draw random numbers that belong to the iteration
function M.register_library(library, draws)
  libraries[library], drawing[library] = true, draws
end

--- Makes a function known to the analyser under a name of its effects table ("meissa.random").
function M.register(fn, name)
  builtins[fn] = name
end

--- Whether a builtin of this name draws random numbers that belong to the iteration.
function M.draws(name)
  return name == "meissa.random" or name == "meissa.normal"
end

local function register_library(name, library)
  libraries[library] = true
  for key, value in tables.each(library) do
    if type(value) == "function" and type(key) == "string" then
      builtins[value] = name .. "." .. key
    end
  end
end

for _, name in ipairs { "math", "bit", "string", "table", "os", "io", "coroutine" } do
  register_library(name, _G[name] or require(name))
end
for _, name in ipairs { "ffi", "string.buffer" } do register_library(name, require(name)) end
for _, name in ipairs { "print", "tonumber", "tostring", "type", "error", "rawequal", "assert",
  "ipairs", "next", "pairs", "rawget", "rawset", "select", "unpack", "getmetatable",
  "setmetatable", "pcall", "xpcall", "require", "load", "loadstring", "loadfile", "dofile",
  "getfenv", "setfenv", "collectgarbage", "newproxy" } do
  builtins[_G[name]] = name
end
for _, name in ipairs { "traceback", "getinfo" } do builtins[debug[name]] = "debug." .. name end
for _, name in ipairs { "debug", "jit", "package" } do
  if type(_G[name]) == "table" then libraries[_G[name]] = true end
end

return M
