-- SPDX-License-Identifier: MIT
--- The hand-written C of bench/kernels.c, compiled and called block by block.
--
-- A recording of a pass knows for each block of each loop, in the plan's serial order, what the C
-- function is called with; replaying it does the pass's work on the same memory in the same order.
local array = require "meissa.array"
local ffi = require "ffi"
local grids = require "meissa.grid"
local job = require "meissa.job"
local partitions = require "meissa.partition"

ffi.cdef [[
typedef double bench_kernel(const int64_t *block, void *const *pointers, const double *numbers);
]]

local M = {}

--- The compiler's flags of each mode; the native engine's are meant to be the same.
M.flags = {
  strict = "-O3 -march=native -ffp-contract=off -fno-tree-slp-vectorize -fno-math-errno "
    .. "-fno-trapping-math",
  fast = "-O3 -march=native -fassociative-math -fno-signed-zeros -fno-trapping-math " ..
    "-fno-math-errno -ffp-contract=fast -DFAST",
}

local directory = (arg[0]:match("^(.*/)") or "./")

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- Compiles the C text for a row length, an element type and a mode.
-- @return the library, to be kept as long as functions of it are called
function M.compile(rank, element, mode)
  local path = os.tmpname()
  local command = ("%s -std=gnu11 %s -DRANK=%d -DELEMENT=%s -shared -fPIC -o %s %s -lm"):format(
    os.getenv "CC" or "cc", M.flags[mode], rank, element, quoted(path),
    quoted(directory .. "kernels.c"))
  assert(os.execute(command) == 0, "the compiler failed: " .. command)
  local library = ffi.load(path)
  os.remove(path)
  return library
end

local function pointers_of(arrays)
  local list = {}
  for k, each in ipairs(arrays) do
    if array.is_handle(each) then each = each:data() end
    list[k] = ffi.cast("void *", each)
  end
  return list
end

-- The grid that a plan was run with last.
local function grid_of(plan)
  local _, grid = next(plan.grids)
  return grid
end

--- An empty recording for calls of a library's function `name`.
function M.record(library, name)
  ffi.cdef(("bench_kernel %s;"):format(name))
  return {call = library[name], loops = {}}
end

--- Adds the loop that `plan` was made for: arrays and numbers as the C function takes them. For the
-- entries of a sparse array, its coordinates and values come before the arrays.
function M.add(recording, plan, arrays, numbers)
  local grid = grid_of(plan)
  local layout, order = grids.layout(grid), job.serial_order(plan, grid)
  local list = {}
  if grid.partition then
    for d = 1, #plan.extents do
      list[d] = ffi.cast("void *", partitions.coords(grid.partition, d))
    end
    list[#list + 1] = ffi.cast("void *", partitions.values(grid.partition))
  end
  for _, pointer in ipairs(pointers_of(arrays)) do list[#list + 1] = pointer end
  local loop = {
    count = #order, blocks = ffi.new("int64_t[?]", 8 * #order + 1), grid = grid, keep = arrays,
    pointers = ffi.new("void *[?]", #list + 1, list),
    numbers = ffi.new("double[?]", #numbers + 1, numbers),
  }
  for position, number in ipairs(order) do
    local block, at = grids.block(layout, number), 8 * (position - 1)
    if block.first then
      loop.blocks[at], loop.blocks[at + 1] = block.first, block.last
    else
      for d = 1, #block.lo do
        loop.blocks[at + 2 * d - 2], loop.blocks[at + 2 * d - 1] = block.lo[d], block.hi[d]
      end
    end
  end
  recording.loops[#recording.loops + 1] = loop
end

--- Does the recorded work; the sum of what the blocks return, formed as Meissa forms it.
function M.replay(recording)
  local call, sum = recording.call, 0
  for _, loop in ipairs(recording.loops) do
    local blocks, pointers, numbers = loop.blocks, loop.pointers, loop.numbers
    for k = 0, loop.count - 1 do sum = sum + call(blocks + 8 * k, pointers, numbers) end
  end
  return sum
end

return M
