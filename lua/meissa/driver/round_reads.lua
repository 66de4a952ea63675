-- SPDX-License-Identifier: MIT
--- Which ranges a round reads at subscripts from data: the slice of its body that computes them
-- (csrc/depend/inspector.h) is run for one round, in this process, and marks them.
--
-- That holds for every round only where the subscripts depend neither on the round nor on what
-- rounds write; the second the analyser has made sure of. Too much may be marked, never too little.
-- @module meissa.driver.round_reads

local array = require "meissa.array"
local execution = require "meissa.kernel.execution"
local inspect = require "meissa.plan.inspect"
local job_operands = require "meissa.plan.operands"
local packing = require "meissa.kernel.pack"
local prefetch = require "meissa.driver.prefetch"
local versioned = require "meissa.plan.versioned"
local tables = require "meissa.base.tables"
local interrupt = require "meissa.base.interrupt"

local M = {}

-- Whether a slice's body names the variable that counts rounds.
local function names_round(run)
  local body = string.match(run.plan.prefetch.text, "\n(.*)$") or ""
  return inspect.has_name(body, run.plan.indices[1])
end

-- Which marks are those of versioned arrays: the number of the array by the number of the marks.
local function marked_versions(run)
  local found = {}
  for k, b in ipairs(run.plan.prefetch.arrays) do
    local version = run.versions.of[b]
    if version and not version.next then found[k] = version.array end
  end
  return found
end

-- Adds to a set the ranges of the elements that a block has marked.
local function add_marked(set, marks, shape)
  local pointer, inner, rows, range_of = marks.pointer, shape.inner, shape.rows, shape.range_of
  for e = 0, marks.count - 1 do
    if pointer[e] ~= 0 then
      local r = range_of[math.floor(e / inner) % rows]
      if r then set[r] = true end
    end
  end
end

-- The slice, ready to be run in this process: run_block(number), its private memory.
local function open(slice)
  local bytes, run_bytes, _, apart = packing.pack(slice.kernel, slice.bindings, slice.values, nil,
                                                 slice.basics)
  local operands, _, where = job_operands.collect(slice, apart)
  local pieces = job_operands.pieces(operands)
  local instance, memory = execution.instance(bytes, run_bytes, pieces, where)
  return execution.runner(instance, slice.grid.layout), memory
end

-- What the blocks of one round mark: {[range] = {[range] = true}}; nil where one fails.
local function run_slice(run, own, slice, versions)
  local run_block, memory = open(slice)
  local shapes, sets = {}, {}
  for k, version in tables.each(versions) do
    shapes[array.describe(own.marks[k].pending).id] = versioned.shape(run, version)
  end
  for r = 1, slice.grid.ranges[2] do
    memory:begin(r - 1)
    local ran = run_block(r - 1)
    sets[r] = {}
    for _, marks in ipairs(memory.pending) do
      if ran and shapes[marks.id] then add_marked(sets[r], marks, shapes[marks.id]) end
    end
    memory:discard()
    if not ran then return nil end
  end
  return sets
end

--- What a round reads of arrays at subscripts from data.
-- @tab run the run, cut
-- @treturn table|nil for each range the set of ranges that it reads of these arrays; nil: not known
-- @treturn table by number of a versioned array, whether it is one of them
function M.find(run)
  local plan = run.plan
  if not plan.prefetch or run.space.numeric ~= "strict" or names_round(run) then return nil end
  local versions, is_marked = marked_versions(run), {}
  if tables.next(versions) == nil then return nil end
  for _, version in tables.each(versions) do is_marked[version] = true end
  -- What fails here fails in the loop, or concerns the slice alone.
  local ok, sets = interrupt.pcall(function()
    local own, slice = prefetch.slice(run)
    return slice and run_slice(run, own, slice, versions)
  end)
  return ok and sets or nil, is_marked
end

return M
