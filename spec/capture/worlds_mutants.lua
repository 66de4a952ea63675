-- SPDX-License-Identifier: MIT
--
-- The module without one of its rules about libraries, plain values and required modules: each
-- function takes one away, and a random program of spec/capture/worlds_random.lua must find it out.

local basics = require "meissa.base.basics"
local builtin = require "meissa.base.builtin"
local capture = require "meissa.capture"
local serialize = require "meissa.kernel.serialize"
local globals = require "meissa.base.globals"
local libraries = require "meissa.base.libraries"
local required = require "meissa.capture.required"
local search = require "meissa.capture.search"
local slot = require "meissa.capture.slot"
local system = require "meissa.base.system"

local Search = getmetatable(search.new({ slots = slot.new(), methods = false }))

local M = {}

local function none() return false end

M["libraries that have changed are the program's"] = function()
  libraries.is_changed = none
end

M["libraries may have changed before the module was loaded"] = function()
  for _, name in ipairs { "string", "math", "table", "bit" } do
    local own = {}
    for key, value in next, package.loaded[name] do own[key] = value end
    libraries.own[name] = own
  end
end

M["functions may be gone from a library"] = function()
  local keys = libraries.keys
  function libraries.keys(content)
    local list = {}
    for _, key in ipairs(keys(content)) do
      if rawget(content, key) ~= nil then list[#list + 1] = key end
    end
    return list
  end
end

M["functions of a changed library travel"] = function()
  local keys = libraries.keys
  function libraries.keys(content)
    return libraries.name(content) and {} or keys(content)
  end
end

M["builtins are known by their code"] = function()
  local find = builtin.find
  function builtin.find(fn)
    for _, name in ipairs { "string", "math", "table", "bit" } do
      for key, value in next, package.loaded[name] do
        if rawequal(value, fn) then return name, key end
      end
    end
    return find(fn)
  end
end

M["the module's own files call LuaJIT's functions"] = function()
  for _, name in ipairs { "string", "math", "table", "bit" } do
    for key in next, libraries.own[name] do
      globals.environment[name][key] = function(...) return package.loaded[name][key](...) end
    end
  end
end

M["plain values have metatables"] = function()
  basics.are_changed, basics.changed = none, function() return {} end
end

M["functions lead from plain values to variables"] = function()
  function basics.reachable() return {} end
  local visit = Search.visit
  function Search:visit(value, from, key)
    if from or key or type(value) ~= "table" or not rawget(value, "__index") then
      visit(self, value, from, key)
    end
  end
end

M["methods of plain values may not change anything"] = function()
  function capture.refusal() return nil end
end

M["functions require modules"] = function()
  function required.by_function() return {}, false end
end

M["modules have a state"] = function()
  local encode = serialize.encode
  function serialize.encode(values, count, options, ...)
    local given = options.modules
    options.modules = nil
    local bytes, encoder = encode(values, count, options, ...)
    options.modules = given
    return bytes, encoder
  end
end

M["package.path leads to modules"] = function()
  function system.new_search_paths() return nil end
end

M["names of modules may be computed"] = function()
  required.COMPUTED = nil
end

return M
