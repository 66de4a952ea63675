-- SPDX-License-Identifier: MIT
--- Scratch arrays: working space that is each iteration's own.
--
-- A scratch array is made outside of a loop and captured by its body. What it holds when an
-- iteration begins is not defined, so whatever iterations do with it is no dependence: the
-- analysis does not see it, and it never travels. Each process that runs blocks has memory of its
-- own for it. That is filled when a block begins, with nan or the least number of an integer
-- type: so the results are the same for any number of workers even if a body reads what it has not
-- written, and such a mistake shows.
-- @module meissa.array.scratch
local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local make = require "meissa.array.make"
local tables = require "meissa.base.tables"
local ffi = require "ffi"
local interrupt = require "meissa.base.interrupt"

local M = {}

local limits = {float = 0 / 0, double = 0 / 0, int32 = -2 ^ 31, int64 = -2 ^ 53}

--- Makes a scratch array: dense, with the methods and subscripts of other arrays.
-- @param ... extents, and `{type =}`
-- @return an array
-- @usage local t = meissa.scratch(16)
-- for i in parallel(n) do for k = 1, 16 do t[k] = W[i][k] * x end A[i] = t:norm() end
-- Errors: ARR OPT.
function M.scratch(...)
  local dims, options = make.read_shape("scratch", {"type"}, ...)
  local made = make.dense(dims, make.type_number("scratch", options.type))
  array.core(made).store.scratch = 1
  return made:fill(limits[made:type()])
end

--- Whether a value is a scratch array, or a view of one.
function M.is(value)
  if not array.is(value) then return false end
  local memory = array.core(array.to_handle(value, true))
  return memory.store ~= nil and memory.store.scratch ~= 0
end

--- What a process that runs blocks must know of a scratch array, as plain data.
function M.describe(value)
  local about, memory = array.describe(value), array.core(value)
  local block = memory.store.block
  local start = about.offset - tonumber(block.offset)
  return {store = about.store, size = tonumber(block.size), start = start, type = about.type,
          dims = about.dims, strides = about.strides}
end

-- ------------------------------------------------------------------------- where blocks are run

-- Memory that this process keeps, by the number of the store.
local kept, kept_count = {}, 0
local MOST_KEPT = 32

local function memory_of(about)
  local known = kept[about.store]
  if known and known.size == about.size then return known end
  if kept_count >= MOST_KEPT then kept, kept_count = {}, 0 end
  -- Rows begin at multiples of 64 bytes here if they do in the array.
  local made, bytes = interrupt.pcall(ffi.new, "unsigned char[?]", about.size + 64)
  if not made then
    errors.raise("ARR", "out of memory for a scratch array of %d bytes", about.size)
  end
  local address = tonumber(ffi.cast("uintptr_t", bytes))
  local width = c_api.element_sizes[about.type]
  known = {size = about.size, keep = bytes, base = bytes + (-address) % 64,
           count = about.size / width, width = width,
           undefined = ffi.new(string.gsub(about.type, "^int%d+$", "%0_t") .. "[1]",
             limits[about.type])}
  kept[about.store], kept_count = known, kept_count + 1
  return known
end

--- The arrays, as kernels take them, that stand for scratch arrays in this process.
-- @tab where what `describe` gave, by the number of the array
-- @treturn table by the number of the array, with `pointer`
function M.spaces(where)
  local spaces = {}
  for a, about in tables.each(where) do
    local memory = memory_of(about)
    spaces[a] = {pointer = ffi.cast("void *", memory.base + about.start), dims = about.dims,
                 strides = about.strides, type = about.type, memory = memory}
  end
  return spaces
end

--- What makes the contents of one of `spaces` undefined, as an initializer of ms_scratch_space
-- (csrc/job/block_local.h).
function M.told(space)
  local memory = space.memory
  local content = ffi.new "uint64_t[1]"
  ffi.copy(content, memory.undefined, memory.width)
  return {memory.base, memory.count, content[0], memory.width}
end

-- ------------------------------------------------------------------------------ the plain loop

--- The iterator of a plain loop whose body uses scratch arrays: iterations find them undefined.
-- @tab list the arrays @func step the loop's iterator @param state what that takes
function M.iterate(list, step, state)
  if #list == 0 then return step, state end
  return function()
    for _, each in ipairs(list) do each:fill(limits[each:type()]) end
    return step(state)
  end
end

return M
