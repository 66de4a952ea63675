-- SPDX-License-Identifier: MIT
--
-- The module without a part of its proof that objects keep what their methods store: each function
-- takes one away, and a random program of spec/capture/objects_random.lua must find it out.

local core = require "meissa.core"
local ownership = require "meissa.capture.ownership"
local search = require "meissa.capture.search"
local slot = require "meissa.capture.slot"

local Search = getmetatable(search.new({ slots = slot.new() }))

local M = {}

M["classes may lose what they store"] = function()
  function Search.is_kept() return true end
end

M["metatables lead to classes"] = function()
  function ownership.reaches() return false end
end

M["outer tables escape"] = function()
  function ownership.is_kept() return true end
end

-- All classes are taken for kept, where the analyser is told.
M["the analyser is told"] = function()
  local plan = core.plan
  function core.plan(loop, bindings, space)
    for _, binding in ipairs(bindings) do
      if binding.kind == "table" then binding.kept, binding.changes = true, false end
    end
    return plan(loop, bindings, space)
  end
end

return M
