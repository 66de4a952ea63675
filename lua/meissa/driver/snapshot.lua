-- SPDX-License-Identifier: MIT
--- Snapshots: what a loop of several jobs may change, as it was before the first of them.
-- @module meissa.driver.snapshot

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local failures = require "meissa.driver.loop_failure"
local ffi = require "ffi"
local interrupt = require "meissa.base.interrupt"
local stages = require "meissa.plan.stage"

local M = {}

--- What a loop may change, as it is, but for arrays of which it makes versions: a list of functions
-- that put it back.
-- @tab run the loop's run @tab groups of its replicas
function M.take(run, groups)
  local list = {}
  for c, binding in ipairs(run.bindings) do
    local own = not (run.versions and run.versions.of[c])
    local value = own and binding.kind == "array" and run.values[c]
    if value and binding.sparse and run.plan.array_of[c].written then
      local memory, about = array.core(value), array.describe(value)
      local size = about.count * c_api.element_sizes[about.type]
      local kept = ffi.string(memory.data, size)
      list[#list + 1] = function() ffi.copy(memory.data, kept, size) end
    elseif value and not (binding.scratch or binding.buffers) and run.plan.array_of[c].written then
      local kept = value:clone()
      list[#list + 1] = function() value:copy(kept) end
    end
  end
  for _, target in ipairs(stages.targets(run)) do
    local kept = target:clone()
    list[#list + 1] = function() target:copy(kept) end
  end
  for _, group in ipairs(groups) do
    local begun, drawn = group.begun, group.drawn
    list[#list + 1] = function() group.begun, group.drawn = begun, drawn end
    for _, member in ipairs(group.keeps and group.members or {}) do
      local kept = member.rows:clone()
      list[#list + 1] = function() member.rows:copy(kept) end
    end
  end
  return list
end

--- Calls fn; if it raises, what the snapshot has is put back, or lost where there is none.
-- @tab run of a loop, or what a loop in rounds is: its `kept` is the snapshot, as it is when fn
-- raises; `held` says whether Ctrl-C is held then
-- Errors: what fn raises; INT.
function M.attempt(run, fn)
  local ok, err = pcall(fn)
  if ok then return end
  if run.held then interrupt.release() end
  for _, put_back in ipairs(run.kept or {}) do put_back() end
  if interrupt.is(err) then
    err = errors.new {code = "INT", message = "interrupted", file = run.record.file,
                      line = run.record.line}
  end
  if not run.kept then failures.invalidate(run, err) end
  error(err, 0)
end

return M
