-- SPDX-License-Identifier: MIT
--
-- The module without one of its rules about names: each function takes one away, and a random
-- program of spec/capture/names_random.lua must find it out.

local capture = require "meissa.capture"
local namespace = require "meissa.capture.namespace"
local search = require "meissa.capture.search"
local slot = require "meissa.capture.slot"

local Slots = getmetatable(slot.new())
local Search = getmetatable(search.new({ slots = slot.new() }))

local M = {}

-- Lets `keep` say which reads count.
local function only_reads(keep)
  return function()
    local read = Slots.read
    function Slots:read(holder, key, binding, name)
      if keep(holder, key, binding) then read(self, holder, key, binding, name) end
    end
  end
end

M["paths are other names"] = only_reads(function(_, _, binding) return binding == nil end)

M["functions read globals"] = only_reads(function(_, _, binding) return binding ~= nil end)

M["functions have environments"] = only_reads(function(holder, _, binding)
  return binding ~= nil or holder == _G
end)

M["__index tables are followed"] = only_reads(function(holder, key)
  return rawget(holder, key) ~= nil
end)

M["tables are reached as a whole"] = function()
  function Slots.reach() end
end

M["locals are seen by functions"] = function()
  function Search.assigned() end
end

M["nan is nan"] = function()
  local assigned = Search.assigned
  function Search:assigned(name, value)
    if value == value then assigned(self, name, value) end
  end
end

M["variables are looked up"] = function()
  function namespace.name() return nil end
end

M["names lead elsewhere in the next execution"] = function()
  local resolve = capture.resolve
  function capture.resolve(...)
    local bindings = resolve(...)
    bindings.moves = false
    return bindings
  end
end

M["tables have other names"] = function()
  local resolve = capture.resolve
  function capture.resolve(...)
    local bindings = resolve(...)
    for _, binding in ipairs(bindings) do binding.sole_name = binding.kind == "table" end
    return bindings
  end
end

M["constant keys are read by __index, and as globals"] = function()
  local note = slot.note_holders
  function slot.note_holders(set, holder, key)
    if key ~= nil and rawget(holder, key) ~= nil then note(set, holder, key) end
  end
end

return M
