-- SPDX-License-Identifier: MIT
--- Stages: the parts of a loop with buffers between which what is pending is merged.
--
-- Stages are consecutive blocks in the plan's serial order, as many as have at most `max_delay`
-- iterations together. Like the blocks they are a function of plan and grid alone, so the results
-- are the same for any number of workers.
-- @module meissa.plan.stage

local array = require "meissa.array"
local arrays = require "meissa.array.c_api"
local buffers = require "meissa.array.buffer"
local core = require "meissa.core"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local grids = require "meissa.plan.grid"

local M = {}

-- How many iterations a block has at most.
local function size_of(layout, number)
  local block = grids.block(layout, number)
  if block.first then return block.last - block.first + 1 end
  local size = 1
  for d, extent in ipairs(layout.extents) do
    size = size * ((block.hi[d] - block.lo[d]) / extent[3] + 1)
  end
  return size
end

local function cut(plan, grid)
  local delay, stages = plan.max_delay, {}
  if not delay or delay == math.huge then return {{first = 0, last = grid.blocks}} end
  local layout, count, open = grids.layout(grid), 0, nil
  local order = core.serial_order(plan.strategy, grid.ranges, grid.sequential)
  for position, number in ipairs(order) do
    local size = size_of(layout, number)
    if size > delay then
      errors.raise("OPT", "max_delay = %d: the smallest block that the loop can be cut into has " ..
                   "%d iterations. Make it %d, or raise the option 'grid'", delay, size, size)
    end
    if not open or count + size > delay then
      open, count = {first = position - 1}, 0
      stages[#stages + 1] = open
    end
    open.last, count = position, count + size
    open.memory = open.memory or ffi.new("uint64_t[?]", grid.blocks)
    open.memory[number] = size
  end
  -- Every stage is shared out anew among the workers.
  for _, stage in ipairs(stages) do stage.weights = ffi.cast("uint64_t *", stage.memory) end
  return stages
end

--- The stages of a loop, made once for a grid: {{first =, last =}, ...}, positions in the plan's
-- serial order from 0, `last` not included.
-- Errors: OPT when a single block has more iterations than a buffer allows.
function M.of(plan, grid)
  if not grid.stages then grid.stages = cut(plan, grid) end
  return grid.stages
end

-- ------------------------------------------------------------------------------------ the driver

--- Merges what the blocks of a stage have left into the arrays of the loop's buffers.
-- @param run the loop's run
-- @tab parts by the id of a buffer's array: as merge of meissa.buffer takes them
function M.merge(run, parts)
  local list = {}
  for _, c in ipairs(run.plan.buffers) do
    local left = parts[array.describe(run.values[c]).id]
    if left then list[#list + 1] = {buffer = buffers.of(run.values[c]), parts = left} end
  end
  buffers.merge(list)
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

-- Bytes of copies that a loop keeps for its next execution: new memory takes longer than copying.
local MOST_KEPT = 2 ^ 25

local bytes_type = ffi.typeof "char[?]"

-- A copy of an array in memory that is kept: {bytes =, size =}. Nil for arrays that do not lie in
-- one piece, or have more than `most` bytes. `old`: what this gave last time for whatever array.
local function keep_copy(old, value, most)
  local memory, about = array.core(value), array.describe(value)
  if memory.id ~= about.id or memory.readable == 0 then return nil end -- clone says what is wrong
  local whole = not about.sparse and arrays.lib.ms_array_contiguous(memory) ~= 0
  if not whole or about.bytes > most then return nil end
  local kept = old and old.size == about.bytes and old or
    {bytes = bytes_type(about.bytes + 1), size = about.bytes}
  ffi.copy(kept.bytes, memory.data, kept.size)
  return kept
end

--- Copies of all that a loop with buffers changes, to be put back if it fails: merging may fail
-- when the blocks that wrote arrays have ended. Without buffers there is nothing to remember. Good
-- until `forget`.
function M.remember(run)
  local copies, seen, later = {}, {}, {}
  if #run.plan.buffers == 0 then return copies end
  local before, room = run.record.remembered or later, MOST_KEPT
  run.record.remembered = nil -- it is in use
  for _, value in ipairs(M.changed(run)) do
    local id = array.describe(value).id
    if not seen[id] then
      seen[id] = true
      local place = #copies + 1
      local kept = keep_copy(before[place], value, room)
      room = room - (kept and kept.size or 0)
      copies[place] = {value = value, kept = kept, copy = not kept and value:clone()}
      later[place] = kept or false
    end
  end
  copies.kept = later
  return copies
end

--- Says that what `remember` gave is not needed any more: the loop's next execution may have its
-- memory.
function M.forget(run, copies)
  run.record.remembered = copies.kept
end

--- Puts back what `remember` gave.
function M.restore(copies)
  for _, each in ipairs(copies) do
    if each.kept then
      ffi.copy(array.core(each.value).data, each.kept.bytes, each.kept.size)
    else
      each.value:copy(each.copy)
    end
  end
end

return M
