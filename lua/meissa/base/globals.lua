-- SPDX-License-Identifier: MIT
--
-- Globals: the world of Meissa's own files, which no program can change.
--
-- A program may replace functions of the standard libraries, add to them and take some away, before
-- and after it loads Meissa. What Meissa itself calls stays LuaJIT's: its files have globals of
-- their own, with libraries of their own. `_G`, package.path and io.stderr are the program's there.
-- Methods of strings go through the program's metatable of strings, so Meissa calls none:
-- string.sub(s, 1), not s:sub(1).
-- @module meissa.base.globals

require "ffi"
require "jit.util"
local libraries = require("meissa.core").libraries()
local base = libraries._G
local own_require, setmetatable = base.require, base.setmetatable

local M = {}

--- Libraries by name, as LuaJIT has them: copies, with functions that do the same.
M.libraries = libraries

--- The environment of Meissa's own files.
M.environment = {_G = _G, jit = libraries.jit}

for name, value in base.next, base do
  if name ~= "_G" then M.environment[name] = value end
end
for _, name in base.ipairs {"math", "string", "table", "bit", "os", "debug", "coroutine"} do
  M.environment[name] = libraries[name]
end

function M.environment.require(name)
  return libraries[name] or own_require(name)
end

libraries.jit.off(M.environment.require) -- runs while modules are loaded

-- What is no function but a setting stays the program's: where it sends its output, say.
for name, settings in base.next, {
  package = {"path", "cpath", "loaded", "loaders", "preload"},
  io = {"stdin", "stdout", "stderr"},
} do
  M.environment[name] = setmetatable(libraries[name], {__index = _G[name]})
  for _, setting in base.ipairs(settings) do libraries[name][setting] = nil end
end

return M
