-- SPDX-License-Identifier: MIT
--- Libraries: the tables of the standard libraries as the program has them, and what it has made
-- of them.
--
-- One that is as LuaJIT has it is known by its name, and every process has the same. One that
-- differs is a table of the program's.
-- @module meissa.libraries

local builtin = require "meissa.builtin"
local globals = require "meissa.globals"
local tables = require "meissa.tables"

local M = {}

--- Their names.
M.names = {"math", "string", "table", "bit", "coroutine", "os", "io", "debug", "jit", "ffi",
           "string.buffer", "package"}

-- Names by table. Some are loaded late.
local known = setmetatable({}, {__mode = "k"})

local function find(library)
  for _, name in ipairs(M.names) do
    if rawequal(package.loaded[name], library) or rawequal(rawget(_G, name), library) then
      return name
    end
  end
  return false
end

--- The name of a table that is a library, or nil.
function M.name(library)
  local name = known[library]
  if name == nil then
    name = find(library)
    known[library] = name
  end
  return name or nil
end

for _, name in ipairs(M.names) do
  local library = package.loaded[name] or rawget(_G, name)
  if type(library) == "table" then known[library] = name end
end

-- What is put into its table when it is first required.
local LATE = {["table.new"] = true, ["table.clear"] = true}

-- Gathers the keys under which a library differs from LuaJIT's; without `keys`, whether it does.
local function compare(name, library, keys)
  local own = globals.libraries[name]
  for key, value in tables.each(library) do
    if not builtin.same(value, own[key]) then
      if not keys then return true end
      keys[#keys + 1] = key
    end
  end
  for key in tables.each(own) do
    if rawget(library, key) == nil and not LATE[name .. "." .. key] then
      if not keys then return true end
      keys[#keys + 1] = key
    end
  end
  return keys and #keys > 0
end

--- Whether a library differs from LuaJIT's. What is in `package` is no part of this.
function M.is_changed(library)
  local name = M.name(library)
  if name == "package" then return false end
  return debug.getmetatable(library) ~= nil or compare(name, library)
end

--- The keys under which it does, in order.
function M.changed_keys(library)
  local keys = {}
  compare(M.name(library), library, keys)
  table.sort(keys, tables.before)
  return keys
end

return M
