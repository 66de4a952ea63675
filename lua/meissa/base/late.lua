-- SPDX-License-Identifier: MIT
--- Late modules: what few programs need is loaded when it is asked for first.
--
--     local rounds = late(function() return require "meissa.driver.rounds" end)
--     ... rounds.run(...)
--
-- So are replicas, rounds, readers and the checker: 55 modules of 230, and 2 of the 9 ms that
-- `require "meissa"` took.
-- @module meissa.base.late

local chunks = require "meissa.base.chunks"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"

-- What modules are; what `require` has in their place while they are loaded is nothing of these.
local MODULES = {table = true, ["function"] = true, boolean = true}

-- What Ctrl-C, or too little memory, has kept from being loaded would count as such for ever.
local function forget_unfinished()
  for name, module in tables.each(package.loaded) do
    if not MODULES[type(module)] and string.match(tostring(name), "^meissa%.") then
      package.loaded[name] = nil
    end
  end
end

-- What `get` gives, loaded from where the other modules are, whatever the program has made its
-- directory and package.path since.
local function load(get)
  local outer = chunks.path
  chunks.path = system.search_paths()
  local ok, module = pcall(get)
  chunks.path = outer
  if ok then return module end
  forget_unfinished()
  error(module, 0)
end

--- A table that has what a module has, and loads it when that is asked for.
-- @func get returns the module
return function(get)
  local meta = {}
  function meta.__index(_, key)
    local module = load(get)
    meta.__index = module
    return module[key]
  end
  return setmetatable({}, meta)
end
