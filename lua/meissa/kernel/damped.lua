-- SPDX-License-Identifier: MIT
--- Damped arrays where blocks are run: of what a replica's part of a round has changed in its rows
-- of an array, they keep a part (`damp` of a merge; meissa.plan.damping says which rows).
-- @module meissa.kernel.damped

local ffi = require "ffi"

local M = {}

local Damped = {}
Damped.__index = Damped

--- The damped arrays of a job; nil if it has none.
-- @tab where what collect of meissa.plan.operands tells @tab arrays as kernels take them
function M.of(where, arrays)
  local told = where.damped
  if not told then return nil end
  local list = {}
  for d, each in ipairs(told) do
    local memory = arrays[each.array]
    list[d] = {pointer = ffi.cast(each.type .. " *", memory.pointer), dims = memory.dims,
               strides = memory.strides, dim = each.dim, first = each.first, last = each.last,
               gamma = each.gamma}
  end
  return setmetatable({list = list, replicas = told.replicas}, Damped)
end

-- Calls fn(pointer, stride, count, place) for each row of elements along the last dimension that
-- are replica k's, the first of which has this place among all of these.
local function each_run(about, k, fn)
  local dims, strides, last = about.dims, about.strides, #about.dims
  local place = 0
  local function go(d, pointer)
    local from, to = 0, dims[d] - 1
    if d == about.dim then from, to = about.first[k] - 1, about.last[k] - 1 end
    if d == last then
      if to >= from then fn(pointer + from * strides[d], strides[d], to - from + 1, place) end
      place = place + math.max(0, to - from + 1)
      return
    end
    for i = from, to do go(d + 1, pointer + i * strides[d]) end
  end
  go(1, about.pointer)
end

-- How many elements of an array are replica k's.
local function count_of(about, k)
  local count = 1
  for d, rows in ipairs(about.dims) do
    count = count * (d == about.dim and math.max(0, about.last[k] - about.first[k] + 1) or rows)
  end
  return count
end

--- Before a block.
function Damped:begin(block)
  local k = block % self.replicas + 1
  for _, about in ipairs(self.list) do
    local kept = ffi.new("double[?]", count_of(about, k))
    each_run(about, k, function(pointer, stride, count, place)
      for i = 0, count - 1 do kept[place + i] = pointer[i * stride] end
    end)
    about.kept = kept
  end
end

--- After a block that failed: what it has changed is undone with the loop.
function Damped.leave() end

--- After one that succeeded.
function Damped:finish(block)
  local k = block % self.replicas + 1
  for _, about in ipairs(self.list) do
    local kept, gamma = about.kept, about.gamma
    each_run(about, k, function(pointer, stride, count, place)
      for i = 0, count - 1 do
        local old = kept[place + i]
        pointer[i * stride] = old + gamma * (pointer[i * stride] - old)
      end
    end)
  end
end

return M
