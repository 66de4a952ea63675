-- SPDX-License-Identifier: MIT
--- Private memory: what blocks have to themselves where they are run (csrc/job/block_local.h).
--
-- For each buffer that a loop captures a process that runs blocks has a vector, zero when a block
-- begins; for each scratch array it has memory that is undefined then; for each replica its copy.
-- All are kept from one job to the next.
-- @module meissa.kernel.block_local

local buffers = require "meissa.array.buffer"
local c_core = require "meissa.base.c_core"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local scratches = require "meissa.array.scratch"
local tables = require "meissa.base.tables"

local M = {}

c_core.cdef("private", [[
void *meissa_calloc(size_t count, size_t size) __asm__("calloc");
void meissa_free(void *memory) __asm__("free");
]])
local lib = c_core.lib

-- Elements to a word of marks: MS_TOUCHED_UNIT * 8.
local MARKED = 512

-- Vectors that this process keeps for its blocks, by the number of the buffer's array. All zero.
local kept, kept_count = {}, 0
local MOST_KEPT = 32

local function vector_of(about)
  local known = kept[about.id]
  if known and known.count == about.count then return known end
  if kept_count >= MOST_KEPT then kept, kept_count = {}, 0 end
  local memory = ffi.C.meissa_calloc(about.count + 1, 8)
  local marks = ffi.C.meissa_calloc(math.floor(about.count / MARKED) + 2, 8)
  memory, marks = ffi.gc(memory, ffi.C.meissa_free), ffi.gc(marks, ffi.C.meissa_free)
  if memory == nil or marks == nil then
    errors.raise("ARR", "out of memory for what a block puts into a buffer of %d elements",
                 about.count)
  end
  known = {count = about.count, memory = {memory, marks}, pointer = ffi.cast("double *", memory),
           touched = ffi.cast("uint8_t *", marks)}
  kept[about.id], kept_count = known, kept_count + 1
  return known
end

-- Memory for copies, by the number of the array that stands for one.
local copies, copy_count = {}, 0

local function copy_of(about)
  local known = copies[about.id]
  if known and known.size == about.size then return known.pointer end
  if copy_count >= MOST_KEPT then copies, copy_count = {}, 0 end
  local memory = ffi.C.meissa_calloc(about.size + 64, 1)
  if memory == nil then
    errors.raise("ARR", "out of memory for a replica of %d bytes", about.size)
  end
  memory = ffi.gc(memory, ffi.C.meissa_free)
  local address = tonumber(ffi.cast("uintptr_t", memory))
  known = {size = about.size, memory = memory,
           pointer = ffi.cast("char *", memory) + (-address) % 64}
  copies[about.id], copy_count = known, copy_count + 1
  return known.pointer
end

-- The replicas of a job's blocks, as an array of ms_replica_space, and how many; their copies are
-- put among `arrays`.
local function replicas_of(where, operands, arrays)
  local list, seen = {}, {}
  for a, about in tables.each(where.replica) do
    local pointer = copy_of(about)
    arrays[a] = {id = about.id, pointer = pointer, dims = about.dims, strides = about.strides,
                 type = about.type, keep = copies[about.id]}
    if about.operand and not seen[about.id] then
      list[#list + 1] = {ffi.cast("void *", pointer),
                         ffi.cast("const char *", operands[about.operand].pointer), about.size,
                         about.count, about.number - 1}
    end
    seen[about.id] = true
  end
  return ffi.new("ms_replica_space[?]", #list + 1, list), #list
end

local Private = {}
Private.__index = Private

--- The private memory of a job's blocks, nil if they have none: `arrays`, by number, as kernels
-- take them (what a kernel marks there, only these vectors have: see kernel/init.lua); `core`, an
-- ms_block_local; and `pending`, the vectors in the order of the buffers:
-- {id =, pointer =, count =, marks =} each.
-- @tab where what collect of meissa.plan.operands tells @tab operands of the job
function M.of(where, operands)
  local arrays = scratches.spaces(where.scratch)
  local spaces, pending, list, told = {}, {}, {}, {}
  for _, space in tables.each(arrays) do spaces[#spaces + 1] = scratches.told(space) end
  for a, about in tables.each(where.pending) do
    local vector = vector_of(about)
    arrays[a] = {id = about.id, pointer = vector.pointer, dims = about.dims,
                 strides = about.strides, type = "double", touched = vector.touched}
    told[#told + 1] = {array = arrays[a], number = about.number}
    pending[about.number] = {vector.pointer, about.count, about.marks and 1 or 0}
    list[about.number] = {id = about.id, pointer = vector.pointer, count = about.count,
                          marks = about.marks, keep = vector.memory}
  end
  local replicas, replica_count = replicas_of(where, operands, arrays)
  if tables.next(arrays) == nil and not where.posts then return nil end
  local self = setmetatable({arrays = arrays, pending = list, replicas = replicas}, Private)
  self.scratch_spaces = ffi.new("ms_scratch_space[?]", #spaces + 1, spaces)
  self.pending_spaces = ffi.new("ms_pending_space[?]", #pending + 1, pending)
  for _, each in ipairs(told) do each.array.pending = self.pending_spaces + (each.number - 1) end
  self.core = ffi.new("ms_block_local", self.scratch_spaces, self.pending_spaces, replicas, #spaces,
                      #pending, replica_count)
  return self
end

--- Before a block that this process runs outside of a job.
function Private:begin(block)
  lib.ms_block_local_begin(self.core, block)
end

--- After such a block: copies what its replicas hold to its rows, by the number of a buffer.
function Private:take_replicas(block, into)
  for r = 0, self.core.replica_count - 1 do
    local space = self.replicas[r]
    local rows = into[space.number + 1]
    ffi.copy(rows.pointer + block * rows.size, space.elements, rows.size)
  end
end

--- After such a block: adds the elements that it has put into each buffer to the lists in `parts`,
-- by the id of the buffer's array.
function Private:take(parts)
  for _, each in ipairs(self.pending) do
    local bytes = buffers.take(each.pointer, each.count)
    if bytes ~= "" then
      local list = parts[each.id] or {}
      parts[each.id] = list
      list[#list + 1] = bytes
    end
  end
end

--- Discards the block-local memory of a block that has failed.
function Private:discard()
  lib.ms_block_local_discard(self.core)
end

return M
