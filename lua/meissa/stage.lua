-- SPDX-License-Identifier: MIT
--- Stages: the parts of a loop with buffers between which what is pending is merged.
--
-- Stages are consecutive blocks in the plan's serial order, as many as have at most `max_delay`
-- iterations together. Like the blocks they are a function of plan and grid alone, so the results
-- are the same for any number of workers.
-- @module meissa.stage

local array = require "meissa.array"
local buffers = require "meissa.buffer"
local core = require "meissa.core"
local errors = require "meissa.errors"
local tables = require "meissa.tables"
local ffi = require "ffi"
local grids = require "meissa.grid"

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

-- ------------------------------------------------------------------------- where blocks are run

ffi.cdef "void *calloc(size_t count, size_t size); void free(void *memory);"

-- Copies that this process keeps for its blocks, by the number of the buffer's array. All zero.
local kept, kept_count = {}, 0
local MOST_KEPT = 32

local function copy_of(about)
  local known = kept[about.id]
  if known and known.count == about.count then return known end
  if kept_count >= MOST_KEPT then kept, kept_count = {}, 0 end
  local memory = ffi.C.calloc(about.count + 1, 8)
  if memory == nil then
    errors.raise("ARR", "out of memory for what a block puts into a buffer of %d elements",
                 about.count)
  end
  known = {count = about.count, memory = ffi.gc(memory, ffi.C.free),
           pointer = ffi.cast("double *", memory)}
  kept[about.id], kept_count = known, kept_count + 1
  return known
end

--- The arrays, as kernels take them, for what a block puts into buffers.
-- @tab where what collect of meissa.items tells
-- @treturn table by the number of the array, with `pointer` and `count`; nil if there are none
function M.copies(where)
  local copies
  for a, about in tables.each(where.pending) do
    local copy = copy_of(about)
    copies = copies or {}
    copies[a] = {id = about.id, pointer = copy.pointer, dims = about.dims, marks = about.marks,
                 strides = about.strides, type = "double", count = copy.count,
                 memory = copy.memory}
  end
  return copies
end

--- Appends what a block has put into the copies to a string buffer: ids of arrays, each with its
-- bytes. The copies are zero again.
function M.take(copies, room)
  for _, copy in tables.each(copies) do
    local take = copy.marks and buffers.take_marks or buffers.take
    local bytes = take(copy.pointer, copy.count)
    if bytes ~= "" then room:encode(copy.id):encode(bytes) end
  end
end

--- After an error in a block: nothing of it is to be seen by the next.
function M.discard(copies)
  for _, copy in tables.each(copies or {}) do ffi.fill(copy.pointer, 8 * copy.count) end
end

-- ------------------------------------------------------------------------------------ the driver

--- Merges what the blocks of a stage have left into the arrays of the loop's buffers.
-- @param run the loop's run
-- @tab parts in the order of the blocks: bytes by the id of the array
function M.merge(run, parts)
  for _, c in ipairs(run.plan.buffers) do
    local id, list = array.describe(run.values[c]).id, {}
    for _, each in ipairs(parts) do list[#list + 1] = each[id] end
    buffers.merge(buffers.of(run.values[c]), list)
  end
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

-- Elements of the copies that a plan keeps for its next execution: new memory takes longer than
-- copying so few.
local MOST_REMEMBERED = 2 ^ 20

-- A copy of an array, which may be the one that was made when the plan was executed before.
local function copy_again(old, value, about)
  if not old or about.sparse or old:type() ~= value:type() then return value:clone() end
  local dims = array.describe(old).dims
  for d = 1, math.max(#dims, #about.dims) do
    if dims[d] ~= about.dims[d] then return value:clone() end
  end
  old:copy(value)
  return old
end

--- Copies of all that a loop with buffers changes, to be put back if it fails: merging may fail
-- when the blocks that wrote arrays have ended. Without buffers there is nothing to remember. Good
-- until the plan is executed again.
function M.remember(run)
  local copies, seen, later = {}, {}, {}
  if #run.plan.buffers == 0 then return copies end
  local before = run.plan.remembered or later
  for _, value in ipairs(M.changed(run)) do
    local about = array.describe(value)
    if not seen[about.id] then
      seen[about.id] = true
      local place = #copies + 1
      local copy = copy_again(before[place], value, about)
      copies[place] = {value = value, copy = copy}
      later[place] = not about.sparse and about.count <= MOST_REMEMBERED and copy or false
    end
  end
  run.plan.remembered = later
  return copies
end

--- Puts back what `remember` gave.
function M.restore(copies)
  for _, each in ipairs(copies) do each.value:copy(each.copy) end
end

return M
