-- SPDX-License-Identifier: MIT
--- Small loops: those that take less time than workers need to get going run in the driver's
-- process, and those that take somewhat more where they were faster.
--
-- Only compiled kernels do that which cannot stop half-way (csrc/job/small_run.h), by the same grid
-- as on workers: the results are the same bits. As many threads as there are workers share the
-- blocks of longer ones where none waits for another (csrc/job/crew.h). Who runs a loop is decided
-- by what its iterations took before (csrc/job/pace.h), which changes nothing else.
-- @module meissa.driver.small

local ffi = require "ffi"
local array = require "meissa.array"
local c_core = require "meissa.base.c_core"
local execution = require "meissa.kernel.execution"
local job_operands = require "meissa.plan.operands"
local kernel = require "meissa.kernel"
local natives = require "meissa.kernel.native"
local packing = require "meissa.kernel.pack"
local pool = require "meissa.driver.pool"
local situations = require "meissa.plan.situation"
local small_runs = require "meissa.kernel.small_run"
local stages = require "meissa.plan.stage"
local system = require "meissa.base.system"

local M = {}

local lib = c_core.lib

--- The longest loop in seconds that is small wherever it is faster; with 0 all run on workers.
M.most = ffi.new("double[1]", 2e-4)

-- What travels apart to workers: nothing has to here.
local NOTHING = {}

-- Where a loop was faster, as csrc/job/pace.h has it.
local function new_pace()
  local pace = ffi.new "ms_pace"
  lib.ms_pace_begin(pace)
  return pace
end

--- What a plan depends on beside the arrays: the captured numbers that it may depend on, then first
-- and last value of each range.
function M.numbers(run)
  local list, is_parameter = {}, situations.parameters(run.record, run.bindings)
  for c in ipairs(run.record.captures) do
    local binding = run.bindings[c]
    if is_parameter[c] and binding.kind == "number" then list[#list + 1] = binding.number end
  end
  if run.space.array then return list end
  for _, range in ipairs(run.space.ranges) do
    list[#list + 1], list[#list + 2] = range[1], range[2]
  end
  return list
end

-- What a run has to do, as csrc/job/pace.h has it; good until the next call.
local work, room, rooms = ffi.new "ms_pace_work", nil, 0

local function work_of(run)
  local numbers = M.numbers(run)
  for _, number in ipairs(natives.single_numbers(run.native.info, run.values)) do
    numbers[#numbers + 1] = number
  end
  if #numbers > rooms then
    room = ffi.new("double[?]", 2 * #numbers) -- first: Ctrl-C may come between the two
    rooms = 2 * #numbers
  end
  for k, number in ipairs(numbers) do room[k - 1] = number end
  work.volume, work.numbers, work.count = run.grid.volume, room, #numbers
  return work
end

-- How many threads its blocks may have, as far as is known before they run.
local function members_of(run)
  return math.max(1, small_runs.members(run.grid.core, pool.workers()))
end

--- Whether a run is small: its kernel is there and may suit, and it is known to take little time,
-- or less than on workers.
-- @tab run the loop's run, made ready (see meissa.driver.ready)
function M.suits(run)
  local native, static, record = run.native, run.kernel, run.record
  if not native or not native.object or not stages.add(run) then return false end
  if static.never_small or not kernel.runs_alone(static) then return false end
  record.small = record.small or new_pace()
  local busy = (record.learned and record.learned.pace or math.huge) / members_of(run)
  local is_here = lib.ms_pace_is_here(record.small, work_of(run), M.most[0], busy)
  return is_here -- LuaJIT compiles no tail calls of C that give a boolean
end

--- Takes note of how long a run took on workers for which M.suits might have held: with machine
-- code from its beginning on.
-- @tab run the run @tab measured what it took
function M.learn(run, measured)
  local pace, native = run.record.small, run.native
  if not pace or not native or not native.object then return end
  lib.ms_pace_ran_away(pace, measured.seconds, work_of(run), M.most[0])
end

-- The longest loop in seconds that Ctrl-C waits for, and bytes that are worth leaving unlogged.
local SOON, MUCH = 0.1, 2 ^ 16

-- How much a loop writes, in bytes; nil if it may read any of it.
local function written_blindly(run)
  local bytes = 0
  for c, binding in ipairs(run.bindings) do
    local about = binding.kind == "array" and run.plan.array_of[c]
    if about and about.written then
      if about.memory ~= "write" or binding.sparse or binding.buffers then return nil end
      bytes = bytes + array.describe(run.values[c]).bytes
    end
  end
  return bytes
end

--- Whether a loop on workers needs no log: no block reads what one writes, so that one can be run
-- again, none can fail, and the loop is over soon.
-- @tab run the loop's run, made ready, with its session
function M.is_unlogged(run)
  local learned, static, native = run.record.learned, run.kernel, run.native
  if run.by_value or not run.space.transaction or not native or not native.object then
    return false
  end
  if run.versions then return false end -- rounds write memory of their own
  if not learned or learned.pace * run.grid.volume > SOON or #run.plan.buffers > 0 then
    return false
  end
  if static.never_small or not kernel.runs_alone(static) then return false end
  local bytes = written_blindly(run)
  return bytes ~= nil and bytes >= MUCH and
    small_runs.ends(M.instance(run).run, run.grid.core)
end

-- The core's arrays that a loop may write: first its blocks themselves, as many as `own`, then
-- those behind buffers.
local function written_by(run)
  local list = {}
  for c, binding in ipairs(run.bindings) do
    local own = binding.kind == "array" and not binding.scratch and not binding.buffers
    if own and run.plan.array_of[c].written then list[#list + 1] = array.core(run.values[c]) end
  end
  list.own = #list
  for _, each in ipairs(stages.merged(run)) do list[#list + 1] = each end
  return list
end

-- What is merged: the core's arrays, with the numbers of their buffers.
local function merged_by(run, where)
  local list = stages.merges(run, where.buffers)
  for k, each in ipairs(list) do list[k] = {array = each.arrays[1], number = each.number} end
  return list
end

--- The instance of the run's kernel on the arrays' own memory, as the situation's `small`. That of
-- an earlier run is filled again if arrays and object are the same.
function M.instance(run)
  local operands, _, where = job_operands.collect(run, NOTHING)
  local known, object = run.situation.small, run.native.kernel
  if known and known.where == where and known.object == object then
    known.instance:fill(kernel.given(run.kernel.info, run.values), run.draws)
    return known
  end
  local kernel_bytes, run_bytes = packing.pack(run.kernel, run.bindings, run.values, run.native,
                                              run.basics)
  local pieces = job_operands.pieces(operands)
  local instance, own = execution.instance(kernel_bytes, run_bytes, pieces, where, run.draws)
  known = {where = where, object = object, instance = instance, own = own,
           info = run.kernel.info, shared = small_runs.is_for_any_thread(instance),
           written = written_by(run)}
  known.run, known.vectors = small_runs.make(instance, own, known.written, merged_by(run, where),
                                             run.kernel.info)
  run.situation.small = known
  return known
end

--- What a loop that ran in this process took, for plans.measured: when it was called, began and
-- ended.
function M.measured(called, began, ended)
  return {seconds = ended - called, launch = began - called, workers = 0, moved = 0, shares = {},
          deaths = 0, redone = 0, repeated = 0}
end

--- Runs a loop for which M.suits holds.
-- @return the scalars to assign, a list of {capture =, value =}; what it took; and what is kept of
-- the instance, its `run`, `instance` and further `launch`; nil: nothing has been done, it is one
-- for the workers
function M.run(run)
  local small = M.instance(run)
  small.run.members = small.shared and pool.workers() or 1
  local began = system.clock()
  local assigned, never = small_runs.run(small.run, small.info, run.values, run.grid.core)
  local ended = system.clock()
  if not assigned then
    run.kernel.never_small = never
    return nil
  end
  if assigned.left then
    local kernel_bytes = packing.pack(run.kernel, run.bindings, run.values, run.native, run.basics)
    assigned = kernel.combine(kernel_bytes, run.values, assigned.left)
  end
  lib.ms_pace_ran_here(run.record.small, ended - began, work_of(run), M.most[0])
  return assigned, M.measured(run.called, began, ended), small
end

return M
