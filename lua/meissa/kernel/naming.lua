-- SPDX-License-Identifier: MIT
--- Names of values that every process has: builtins, libraries, what modules hold that has no text.
-- @module meissa.kernel.naming
local builtin = require "meissa.base.builtin"
local ffi = require "ffi"
local libraries = require "meissa.base.libraries"
local tables = require "meissa.base.tables"

local M = {}

-- {[function] = whether it has no text}, which never changes, and to ask makes strings.
local foreign = setmetatable({}, { __mode = "k" })

--- Whether a function has no text: C, or bytecode that is built into LuaJIT.
function M.is_foreign(fn)
  local is = foreign[fn]
  if is == nil then
    is = debug.getinfo(fn, "S").linedefined < 0
    foreign[fn] = is
  end
  return is
end

-- Whether a module's table holds what has no text: C functions other than LuaJIT's, userdata.
local function holds_foreign(content)
  for _, value in tables.each(content) do
    local kind = type(value)
    if kind == "userdata" or kind == "function" and M.is_foreign(value) and not builtin.find(value)
    then
      return true
    end
  end
  return false
end

-- The same for this module's files, which never change.
local own_names = setmetatable({}, { __mode = "k" })

-- Whether a value is what objects of one kind have in common.
local function is_class(value)
  return type(value) == "table" and rawget(value, "__index") == value
end

local function add_own(module, content)
  if type(content) ~= "table" then return end
  own_names[content] = own_names[content] or { module }
  for key, value in tables.each(content) do
    local named = type(value) == "function" or is_class(value)
    if type(key) == "string" and named and not own_names[value] then
      own_names[value] = { module, key }
    end
  end
end

--- {[value] = {module, name}} for tables of modules that are written in C and foreign functions of
-- every module, and all of this module; and the names of the other modules by table. Libraries are
-- known without.
function M.index()
  local names, modules = { [_G] = { "_G" }, [ffi.C] = { "ffi", "C" } }, {}
  local function add(module, content)
    if type(content) ~= "table" or libraries.name(content) or content == _G then return end
    local by_name = holds_foreign(content)
    local list = by_name and names or modules
    list[content] = list[content] or by_name and { module } or module
    for key, value in tables.each(content) do
      if type(key) == "string" and type(value) == "function" and not names[value]
        and M.is_foreign(value) then
        names[value] = { module, key }
      end
    end
  end
  local own, others = {}, {}
  for module, content in tables.each(package.loaded) do
    local is_own = type(module) == "string" and string.find(module, "^meissa%f[%z.]")
    if is_own and not own_names[content] then own[#own + 1] = module end
    if not is_own and type(module) == "string" then others[#others + 1] = module end
  end
  table.sort(own)
  table.sort(others)
  for _, module in ipairs(own) do add_own(module, package.loaded[module]) end
  for _, module in ipairs(others) do add(module, package.loaded[module]) end
  return names, modules
end

-- The last index, and the modules that were loaded then.
local recent = { loaded = {}, count = -1 }

local function is_recent()
  local count = 0
  for module, content in tables.each(package.loaded) do
    count = count + 1
    if recent.loaded[module] ~= content then return false end
  end
  return count == recent.count
end

--- The same as it was when a module was loaded last: for what is sent often. What modules have got
-- since then by assignments has no name in it.
function M.recent_index()
  if not is_recent() then
    recent = { loaded = tables.copy(package.loaded) }
    recent.count = #tables.keys(recent.loaded)
    recent.names, recent.modules = M.index()
  end
  return recent.names, recent.modules
end

--- The name of what LuaJIT has: {module, name}, nil of a library that the program has changed; and
-- whether it is LuaJIT's.
function M.of_library(value)
  if type(value) == "function" then
    local library, name = builtin.find(value)
    return library and { library, name }, library ~= nil
  end
  local library = type(value) == "table" and libraries.name(value)
  if not library then return nil, false end
  return not libraries.is_changed(value) and { library } or nil, true
end

--- The name of what this module's files have, or of what M.index has found: {module, name}.
function M.find(value, names)
  return own_names[value] or names[value]
end

return M
