-- SPDX-License-Identifier: MIT
--- Stages: the parts of a loop with buffers between which what is pending is merged.
--
-- csrc/plan/stage.h says what they are.
-- @module meissa.plan.stage

local array = require "meissa.array"
local buffers = require "meissa.array.buffer"
local ffi = require "ffi"

local M = {}

--- The stages of a grid: `count`; `ends`, by number from 0 the position behind the last block in
-- the plan's serial order, from 0.
function M.of(grid)
  local stages = grid.core.stages
  if stages.count == 0 then return {count = 1, ends = {[0] = grid.blocks}} end
  return {count = stages.count, ends = stages.ends}
end

-- ------------------------------------------------------------------------------------ the driver

--- What is merged after each stage, as session:run takes it.
-- @param run the loop's run @tab ids of the arrays that stand for its buffers
function M.merges(run, ids)
  local list, numbers = {}, {}
  for n, id in ipairs(ids) do numbers[id] = n end
  for k, c in ipairs(run.plan.buffers) do
    list[k] = buffers.merging(buffers.of(run.values[c]), numbers[array.describe(run.values[c]).id])
  end
  return list
end

--- Merges what the blocks of a stage have left into the arrays of the loop's buffers.
-- @param run the loop's run @tab parts by the id of a buffer's array: as merge of meissa.buffer
-- takes them @param[opt] log what core.undo gave
function M.merge(run, parts, log)
  local list = {}
  for _, c in ipairs(run.plan.buffers) do
    local left = parts[array.describe(run.values[c]).id]
    if left then list[#list + 1] = {buffer = buffers.of(run.values[c]), parts = left} end
  end
  if #list > 0 then buffers.merge(list, log) end
end

--- Whether the loop's buffers add, to arrays that can be written: then merging needs no Lua.
-- @param run the loop's run
function M.add(run)
  for _, c in ipairs(run.plan.buffers) do
    local buffer = buffers.of(run.values[c])
    local target = array.core(buffer.target)
    local there = target.id ~= 0 and target.readable == target.generation and
      target.writable == target.generation
    if not there or not buffers.adds(buffer) then return false end
  end
  return true
end

--- The arrays that merging changes.
function M.targets(run)
  local list = {}
  for _, c in ipairs(run.plan.buffers) do
    for _, target in ipairs(buffers.targets(buffers.of(run.values[c]))) do
      list[#list + 1] = target
    end
  end
  return list
end

--- The same as the core takes them.
function M.merged(run)
  local list = M.targets(run)
  for k, target in ipairs(list) do list[k] = ffi.cast("ms_array *", array.core(target)) end
  return list
end

--- All arrays that the loop changes, by itself and through buffers.
function M.changed(run)
  local list = M.targets(run)
  for c, binding in ipairs(run.bindings) do
    if binding.kind == "array" and not binding.buffers and run.plan.array_of[c].written then
      list[#list + 1] = run.values[c]
    end
  end
  return list
end

return M
