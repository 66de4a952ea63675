-- SPDX-License-Identifier: MIT
--- The interpreter that runs this process, for starting others like it.
-- @module meissa.base.interpreter

local core = require "meissa.core"
local environment = require "meissa.base.environment"
local errors = require "meissa.base.errors"
local system = require "meissa.base.system"

local M = {}

-- True when a path names a LuaJIT (and not a program that embeds one).
local function is_luajit(path)
  return path ~= nil and string.match(errors.last_part(path, "/"), "^luajit") ~= nil
end

--- The program: what MEISSA_LUAJIT names, this process's own if it is a LuaJIT, else `luajit`.
function M.program()
  local program = environment.get("MEISSA_LUAJIT")
  if program then return program end
  local here = core.executable()
  return is_luajit(here) and here or "luajit"
end

--- The program and arguments that run a text in a process which finds the same files as this one.
-- @string code
-- @return list of strings
function M.command(code)
  local path, cpath = system.search_paths()
  local text = string.format("package.path = %q package.cpath = %q %s", path, cpath, code)
  return {M.program(), "-e", text}
end

return M
