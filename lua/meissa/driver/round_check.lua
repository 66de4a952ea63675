-- SPDX-License-Identifier: MIT
--- The option `check = true` of rounds: what blocks read and write, held to what the plan says.
--
-- Each block of the first round is run twice in this process, the second time with everything that
-- it is said not to read replaced by nan: it has to leave the same bits. And it has to write rows
-- of its own range only. Other arrays that the loop writes are put back after each block.
-- @module meissa.driver.round_check

local array = require "meissa.array"
local errors = require "meissa.base.errors"
local execution = require "meissa.kernel.execution"
local failures = require "meissa.driver.failure"
local ffi = require "ffi"
local job_operands = require "meissa.plan.operands"
local kernel = require "meissa.kernel"
local versioned = require "meissa.plan.versioned"

local M = {}

local POISON = {float = 0 / 0, double = 0 / 0, int32 = 2 ^ 31 - 1, int64 = 2 ^ 53}

-- Ends a block that is to leave nothing.
local UNDO = {}

-- A version's memory as bytes, and the size of a row.
local function bytes_of(memory)
  local about = array.describe(memory)
  return ffi.cast("char *", array.core(memory).data), about.bytes
end

-- Runs a block and puts back all but versions: what it leaves, as a string; nil and its error.
local function run_block(run, job, block, poison)
  local left, failure
  local ok, err = pcall(failures.undo_here, run, job.key, job.operands, function()
    local versions = job.instance.versions
    versions:begin(block)
    for k, memory in ipairs(poison or {}) do
      versions.arrays[k - 1].last = array.core(memory).data
    end
    left, failure = job.run_block(block)
    error(UNDO, 0)
  end)
  if not ok and err ~= UNDO then error(err, 0) end
  if not left then return nil, failure end
  local parts = {left}
  for k, each in ipairs(run.versions.memory.arrays) do
    parts[k + 1] = ffi.string(bytes_of(each.ring[1]))
  end
  return table.concat(parts, "\0"), parts
end

-- The start of each array without what a range does not read.
local function poison_of(run, set)
  local list = {}
  for k, each in ipairs(run.versions.memory.arrays) do
    local copy = each.start:clone()
    local shape, core = versioned.shape(run, k), array.core(copy)
    local elements = ffi.cast(array.describe(copy).type == "float" and "float *" or
      array.describe(copy).type == "double" and "double *" or
      array.describe(copy).type == "int32" and "int32_t *" or "int64_t *", core.data)
    for e = 0, array.describe(copy).count - 1 do
      local r = shape.range_of[math.floor(e / shape.inner) % shape.rows]
      if r and not set[r] then elements[e] = POISON[array.describe(copy).type] end
    end
    list[k] = copy
  end
  return list
end

-- Whether a block has changed what is none of its rows.
local function strays(run, r, k, before, after)
  local shape = versioned.shape(run, k)
  local size = #before / (shape.outer * shape.rows)
  for row = 0, shape.outer * shape.rows - 1 do
    local own = shape.range_of[row % shape.rows] == r
    local first, last = row * size + 1, (row + 1) * size
    if not own and string.sub(before, first, last) ~= string.sub(after, first, last) then
      return true
    end
  end
  return false
end

local function describe_range(run, r)
  return failures.describe_block(run, run.grid.layout, r - 1)
end

local function check_block(run, job, r, sets)
  local before = {}
  for k, each in ipairs(run.versions.memory.arrays) do
    before[k] = ffi.string(bytes_of(each.ring[1]))
  end
  local right, parts = run_block(run, job, r - 1)
  if not right then return false end -- the loop will tell of that
  for k in ipairs(run.versions.memory.arrays) do
    if strays(run, r, k, before[k], parts[k + 1]) then
      errors.raise("BUG", "%s writes elements of array %d of meissa.iterate that are of another " ..
                   "range, which its plan does not predict. Please report it with the loop's text",
                   describe_range(run, r), k)
    end
  end
  if run_block(run, job, r - 1, poison_of(run, sets[r])) ~= right then
    errors.raise("BUG", "%s reads elements of ranges that its plan does not predict. Please " ..
                 "report it with the loop's text", describe_range(run, r))
  end
  return true
end

--- Checks the first round of a run that is ready.
-- @tab run the run @tab found its read sets
-- Errors: BUG.
function M.check(run, found)
  local bytes, run_bytes, key, apart = kernel.pack(run.kernel, run.bindings, run.values, nil,
                                                   run.basics)
  local by_value = run.by_value
  run.by_value = false
  local operands, _, where = job_operands.collect(run, apart)
  run.by_value = by_value
  where.versions.images = nil
  local pieces = job_operands.pieces(operands)
  local instance = execution.instance(bytes, run_bytes, pieces, where, run.draws,
                                      run.grid.layout, 0)
  local job = {key = key, operands = operands, instance = instance,
               run_block = execution.runner(instance, run.grid.layout)}
  for r = 1, run.grid.ranges[2] do
    if not check_block(run, job, r, found.sets) then break end
  end
  for _, each in ipairs(run.versions.memory.arrays) do
    for _, memory in ipairs(each.ring) do memory:copy(each.start) end
  end
end

return M
