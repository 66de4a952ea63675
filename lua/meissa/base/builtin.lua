-- SPDX-License-Identifier: MIT
--- Builtins: the functions of LuaJIT's libraries, known by their code.
--
-- A program may keep math.sin under a name of its own and put another function in its place; it may
-- do so before it loads Meissa. What a function is tells its code: a C function's address, which
-- some share, and the number that LuaJIT gives those; the bytecode of those that LuaJIT has as Lua.
-- @module meissa.base.builtin

local jit_util = require "jit.util"
local globals = require "meissa.base.globals"
local tables = require "meissa.base.tables"

local M = {}

local funcinfo = jit_util.funcinfo

-- Libraries, in the order in which a function that is in several gets its name.
local NAMES = {"_G", "math", "string", "table", "bit", "coroutine", "os", "io", "debug", "jit",
               "package", "ffi", "string.buffer", "table.new", "table.clear", "jit.util"}

-- By number, then by address: {library, name}; by bytecode the same.
local by_number, by_bytecode

-- What tells the code of a function: a place in one of the tables above; nil for one that has text.
local function code_of(fn)
  local info = funcinfo(fn)
  if info.addr then
    local number = info.ffid or 0
    by_number[number] = by_number[number] or {}
    return by_number[number], info.addr
  end
  if info.linedefined < 0 then return by_bytecode, string.dump(fn, true) end
end

local function add(library, name, fn)
  local codes, code = code_of(fn)
  if codes and not codes[code] then codes[code] = {library, name} end
end

-- Made when it is first needed.
local function make_index()
  by_number, by_bytecode = {}, {}
  for _, library in ipairs(NAMES) do
    local content = globals.libraries[library]
    if type(content) == "function" then add(library, nil, content) end
    if type(content) == "table" then
      for name, value in tables.each(content) do
        if type(value) == "function" then add(library, name, value) end
      end
    end
  end
end

-- By function: what is known of the builtin; false for functions that are no builtins.
local known = setmetatable({}, {__mode = "k"})
local place_of

-- A program may have wrapped `require`, as prompts do: what calls the one of LuaJIT and is found as
-- the global, by Meissa or by what is wrapped around it, is known as that.
local function wrapped_require(fn)
  local here = rawget(_G, "require")
  for slot = 1, funcinfo(fn).upvalues do
    local _, value = debug.getupvalue(fn, slot)
    if rawequal(fn, here) and type(value) == "function" and M.name(value) == "require" then
      return place_of(value)
    end
  end
end

function place_of(fn)
  local place = known[fn]
  if place ~= nil then return place end
  if not by_number then make_index() end
  local codes, code = code_of(fn)
  -- A C function that was made again (see csrc/binding/library.c) has its address alone.
  place = codes and (codes[code] or by_number[0] and by_number[0][code]) or
    wrapped_require(fn) or false
  known[fn] = place
  return place
end

--- Says that a function of Meissa's own stands for a builtin.
function M.stand_for(fn, library, name) known[fn] = {library, name} end

--- The library that a function belongs to, and its name there; nil for one that is no builtin. A
-- library may be the function itself ("table.new"): then it has no name.
function M.find(fn)
  local place = place_of(fn)
  if place then return place[1], place[2] end
end

--- Whether two values are one, or one builtin.
function M.same(a, b)
  if rawequal(a, b) then return true end
  if type(a) ~= "function" or type(b) ~= "function" then return false end
  local place = place_of(a)
  return place and place == place_of(b)
end

--- The same, for what is asked once: LuaJIT's number and the address alone tell of most, and no
-- index of all is made.
function M.same_once(a, b)
  if type(a) == "function" and type(b) == "function" then
    local one, other = funcinfo(a), funcinfo(b)
    if one.ffid and one.ffid == other.ffid and one.addr == other.addr then return true end
  end
  return M.same(a, b)
end

--- Its full name: "math.sin", "print".
function M.name(fn)
  local library, name = M.find(fn)
  if library == "_G" then return name end
  return library and (name and library .. "." .. name or library)
end

return M
