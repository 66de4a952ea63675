-- SPDX-License-Identifier: MIT
--- Basics: the metatables of strings, numbers, nil, booleans, functions and coroutines.
--
-- LuaJIT gives strings one, with the library `string` as its methods, and the others none. Where a
-- program has it otherwise, every body has these metatables captured, and a worker wears them while
-- it runs the loop.
-- @module meissa.basics

local libraries = require "meissa.libraries"
local tables = require "meissa.tables"

local M = {}

local TYPES = {"string", "number", "boolean", "function", "thread", "nil"}
local SAMPLES = {string = "", number = 0, boolean = true, ["function"] = print,
                 thread = coroutine.create(print)}

-- Whether strings have their library as LuaJIT has it, and nothing else.
local function is_usual(meta)
  if type(meta) ~= "table" or debug.getmetatable(meta) ~= nil then return false end
  local index = rawget(meta, "__index")
  if next(meta) ~= "__index" or next(meta, "__index") ~= nil then return false end
  return type(index) == "table" and libraries.name(index) == "string" and
    not libraries.is_changed(index)
end

local function is_changed(name)
  local meta = debug.getmetatable(SAMPLES[name])
  if name == "string" then return not is_usual(meta) end
  return meta ~= nil
end

--- Whether the program has changed any.
function M.are_changed()
  for _, name in ipairs(TYPES) do
    if is_changed(name) then return true end
  end
  return false
end

--- Those that it has changed, by type: a metatable, or false for none.
function M.changed()
  local found = {}
  for _, name in ipairs(TYPES) do
    if is_changed(name) then found[name] = debug.getmetatable(SAMPLES[name]) or false end
  end
  return found
end

--- Whether there is more to metatables than methods of strings.
-- @tab metas what changed gave
function M.have_operators(metas)
  for name, meta in tables.each(metas) do
    if name ~= "string" then return true end
    for key in tables.each(meta or {}) do
      if key ~= "__index" then return true end
    end
  end
  return false
end

--- A set of tables that plain values lead to.
function M.reachable()
  local found = {}
  for _, name in ipairs(TYPES) do
    local value = debug.getmetatable(SAMPLES[name])
    while type(value) == "table" and not found[value] do
      found[value] = true
      local meta = debug.getmetatable(value)
      value = rawget(value, "__index") or type(meta) == "table" and rawget(meta, "__index")
    end
  end
  return found
end

-- Events whose functions the analysis knows to get arrays that it takes to be written, or none.
local LIKE_METHODS = {__index = true, __call = true}

--- Calls visit(function, is_method) for the functions in metatables, and in the tables that are
-- their `__index`. What methods get as arguments is known to the analysis.
-- @tab metas what changed gave
function M.each_function(metas, visit)
  for _, name in ipairs(TYPES) do
    local meta = metas[name]
    for _, key in ipairs(meta and libraries.keys(meta) or {}) do
      local value = rawget(meta, key)
      if type(value) == "function" then visit(value, LIKE_METHODS[key]) end
      local methods = key == "__index" and type(value) == "table" and libraries.keys(value) or {}
      for _, name_of in ipairs(methods) do
        local method = rawget(value, name_of)
        if type(method) == "function" then visit(method, true) end
      end
    end
  end
end

-- This process's own, while it wears others.
local own

--- Whether this process is a worker, whose bodies are another program's.
M.on_worker = false

--- Makes a worker wear metatables, or take them off.
-- @tab[opt] metas what changed gave, on the driver
function M.wear(metas)
  if not M.on_worker or not own and not metas then return end
  own = own or {string = debug.getmetatable("")}
  for _, name in ipairs(TYPES) do
    local meta = metas and metas[name]
    if meta == nil then meta = own[name] end
    debug.setmetatable(SAMPLES[name], meta or nil)
  end
  if not metas then own = nil end
end

return M
