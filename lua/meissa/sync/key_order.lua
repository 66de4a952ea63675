-- SPDX-License-Identifier: MIT
--- The order in which code of replicas visits keys: that of the keys, whichever process runs it.
--
-- While it runs, the program's globals `pairs` and `next` go by the keys, for the modules and
-- methods that it calls, too; those that the program has replaced stay. What is captured under
-- another name is replaced in copies of functions. State of every process; one thread.
-- @module meissa.sync.key_order

local builtin = require "meissa.base.builtin"
local strict = require "meissa.base.strict"

local M = {}

local NAMES = {"pairs", "next"}

--- What goes by the keys in the place of a value; nil for all but `pairs` and `next`.
function M.of(value)
  if type(value) ~= "function" then return nil end
  local library, name = builtin.find(value)
  return library == "_G" and (name == "pairs" or name == "next") and strict[name] or nil
end

--- Has the program's globals go by the keys; what `leave` is to put back.
function M.enter()
  local outer = {}
  for _, name in ipairs(NAMES) do
    local value = rawget(_G, name)
    if M.of(value) == strict[name] then
      outer[name] = value
      rawset(_G, name, strict[name])
    end
  end
  return outer
end

--- Puts them back.
function M.leave(outer)
  for _, name in ipairs(NAMES) do
    if outer[name] then rawset(_G, name, outer[name]) end
  end
end

--- The same function over the same variables, but that those which hold `pairs` or `next` hold what
-- goes by the keys, for it and for the functions that it makes.
function M.copy(fn)
  local made
  for index = 1, math.huge do
    local name, value = debug.getupvalue(fn, index)
    if not name then break end
    if M.of(value) then made = made or setfenv(loadstring(string.dump(fn)), getfenv(fn)) end
  end
  for index = 1, made and math.huge or 0 do
    local name, value = debug.getupvalue(fn, index)
    if not name then break end
    if M.of(value) then
      debug.setupvalue(made, index, M.of(value))
    else
      debug.upvaluejoin(made, index, fn, index)
    end
  end
  return made or fn
end

return M
