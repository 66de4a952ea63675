-- SPDX-License-Identifier: MIT
--- Stages: the parts of a loop with buffers between which what is pending is merged.
--
-- csrc/sync/stage.h says what they are. They are found once for a grid.
-- @module meissa.plan.stage

local array = require "meissa.array"
local arrays = require "meissa.array.c_api"
local buffers = require "meissa.array.buffer"
local core = require "meissa.core"
local ffi = require "ffi"
local layouts = require "meissa.plan.layout"

local M = {}

-- How many iterations a block has at most.
local function size_of(layout, number)
  local block = layouts.block(layout, number)
  if block.first then return block.last - block.first + 1 end
  local size = 1
  for d, extent in ipairs(layout.extents) do
    size = size * ((block.hi[d] - block.lo[d]) / extent[3] + 1)
  end
  return size
end

local words, sizes_type = ffi.typeof "uint32_t[?]", ffi.typeof "uint64_t[?]"

local function cut(plan, grid)
  local delay = plan.max_delay
  if not delay or delay == math.huge then return {count = 1, ends = {[0] = grid.blocks}} end
  local layout, blocks, position = layouts.of(grid), grid.blocks, 0
  local order, sizes, ends = words(blocks), sizes_type(blocks), words(blocks)
  for number in core.serial_order(plan.strategy, grid.ranges, grid.sequential) do
    order[position], sizes[number], position = number, size_of(layout, number), position + 1
  end
  local count = arrays.call(arrays.lib.ms_stages_cut, order, blocks, sizes, delay, ends)
  return {count = tonumber(count), ends = ends, order = order, sizes = sizes,
          pointers = {ends = ffi.cast("uint32_t *", ends), order = ffi.cast("uint32_t *", order),
                      sizes = ffi.cast("uint64_t *", sizes)}}
end

--- The stages of a loop: `count`; `ends`, by number from 0 the position behind the last block in
-- the plan's serial order, from 0; if it was cut, `pointers` to `ends`, `order` and `sizes` for the
-- core.
-- Errors: OPT when a single block has more iterations than a buffer allows.
function M.of(plan, grid)
  if not grid.stages then grid.stages = cut(plan, grid) end
  return grid.stages
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
