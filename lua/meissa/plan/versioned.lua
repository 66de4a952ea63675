-- SPDX-License-Identifier: MIT
--- What a job of rounds works on: the memory of all versions as operands, and where workers find
-- what of it (csrc/job/version.h).
-- @module meissa.plan.versioned

local array = require "meissa.array"

local M = {}

local element_size = {float = 4, double = 8, int32 = 4, int64 = 8}

-- What of an array a range makes: the dimension that follows the ranges, and how.
local function follow_of(run, k)
  local about = run.plan.array_of[run.versions.next[k]]
  local cut = run.plan.cut_dims[#run.plan.cut_dims]
  for _, follow in ipairs(about and about.writes.follow or {}) do
    if follow.loop_dim == cut then return follow, about.writes.whole end
  end
end

--- Whether the ranges that a plan cuts make rows of each versioned array; else the number of one
-- where they do not.
function M.stranger(run)
  for k in ipairs(run.versions.memory.arrays) do
    if run.versions.next[k] and not follow_of(run, k) then return k end
  end
end

-- One piece of memory as an operand.
local function operand_of(memory, slot, depth, follow)
  local shape, core = array.describe(memory), array.core(memory)
  return {
    id = shape.id, version = 0, pointer = core.data, segment = core.store.block.segment,
    element = element_size[shape.type], dims = shape.dims, strides = shape.strides,
    movement = "versioned", slot = slot, depth = depth, written = slot > 0,
    along = follow.array_dim, cut = 2, scale = follow.scale, offset = follow.offset,
  }
end

local function product(dims, first, last)
  local count = 1
  for d = first, last do count = count * dims[d] end
  return count
end

-- Places an array's memory; what workers are told of it.
local function place_array(run, k, place)
  local memory, depth = run.versions.memory.arrays[k], run.versions.memory.depth
  local shape = array.describe(memory.start)
  local follow, whole = follow_of(run, k)
  if not follow then follow, whole = {array_dim = 1, scale = 0, offset = 0}, false end
  local told = {ring = {}, whole = whole, scale = follow.scale, offset = follow.offset}
  told.outer = product(shape.dims, 1, follow.array_dim - 1)
  told.rows = shape.dims[follow.array_dim]
  told.row = product(shape.dims, follow.array_dim + 1, #shape.dims) * element_size[shape.type]
  told.start = place(operand_of(memory.start, 0, depth, follow))
  for slot = 1, depth do
    told.ring[slot] = place(operand_of(memory.ring[slot], slot, depth, follow))
  end
  return told
end

--- Places the memory of all versions.
-- @tab run the run, of rounds @func place place(operand) gives its number
-- @treturn table what workers are told: `arrays`, of which each has the numbers of the operands
-- `start` and `ring`; `ranges` and `at`, as in the header; `filled`: all memory holds the first
-- version; `places`, to be filled
function M.place(run, place)
  local told = {arrays = {}, places = {}, ranges = run.grid.ranges[2], filled = not run.by_value,
                at = 2 * (run.plan.cut_dims[2] - 1)}
  for k in ipairs(run.versions.memory.arrays) do told.arrays[k] = place_array(run, k, place) end
  return told
end

return M
