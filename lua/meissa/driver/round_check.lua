-- SPDX-License-Identifier: MIT
--- The option `check = true` of rounds: what blocks read and write, held to what the plan says.
--
-- Each block of the first round is run twice in this process, the second time with everything that
-- it is said not to read replaced by nan: it has to leave the same bits. And it has to write rows
-- of its own range only. Other arrays that the loop writes are put back after each block. What no
-- round writes may be read by anybody: where a block leaves other bits, only what the first rounds
-- write is replaced, and it is run once more.
-- @module meissa.driver.round_check

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local execution = require "meissa.kernel.execution"
local failures = require "meissa.driver.loop_failure"
local ffi = require "ffi"
local job_operands = require "meissa.plan.operands"
local packing = require "meissa.kernel.pack"
local tables = require "meissa.base.tables"
local versioned = require "meissa.plan.versioned"

local M = {}

ffi.cdef 'int meissa_memcmp(const void *, const void *, size_t) __asm__("memcmp");'

local POISON = {float = 0 / 0, double = 0 / 0, int32 = 2 ^ 31 - 1, int64 = 2 ^ 53}

-- Pointers to elements of these types, as integers of the same size: bits are compared.
local BITS = {float = "int32_t *", double = "int64_t *", int32 = "int32_t *", int64 = "int64_t *"}

-- Rounds that are looked at for what is written.
local ROUNDS = 8

-- Ends a block that is to leave nothing.
local UNDO = {}

local function pointer_of(memory)
  return ffi.cast("char *", array.core(memory).data)
end

-- Where the rows of each range are in an array's memory, in bytes: {[range] = {{at, size}, ...}};
-- under 0 those of no range. `behind`: where the memory ends.
local function pieces_of(run, k)
  local shape = versioned.shape(run, k)
  local about = array.describe(run.versions.memory.arrays[k].start)
  local size = about.bytes / (shape.outer * shape.rows)
  local pieces, owner = {behind = about.bytes}, nil
  for row = 0, shape.outer * shape.rows - 1 do
    local r = shape.range_of[row % shape.rows] or 0
    pieces[r] = pieces[r] or {}
    local list = pieces[r]
    if r == owner then
      list[#list][2] = list[#list][2] + size
    else
      list[#list + 1], owner = {row * size, size}, r
    end
  end
  return pieces
end

local function copy_rows(to, from, pieces, r)
  for _, piece in ipairs(pieces[r] or {}) do ffi.copy(to + piece[1], from + piece[1], piece[2]) end
end

-- A range's rows as a string.
local function rows_of(memory, pieces, r)
  local list = {}
  for k, piece in ipairs(pieces[r] or {}) do list[k] = ffi.string(memory + piece[1], piece[2]) end
  return table.concat(list)
end

-- Whether two pieces of memory, a and b, are the same but for a range's rows.
local function same_beside(a, b, pieces, r)
  local from = 0
  for _, piece in ipairs(pieces[r] or {}) do
    if ffi.C.meissa_memcmp(a + from, b + from, piece[1] - from) ~= 0 then return false end
    from = piece[1] + piece[2]
  end
  return ffi.C.meissa_memcmp(a + from, b + from, pieces.behind - from) == 0
end

-- Poisons the rows of all ranges in the memory that blocks read.
local function hide_all(run, own)
  for r = 1, run.grid.ranges[2] do copy_rows(own.poisoned, own.bad, own.pieces, r) end
end

-- For each array: where the rows of ranges are (`pieces`), its contents before the loop (`start`),
-- poison everywhere (`bad`), and memory in which only those rows are whole that a block is said to
-- read (`poisoned`).
local function begin(run)
  local list = {}
  for k, each in ipairs(run.versions.memory.arrays) do
    local bad, poisoned = each.start:clone(), each.start:clone()
    bad:fill(POISON[array.describe(bad).type])
    local own = {pieces = pieces_of(run, k), start = pointer_of(each.start), bad = pointer_of(bad),
                 poisoned = pointer_of(poisoned), made = pointer_of(each.ring[1]),
                 keep = {bad, poisoned}}
    hide_all(run, own)
    list[k] = own
  end
  return list
end

-- Puts the rows of a set of ranges into the poisoned memory; `hidden`: poison in their place.
local function show(arrays, set, hidden)
  for _, own in ipairs(arrays) do
    for r in tables.each(set) do
      copy_rows(own.poisoned, hidden and own.bad or own.start, own.pieces, r)
    end
  end
end

-- Runs a block, and puts back what it changes but for versions: what it leaves and its rows, as a
-- string; nil if it fails.
local function run_block(run, job, r, arrays, poisoned)
  local left
  local ok, err = pcall(failures.undo_here, run, job.key, job.operands, function()
    local versions = job.instance.versions
    versions:begin(r - 1)
    for k, own in ipairs(poisoned and arrays or {}) do
      versions.arrays[k - 1].last = own.poisoned
    end
    left = job.run_block(r - 1)
    error(UNDO, 0)
  end)
  if not ok and err ~= UNDO then error(err, 0) end
  if not left then return nil end
  local parts = {left}
  for k, own in ipairs(arrays) do
    parts[k + 1] = rows_of(own.made, own.pieces, r)
    copy_rows(own.made, own.start, own.pieces, r)
  end
  return table.concat(parts, "\0")
end

local function describe_range(run, r)
  return failures.describe_block(run, run.grid.layout, r - 1)
end

-- Elements that differ from what memory was filled with, before rows were run: they were written.
local function mark_written(own, k, r, run, written)
  local kind = array.describe(run.versions.memory.arrays[k].start).type
  local made, filled = ffi.cast(BITS[kind], own.made), ffi.cast(BITS[kind], own.bad)
  local size = c_api.element_sizes[kind]
  for _, piece in ipairs(own.pieces[r] or {}) do
    for e = piece[1] / size, (piece[1] + piece[2]) / size - 1 do
      if made[e] ~= filled[e] then written[e] = true end
    end
  end
end

-- Runs a block of a round on the start, and marks what it writes; whether it ran.
local function note_block(run, job, round, r, arrays, written)
  local ran
  local ok, err = pcall(failures.undo_here, run, job.key, job.operands, function()
    local versions = job.instance.versions
    versions:begin((round - 1) * run.grid.ranges[2] + r - 1)
    for k, own in ipairs(arrays) do
      versions.arrays[k - 1].last, versions.arrays[k - 1].next = own.start, own.made
      copy_rows(own.made, own.bad, own.pieces, r)
    end
    ran = job.run_block((round - 1) * run.grid.ranges[2] + r - 1)
    error(UNDO, 0)
  end)
  if not ok and err ~= UNDO then error(err, 0) end
  for k, own in ipairs(arrays) do
    if ran then mark_written(own, k, r, run, written[k]) end
    copy_rows(own.made, own.start, own.pieces, r)
  end
  return ran
end

-- Has nothing be hidden but what the first rounds write.
local function hide_written(run, job, arrays)
  local written, rounds, runs = {}, math.min(ROUNDS, run.grid.ranges[1]), true
  for k in ipairs(arrays) do written[k] = {} end
  for round = 1, rounds do
    for r = 1, run.grid.ranges[2] do
      runs = runs and note_block(run, job, round, r, arrays, written)
    end
  end
  for k, own in ipairs(arrays) do
    local kind = array.describe(run.versions.memory.arrays[k].start).type
    local hidden = ffi.cast(BITS[kind], own.bad)
    local start, poison = ffi.cast(BITS[kind], own.start), hidden[0]
    for e = 0, own.pieces.behind / c_api.element_sizes[kind] - 1 do
      hidden[e] = written[k][e] and poison or start[e]
    end
    hide_all(run, own)
  end
end

-- What a block leaves where all is hidden that it is said not to read.
local function run_hidden(run, job, r, arrays, set)
  show(arrays, set, false)
  local left = run_block(run, job, r, arrays, true)
  show(arrays, set, true)
  return left
end

local function check_block(run, job, r, arrays, set)
  local right = run_block(run, job, r, arrays, false)
  if not right then return false end -- the loop will tell of that
  local other = run_hidden(run, job, r, arrays, set)
  if other ~= right and not job.narrowed then
    job.narrowed = true
    hide_written(run, job, arrays)
    other = run_hidden(run, job, r, arrays, set)
  end
  for k, own in ipairs(arrays) do
    if not same_beside(own.made, own.start, own.pieces, r) then
      errors.raise("BUG", "%s writes elements of array %d of meissa.iterate that are of another " ..
                   "range, which its plan does not predict. Please report it with the loop's text",
                   describe_range(run, r), k)
    end
  end
  if other ~= right then
    errors.raise("BUG", "%s reads elements of ranges that its plan does not predict. Please " ..
                 "report it with the loop's text", describe_range(run, r))
  end
  return true
end

--- Checks the first round of a run that is ready.
-- @tab run the run @tab found its read sets
-- Errors: BUG.
function M.check(run, found)
  local bytes, run_bytes, key, apart = packing.pack(run.kernel, run.bindings, run.values, nil,
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
  local arrays = begin(run)
  for r = 1, run.grid.ranges[2] do
    if not check_block(run, job, r, arrays, found.sets[r]) then break end
  end
  for _, each in ipairs(run.versions.memory.arrays) do
    for _, memory in ipairs(each.ring) do memory:copy(each.start) end
  end
end

return M
