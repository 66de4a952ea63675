-- SPDX-License-Identifier: MIT
--- Inspection: proofs at run time that no two iterations of a loop meet.
--
-- A loop that is kept from running by nothing but subscripts of writes that come from data
-- (`out[perm[i]] = f(i)`) has a verdict with two slices of its body (csrc/depend/inspector.h). One
-- stores the iteration's number wherever it may write, in an array of marks; the other looks if
-- another one's number stands where the iteration reads or writes. Both are parallel loops. Where
-- nobody meets anybody the loop is planned again without those dependences, and the proof is kept
-- until something changes that the slices read. Lives on the driver.
-- @module meissa.driver.inspection

local array = require "meissa.array"
local element_lists = require "meissa.driver.element_lists"
local errors = require "meissa.base.errors"
local plans = require "meissa.plan"
local pool = require "meissa.driver.pool"
local random = require "meissa.kernel.random"
local inspectors = require "meissa.driver.inspector_function"
local spaces = require "meissa.plan.space"
local spread = require "meissa.base.spread"
local worker_count = require "meissa.driver.worker_count"
local interrupt = require "meissa.base.interrupt"

local M = {}

-- Errors of a slice that prove nothing: the loop has them, too, or would not have come there. So
-- does what is no error object: marks have no ranges where the body has some by a name.
local HARMLESS = {BDY = true, ARR = true, OPT = true, SRC = true, DEP = true}

-- ------------------------------------------------------------------------------- the slices' loops

-- Runs a slice over the loop's space. Its stores may meet: that is what it is for. Where arrays
-- travel by value all of them would, and it is run where they are. `serial`: as the plain loop.
local function run_slice(run, slice, serial)
  local arguments = run.space.array and {run.space.array} or {unpack(run.space.ranges)}
  arguments[#arguments + 1] = {ordered = true, assume = not serial and "independent" or nil,
                               serial = serial,
                               engine = run.space.engine == "lua" and "lua" or nil}
  local space = spaces.parse(unpack(arguments))
  space.unchecked, space.here = true, pool.workers() > 0 and worker_count.by_value(pool.session())
  spread.each_space(space, slice)
end

-- Arrays of numbers of iterations.
local function make_marks(run)
  local marks = {}
  for k, b in ipairs(run.plan.collisions.arrays) do
    marks[k] = array.zeros(array.describe(run.bindings[b].value or run.values[b]).dims)
  end
  return marks
end

-- Stores the numbers of iterations where these may write; false, if there is no slice.
local function store(run, marks, serial)
  local stores = inspectors.closure(run, run.plan.collisions.stores, {marks = marks})
  if stores then run_slice(run, stores, serial) end
  return stores ~= nil
end

local function free(marks)
  for _, each in ipairs(marks) do each:free() end
end

-- Two iterations that meet, by their numbers: those of the first that does; infinity, if none do;
-- nothing, if there is no slice. Run in parallel, it may be any that it has met.
local function look(run, marks, serial)
  local own = {none = math.huge, first = math.huge, other = 0}
  local looks, values = inspectors.closure(run, run.plan.collisions.looks,
                                           {marks = marks, own = own})
  if not (looks and store(run, marks, serial)) then return nil end
  run_slice(run, looks, serial)
  local met = values()
  return met.meissa_first, met.meissa_other
end

-- The indices of an iteration, by its number.
local function iteration_of(space, number)
  local rest, index = number - 1, {}
  for d = #space.ranges, 1, -1 do
    local range = space.ranges[d]
    local extent = (range[2] - range[1]) / range[3] + 1
    index[d] = range[1] + rest % extent * range[3]
    rest = math.floor(rest / extent)
  end
  return index
end

-- --------------------------------------------------------------------------------------- proofs

-- Whether the numbers of all iterations are exact; those of entries go over all that might be.
local function has_numbers(space)
  local count = 1
  for _, range in ipairs(space.ranges) do count = count * spaces.length(range) end
  return count <= 2 ^ 53
end

--- Finds out whether iterations of a loop meet, unless that is known from the last time.
-- @tab run a planned run whose plan has `collisions`
-- @treturn boolean|nil true: none do; false: some do, see M.pair; nil: it cannot be known
-- @treturn table|nil of nil: the error that the inspection ended in, if any
-- Errors: WRK INT NET.
function M.prove(run)
  local plan = run.plan
  local collisions = plan.collisions
  local text = collisions.stores .. collisions.looks
  if not has_numbers(run.space) or not inspectors.is_exact(run, text, collisions.arrays) then
    return nil
  end
  local state = inspectors.state(run, text, collisions.arrays)
  if state and plan.proved == state then return true end
  plan.proved, plan.listed = nil, nil
  local marks = make_marks(run)
  local ok, first = random.uncounted(plans.silently, look, run, marks)
  if ok and first == math.huge then
    plan.proved, run.marks = state, marks
    return true
  end
  free(marks)
  interrupt.pass(ok, first)
  if not ok then
    if errors.is(first) and not HARMLESS[first.code] then error(first, 0) end
    return nil, errors.is(first) and first or errors.new {code = "BDY", message = first}
  elseif not first then
    return nil
  end
  return false
end

--- Gives a proved run the lists of what its blocks may write (meissa.driver.element_lists).
-- Errors: OPT WRK INT NET.
function M.list(run)
  local function marks()
    local own = run.marks
    if own then return own end
    run.marks = make_marks(run)
    local ok, stored = random.uncounted(plans.silently, store, run, run.marks)
    interrupt.pass(ok, stored)
    if not ok and errors.is(stored) and not HARMLESS[stored.code] then error(stored, 0) end
    return ok and stored and run.marks
  end
  if run.plan.proved then element_lists.find(run, marks) end
  if run.marks then free(run.marks) end
  run.marks = nil
end

--- Two iterations that meet, {from =, to = indices}, of a loop that has some: the same ones,
-- whoever runs it.
-- Errors: those of the body.
function M.pair(run)
  local marks = make_marks(run)
  local ok, first, other = random.uncounted(plans.silently, look, run, marks, true)
  free(marks)
  if not ok then error(first, 0) end
  local from, to = math.min(first, other), math.max(first, other)
  return {from = iteration_of(run.space, from), to = iteration_of(run.space, to)}
end

return M
