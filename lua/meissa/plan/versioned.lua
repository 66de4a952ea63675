-- SPDX-License-Identifier: MIT
--- What a job of rounds works on: the memory of all versions as operands, and where workers find
-- what of it (csrc/job/version.h).
-- @module meissa.plan.versioned

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local grids = require "meissa.plan.grid"
local show = require "meissa.array.show"
local tables = require "meissa.base.tables"

local M = {}

local element_size, lib = c_api.element_sizes, c_api.lib

-- How an array is written; nil where it is not, as under a condition that is never true.
local function writes_of(run, k)
  local about = run.plan.array_of[run.versions.next[k]]
  return about and about.writes
end

-- What of an array a range makes: the dimension that follows the ranges, and how; and whether all
-- that is ever written is written in each round, so that other elements are the same in all memory.
local function follow_of(run, k)
  local writes = writes_of(run, k)
  if run.versions.starts then
    return {array_dim = 1, scale = 1, offset = 0}, writes ~= nil and writes.steady
  end
  local cut = run.plan.cut_dims[#run.plan.cut_dims]
  for _, follow in ipairs(writes and writes.follow or {}) do
    if follow.loop_dim == cut then return follow, writes.steady end
  end
end

--- Whether the ranges that a plan cuts make rows of each versioned array; else the number of one
-- where they do not.
function M.stranger(run)
  for k in ipairs(run.versions.memory.arrays) do
    if writes_of(run, k) and not follow_of(run, k) then return k end
  end
end

-- Adds one piece of memory to a job's operands: its number.
local function place_memory(run, memory, slot, follow, operands)
  local number = c_api.call(lib.ms_operands_array, operands, array.core(memory), 0, nil)
  lib.ms_operands_move(operands, number, ffi.new("ms_operand_move", {
    movement = lib.ms_movement_find "versioned", slot = slot,
    depth = run.versions.memory.depth, written = slot > 0 and 1 or 0,
    array_dim = follow.array_dim - 1, cut = 1, scale = follow.scale, offset = follow.offset,
    by_number = run.versions.by_number and 1 or 0}))
  return number
end

local function product(dims, first, last)
  local count = 1
  for d = first, last do count = count * dims[d] end
  return count
end

-- Places an array's memory; what workers are told of it.
local function place_array(run, k, operands)
  local memory, depth = run.versions.memory.arrays[k], run.versions.memory.depth
  local shape = array.describe(memory.start)
  local follow, steady = follow_of(run, k)
  if not follow then follow, steady = {array_dim = 1, scale = 0, offset = 0}, false end
  local told = {ring = {}, steady = steady, scale = follow.scale, offset = follow.offset,
                starts = run.versions.starts, anew = run.versions.anew and run.versions.anew[k]}
  told.outer = product(shape.dims, 1, follow.array_dim - 1)
  told.rows = shape.dims[follow.array_dim]
  told.row = product(shape.dims, follow.array_dim + 1, #shape.dims) * element_size[shape.type]
  told.start = place_memory(run, memory.start, 0, follow, operands)
  for slot = 1, depth do
    told.ring[slot] = place_memory(run, memory.ring[slot], slot, follow, operands)
  end
  return told
end

-- ------------------------------------------------------------------------------------- read sets

-- First and last ordinal of each range along the cut dimension.
local function ordinals_of(run)
  local extent = run.plan.extents[run.plan.cut_dims[2]]
  local first, last = {}, {}
  for r = 1, run.grid.ranges[2] do
    local lo, hi = grids.values(run.grid, 2, r)
    first[r], last[r] = (lo - extent[1]) / extent[3], (hi - extent[1]) / extent[3]
  end
  return first, last
end

-- Adds to a set the ranges that meet low .. high; how many that are.
local function add_ranges(set, first, last, low, high)
  local count = 0
  for r = 1, #first do
    if first[r] <= high and last[r] >= low then
      set[r], count = true, count + 1
    end
  end
  return count
end

--- Where elements of a versioned array are: `inner`, the elements of a row; `rows` of the dimension
-- that follows the ranges, `outer` times; `range_of`, by row from 0, the range that makes it, if
-- one does.
function M.shape(run, k)
  local shape = array.describe(run.versions.memory.arrays[k].start)
  local follow = follow_of(run, k)
  local found = {range_of = {}, outer = 1, rows = shape.dims[1],
                 inner = product(shape.dims, 2, #shape.dims)}
  if not follow then return found end
  found.rows = shape.dims[follow.array_dim]
  found.outer = product(shape.dims, 1, follow.array_dim - 1)
  found.inner = product(shape.dims, follow.array_dim + 1, #shape.dims)
  for r = 1, run.grid.ranges[2] do
    local lo, hi = grids.values(run.grid, 2, r)
    local low, high = follow.scale * lo + follow.offset, follow.scale * hi + follow.offset
    if run.versions.starts then
      low, high = run.versions.starts[r], run.versions.starts[r + 1] - 1
    end
    for row = math.min(low, high), math.max(low, high) do found.range_of[row - 1] = r end
  end
  return found
end

--- Which ranges of the round before the blocks of each range may read, from what the analyser has
-- found of each place that reads (csrc/depend/round.h). Who asks again gets the same table.
-- @tab run the run, cut
-- @tab[opt] sets of each range, what it reads of arrays for which `known` is true by their number
-- @treturn table {sets = {[range] = {[range] = true}}, most = the most ranges that one reads,
-- line = of the place that reads most, full = whether each reads all}
function M.read_sets(run, sets, known)
  if not sets and run.grid.read_sets then return run.grid.read_sets end
  local first, last = ordinals_of(run)
  local found = {sets = {}, most = 0, widest = 0, full = true}
  for r = 1, #first do
    local set, count = {}, 0
    for other in tables.each(sets and sets[r] or {}) do set[other] = true end
    for _, read in ipairs(run.plan.round_reads) do
      local low = math.max(first[r] + read.least, read.sum_least - last[r])
      local high = math.min(last[r] + read.most, read.sum_most - first[r])
      local is_known = known and known[read.version]
      local width = is_known and 0 or add_ranges(set, first, last, low, high)
      if is_known then found.line = found.line or read.line end
      if width > found.widest then found.widest, found.line = width, read.line end
    end
    for _ in tables.each(set) do count = count + 1 end
    found.sets[r], found.most = set, math.max(found.most, count)
    found.full = found.full and count == #first
  end
  if not sets then run.grid.read_sets = found end
  return found
end

-- How many rounds it takes what one range makes to reach the range that is farthest from it; nil
-- where it never reaches all.
local function eccentricity(readers, from, ranges)
  local reached, count, rounds, front = {[from] = true}, 1, 0, {from}
  while #front > 0 and count < ranges do
    local next_front = {}
    for _, r in ipairs(front) do
      for _, other in ipairs(readers[r]) do
        if not reached[other] then
          reached[other], count = true, count + 1
          next_front[#next_front + 1] = other
        end
      end
    end
    front, rounds = next_front, rounds + 1
  end
  return count == ranges and rounds or nil
end

local function diameter_of(found)
  local ranges, readers, most = #found.sets, {}, 0
  for r = 1, ranges do readers[r] = {} end
  for r = 1, ranges do
    for other in tables.each(found.sets[r]) do table.insert(readers[other], r) end
  end
  for r = 1, ranges do
    local own = eccentricity(readers, r, ranges)
    if not own then return nil end
    most = math.max(most, own)
  end
  return most
end

--- The diameter of who reads whom: in how many rounds something reaches all; nil if it does not.
function M.diameter(found)
  if found.diameter == nil then found.diameter = diameter_of(found) or false end
  return found.diameter or nil
end

--- What is left of the order of rounds: "sequential", "reproducible", "bounded(a, b)" or "none", as
-- of replicas (meissa.sync.settings); and a sentence. `asked` is the request's `sync`.
function M.guarantee(asked)
  local lag, ahead = asked.lag, asked.ahead
  if lag == 0 and ahead == 0 then return "sequential", "every read is of the round before" end
  local old = lag == math.huge and "of any age" or
    string.format("up to %d round%s older than the one before", lag, lag == 1 and "" or "s")
  local words = string.format("reads are %s%s", old, ahead > 0 and ", or newer" or "")
  if asked.lags then return "reproducible", words .. ", as the lags say" end
  if lag == math.huge then return "none", words end
  return string.format("bounded(%d, %d)", ahead > 0 and -ahead or 0, lag), words
end

--- What a report says of rounds: who reads whom, what is kept, what is promised.
-- @tab found of M.read_sets @tab asked the request's `sync` @number bytes of all versions
function M.words(found, asked, bytes)
  local ranges, readers = #found.sets
  if asked.global then
    readers = "a barrier after each round"
  elseif found.full and ranges > 1 then
    local line = found.line and string.format(" (line %d)", found.line) or ""
    readers = "each range reads all" .. line
  else
    local diameter = M.diameter(found)
    readers = string.format("a range reads at most %d of %d%s", found.most, ranges,
                            diameter and string.format(", diameter %d", diameter) or "")
  end
  return {readers, string.format("%d versions, %s", asked.versions, show.bytes(bytes)),
          string.format("%s, %s", M.guarantee(asked))}
end

--- Places the memory of all versions.
-- @tab run the run, of rounds @param operands of the job (csrc/job/operands.h)
-- @treturn table what workers are told: `arrays`, of which each has the numbers of the operands
-- `start` and `ring`; `ranges` and `at`, as in the header; `filled`: all memory holds the first
-- version; `places`, to be filled
function M.place(run, operands)
  local told = {arrays = {}, places = {}, ranges = run.grid.ranges[2], filled = not run.by_value,
                at = run.versions.by_number and 0 or 2 * (run.plan.cut_dims[2] - 1),
                images = run.rounds and run.rounds.images, lags = run.lags}
  for k in ipairs(run.versions.memory.arrays) do told.arrays[k] = place_array(run, k, operands) end
  return told
end

return M
