-- SPDX-License-Identifier: MIT
--
-- Required modules: what a body, or a function that it calls, gets by `require "name"`.
--
-- It is judged and sent as if it were captured: the driver looks it up before the loop, and loads
-- it if need be, as the body would. What a computed name gives is not known.
-- @module meissa.capture.required

local bytecode = require "meissa.capture.bytecode"
local errors = require "meissa.base.errors"
local known = require "meissa.capture.known"
local tables = require "meissa.base.tables"
local interrupt = require "meissa.base.interrupt"

local M = {}

--- What is said of `require` where no call of it has a constant name.
M.COMPUTED = "require other than in a call with a constant name, require \"name\","

local function is_require(value)
  return type(value) == "function" and known.builtins[value] == "require"
end

M.is_require = is_require

--- How many modules were loaded here, and the name of the last.
M.loads, M.last = 0, nil

-- Why modules could not be loaded, by name.
local troubles = {}

--- What a module is, loaded if it is not yet. Of one that cannot be loaded nil, and the message
-- that `require` raises: an error only where the body reaches it.
function M.module(name)
  local module, ok = package.loaded[name], true
  if module == nil then
    M.loads, M.last = M.loads + 1, name
    ok, module = interrupt.pcall(rawget(_G, "require") or require, name)
  end
  local own = ok and type(module) == "table" and string.find(name, "^meissa%f[%z.]")
  if own and not known.is_library(module) then known.register_library(module) end
  troubles[name] = not ok and tostring(module) or nil
  if ok then return module end
  package.loaded[name] = nil -- `require` leaves a mark there, as if the body had called it
  return nil, troubles[name]
end

--- What `require` raised for a name, when it was last tried; nil if it was not, or gave a module.
function M.trouble(name)
  return package.loaded[name] == nil and troubles[name] or nil
end

--- Refuses a loop for which a module was loaded that has changed what the body captures: iterations
-- before the body's first `require` mean what it was before.
-- @tab record the loop's @tab bindings made before the module was loaded
-- @tab roots the captures' root variables now
-- Errors: DEP.
function M.check(record, bindings, roots)
  for c, capture in ipairs(record.captures) do
    local binding = bindings[c]
    local value = tables.follow(roots[c], capture.fields, binding.depth)
    if not rawequal(value, binding.value) and value == value then
      local path = table.concat({ capture.root, unpack(capture.fields, 1, binding.depth) }, ".")
      error(errors.new { code = "DEP", file = record.file, line = capture.line, message =
        string.format("loading the module '%s', which the loop requires, changes '%s': require " ..
          "it before the loop", M.last, path) }, 0)
    end
  end
end

--- The names of modules that a Lua function requires by constant names; and whether it uses
-- `require` in other ways.
-- @tab world `is_array(value)`; `field_of(table, key)` reads a field without calling anything
function M.by_function(fn, world)
  return bytecode.required(fn, world, is_require)
end

return M
