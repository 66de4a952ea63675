-- SPDX-License-Identifier: MIT
--- Basics: the metatables of strings, numbers, nil, booleans, functions and coroutines.
--
-- LuaJIT gives strings one, with the library `string` as its methods, and the others none. Where a
-- program has it otherwise, every body has these metatables captured, and a worker wears them while
-- it runs the loop.
-- @module meissa.base.basics

local libraries = require "meissa.base.libraries"
local tables = require "meissa.base.tables"

local M = {}

local TYPES = {"string", "number", "boolean", "function", "thread", "nil"}
local SAMPLES = {string = "", number = 0, boolean = true, ["function"] = print,
                 thread = coroutine.create(print)}

-- Whether strings have their library as LuaJIT has it, and nothing else.
local function is_usual(meta)
  if type(meta) ~= "table" or debug.getmetatable(meta) ~= nil then return false end
  local index = rawget(meta, "__index")
  if tables.next(meta) ~= "__index" or tables.next(meta, "__index") ~= nil then return false end
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

--- The basic metatables that the program has changed, by type: a metatable, or false for none.
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

-- The table in which a key is looked for that a table has not; nil if there is none.
local function next_index(content)
  local meta = debug.getmetatable(content)
  local index = type(meta) == "table" and rawget(meta, "__index")
  return type(index) == "table" and index or nil
end

--- Calls visit(function, is_method) for the functions that tables lead to from metatables: methods,
-- those of the tables in which methods are looked for in turn, and what fields hold. What methods
-- get as arguments is known to the analysis.
-- @tab metas what changed gave
-- @func is_searched is_searched(table) says whether a table is looked into
-- @treturn table a set of the tables that were
function M.each_function(metas, is_searched, visit)
  local seen, methods, waiting = {}, {}, {}
  local function wait(value, has_methods)
    if type(value) ~= "table" or seen[value] or not is_searched(value) then return end
    seen[value], methods[value], waiting[#waiting + 1] = true, has_methods, value
  end
  for _, name in ipairs(TYPES) do
    local index = metas[name] and rawget(metas[name], "__index")
    while type(index) == "table" and not seen[index] and is_searched(index) do
      wait(index, true)
      index = next_index(index)
    end
  end
  for _, name in ipairs(TYPES) do wait(metas[name]) end
  while #waiting > 0 do
    local content = table.remove(waiting)
    for _, key in ipairs(libraries.keys(content)) do
      local value = rawget(content, key)
      if type(value) == "function" then visit(value, methods[content] or LIKE_METHODS[key]) end
      wait(value)
    end
    wait(debug.getmetatable(content))
  end
  return seen
end

-- Calls visit(key, value) for what plain values of a type give for keys: of several tables in which
-- a key is looked for, the first.
local function each_field(meta, is_searched, visit)
  local index, seen, met = meta and rawget(meta, "__index"), {}, {}
  while type(index) == "table" and not seen[index] do
    seen[index] = true
    for _, key in ipairs(is_searched(index) and tables.keys(index) or libraries.keys(index)) do
      if not met[key] then visit(key, rawget(index, key)) end
      met[key] = true
    end
    index = next_index(index)
  end
end

--- What the fields of plain values lead to that is refused, by name: the words for the first such
-- function.
-- @tab metas what changed gave
-- @func is_searched see each_function
-- @tab refused words, by function
function M.refused_fields(metas, is_searched, refused)
  local found = {}
  local function words_of(value, seen)
    if type(value) == "function" then return refused[value] end
    if type(value) ~= "table" or seen[value] or not is_searched(value) then return nil end
    seen[value] = true
    for _, key in ipairs(tables.keys(value)) do
      local words = words_of(rawget(value, key), seen)
      if words then return words end
    end
    return words_of(debug.getmetatable(value), seen)
  end
  for _, name in ipairs(TYPES) do
    each_field(metas[name], is_searched, function(key, value)
      found[key] = found[key] or words_of(value, {})
    end)
  end
  return found
end

-- The process's own basic metatables while others are in their place.
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
