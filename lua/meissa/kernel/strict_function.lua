-- SPDX-License-Identifier: MIT
--- Functions of the program as workers have them: with the one `^` that all engines share in place
-- of LuaJIT's, whose interpreter and compiler disagree, so that they may be compiled.
--
-- A function whose text is had is compiled anew from it, with the same lines and upvalues and one
-- more, for that `^`. Others are sent as they are and are interpreted.
-- @module meissa.kernel.strict_function
local inner = require "meissa.capture.inner"
local util = require "jit.util"

local M = {}

-- What `^` is called there, if the text does not have that name.
local POW = "meissa_pow"

-- The function anew: its upvalues have the values that variables have before they are assigned.
local function compile(fn, code, names)
  local pow, info = POW, debug.getinfo(fn, "S")
  local text, line = code.loop:strict(pow)
  while string.find(code.text, pow, 1, true) do
    pow = pow .. "_"
    text, line = code.loop:strict(pow)
  end
  names[#names + 1] = pow
  local chunk = loadstring(string.format("local %s %sreturn %s", table.concat(names, ","),
    string.rep("\n", line - 1), text), info.source)
  return chunk and chunk(), pow
end

local function make(fn)
  local code = inner.code(fn)
  if not code then return false end
  local names, places = {}, {}
  while debug.getupvalue(fn, #names + 1) do
    names[#names + 1] = debug.getupvalue(fn, #names + 1)
    places[names[#names]] = #names
  end
  local made, pow = compile(fn, code, names)
  if not made then return false end
  local upvalues = {}
  while debug.getupvalue(made, #upvalues + 1) do
    local name = debug.getupvalue(made, #upvalues + 1)
    upvalues[#upvalues + 1] = name == pow and 0 or places[name]
  end
  return { fn = made, dump = string.dump(made), upvalues = upvalues }
end

-- By prototype: functions that are made anew each time have the same code.
local known = setmetatable({}, { __mode = "k" })

--- A Lua function that uses `^`, anew: {dump = its bytecode, fn = a function of that, upvalues =
-- for each upvalue the number that it has in the one given, or 0: it is `strict.pow`}; false where
-- the text is not to be had.
function M.of(fn)
  local proto = util.funcinfo(fn).proto
  if known[proto] == nil then known[proto] = make(fn) end
  return known[proto]
end

return M
