-- SPDX-License-Identifier: MIT
--- Libraries: the tables of the standard libraries as the program has them, and what it has made
-- of them.
--
-- One that is as LuaJIT has it is known by its name, and every process has the same. One that
-- differs is a table of the program's.
-- @module meissa.base.libraries

local builtin = require "meissa.base.builtin"
local globals = require "meissa.base.globals"
local tables = require "meissa.base.tables"

local M = {}

--- LuaJIT's own libraries by name.
M.own = globals.libraries

--- Their names.
M.names = {"math", "string", "table", "bit", "coroutine", "os", "io", "debug", "jit", "ffi",
           "string.buffer", "package"}

-- Names by table; and those that the program has not loaded yet.
local known, missing = setmetatable({}, {__mode = "k"}), {}

for _, name in ipairs(M.names) do
  local library = package.loaded[name] or rawget(_G, name)
  if type(library) == "table" then known[library] = name else missing[#missing + 1] = name end
end

--- The name of a table that is a library, or nil.
function M.name(library)
  local name = known[library]
  if name then return name end
  for k, late in ipairs(missing) do
    if rawequal(package.loaded[late], library) then
      known[library] = table.remove(missing, k)
      return late
    end
  end
end

-- What is put into its table when it is first required.
local LATE = {["table.new"] = true, ["table.clear"] = true}

-- Gathers the keys under which a library differs from LuaJIT's; without `keys`, whether it does.
local function compare(name, library, keys)
  local own = M.own[name]
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

--- The keys of a table that are the program's: all, but of a library those under which it differs
-- from LuaJIT's, also those that are gone. In order, as far as keys have one.
function M.keys(content)
  local name = M.name(content)
  if not name then return tables.keys(content) end
  local keys = {}
  if name ~= "package" then compare(name, content, keys) end
  table.sort(keys, tables.before)
  return keys
end

--- A copy of a library as LuaJIT has it, for a program's changes.
-- @tab others what bodies have instead of the process's own
function M.copy(name, others)
  local copy = {}
  local content = rawget(others, name) or M.own[name]
  for key, value in tables.each(content) do copy[key] = value end
  return copy
end

return M
