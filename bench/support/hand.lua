-- SPDX-License-Identifier: MIT
--- Hand-written C, compiled and called block by block.
--
-- A recording of a pass knows for each block of each loop, in the plan's serial order, what the C
-- function is called with; replaying it does the pass's work on the same memory in the same order.
-- C adds what goes to a buffer to a vector of its own; taking that when a block ends and merging it
-- when a stage ends is done by the same functions of the core for both.
local array = require "meissa.array"
local buffers = require "meissa.array.buffer"
local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local grids = require "meissa.plan.grid"
local layouts = require "meissa.plan.layout"
local partition_entries = require "meissa.plan.partition_entries"
local stages = require "meissa.plan.stage"

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

local compiled = {} -- libraries by how they were compiled

--- Compiles a C text of bench/ for a row length, an element type and a mode, once in a program.
-- @tab[opt] parts files of csrc/ that it calls, a list
-- @return the library, which is kept
function M.compile(file, rank, element, mode, parts)
  local sources = {quoted(directory .. file)}
  for _, part in ipairs(parts or {}) do
    sources[#sources + 1] = quoted(directory .. "../csrc/" .. part)
  end
  local command = ("%s -std=gnu11 %s -DRANK=%d -DELEMENT=%s -I%s -shared -fPIC %s -lm -o ")
    :format(os.getenv "CC" or "cc", M.flags[mode], rank, element, quoted(directory .. "../csrc"),
            table.concat(sources, " "))
  if compiled[command] then return compiled[command] end
  local path = os.tmpname()
  assert(os.execute(command .. quoted(path)) == 0, "the compiler failed: " .. command)
  compiled[command] = ffi.load(path)
  os.remove(path)
  return compiled[command]
end

local function pointers_of(arrays)
  local list = {}
  for k, each in ipairs(arrays) do
    each = buffers.pending(each)
    if array.is_handle(each) then each = each:data() end
    list[k] = ffi.cast("void *", each)
  end
  return list
end

--- An empty recording for calls of a library's function `name`.
function M.record(library, name)
  ffi.cdef(("bench_kernel %s;"):format(name))
  return {call = library[name], loops = {}}
end

-- The buffers among what a C function takes: {buffer =, pointer =, count =, room = memory for what
-- a block puts there, parts = what blocks of the stage have put there} each.
local function buffers_of(arrays)
  local list = {}
  for _, each in ipairs(arrays) do
    if buffers.is(each) then
      local pending = array.core(buffers.pending(each))
      local count = tonumber(pending.count)
      list[#list + 1] = {buffer = each, pointer = ffi.cast("double *", pending.data),
                         count = count, parts = {},
                         room = ffi.new("char[?]", 8 * count + 16)}
    end
  end
  return list
end

--- Adds the loop that `plan` was made for. `case` has `arrays` and buffers as the C function takes
-- them, and what is to be done `after` the loop, if anything. For the entries of a sparse array,
-- its coordinates and values come before the arrays.
function M.add(recording, plan, case, numbers)
  local grid, arrays = plan.cut, case.arrays
  local layout, order = grid.layout, {}
  for number in grids.serial_order(grid) do order[#order + 1] = number end
  local list = {}
  if grid.partition then
    for d = 1, #plan.extents do
      list[d] = ffi.cast("void *", partition_entries.coords(grid.partition, d))
    end
    list[#list + 1] = ffi.cast("void *", partition_entries.values(grid.partition))
  end
  for _, pointer in ipairs(pointers_of(arrays)) do list[#list + 1] = pointer end
  local loop = {
    count = #order, blocks = ffi.new("int64_t[?]", 8 * #order + 1), grid = grid, keep = arrays,
    pointers = ffi.new("void *[?]", #list + 1, list),
    numbers = ffi.new("double[?]", #numbers + 1, numbers),
    stages = stages.of(grid), buffers = buffers_of(arrays), after = case.after,
  }
  for position, number in ipairs(order) do
    local block, at = layouts.block(layout, number), 8 * (position - 1)
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

-- Runs the blocks of a stage, from position `first` until before `behind`, in C; what they return
-- in all, added to `sum`. What they put into each buffer goes to its room.
local function run_stage(call, loop, first, behind, sum)
  local blocks, pointers, numbers = loop.blocks, loop.pointers, loop.numbers
  for k = first, behind - 1 do
    sum = sum + call(blocks + 8 * k, pointers, numbers)
    for _, each in ipairs(loop.buffers) do
      local size = c_api.lib.ms_pending_take(each.pointer, each.count, each.room)
      if size > 0 then each.parts[#each.parts + 1] = ffi.string(each.room, size) end
    end
  end
  return sum
end

-- Merges what the blocks of a stage have put into buffers.
local function merge(loop)
  local list = {}
  for b, each in ipairs(loop.buffers) do
    list[b] = {buffer = each.buffer, parts = each.parts}
    each.parts = {}
  end
  buffers.merge(list)
end

--- Does the recorded work.
-- @func clock tells the time in seconds
-- @return the sum of what the blocks return, formed as Meissa forms it
-- @return the seconds that the blocks took
function M.replay(recording, clock)
  local sum, seconds = 0, 0
  for _, loop in ipairs(recording.loops) do
    local part, first = 0, 0
    for stage = 0, loop.stages.count - 1 do
      local started, behind = clock(), loop.stages.ends[stage]
      part, first = run_stage(recording.call, loop, first, behind, part), behind
      seconds = seconds + clock() - started
      merge(loop)
    end
    sum = sum + part
    if loop.after then loop.after() end
  end
  return sum, seconds
end

return M
