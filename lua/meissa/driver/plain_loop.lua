-- SPDX-License-Identifier: MIT
--- Loops that run in this process as they are written: an iterator for the body, and its state.
--
-- They are over when the iterator is asked in vain, which is when they have taken what they took:
-- only then their plan has it. `run.ended(plan)` is called there, and before the first iteration.
-- @module meissa.driver.plain_loop

local buffers = require "meissa.array.buffer"
local engine = require "meissa.kernel.engine"
local grids = require "meissa.plan.grid"
local inprocess_history = require "meissa.driver.inprocess_history"
local inprocess = require "meissa.driver.inprocess"
local job = require "meissa.driver.job"
local plans = require "meissa.plan"
local random = require "meissa.kernel.random"
local ready = require "meissa.driver.ready"
local returned = require "meissa.driver.returned"
local scratches = require "meissa.array.scratch"
local small = require "meissa.driver.small"
local spaces = require "meissa.plan.space"
local system = require "meissa.base.system"

local M = {}

-- The iterations of a loop that runs plainly, each with its random numbers and undefined scratch
-- arrays: an iterator and its state.
local function with_places(run, dims, step, state)
  local list = {}
  for c, binding in ipairs(run.bindings) do
    if binding.scratch then list[#list + 1] = run.values[c] end
  end
  return random.iterate(dims, run.draws, scratches.iterate(list, step, state))
end

-- The run's plan, while it has not ended.
local function begin(run)
  run.ended(plans.measured(run.plan, {workers = 0}))
  run.began = system.clock()
end

-- The run's plan with the seconds that the loop took, now that it has ended.
local function measure(run)
  run.ended(plans.measured(run.plan, small.measured(run.called, run.began, system.clock())))
end

-- The iterator of a serial loop. One for all, not a closure for each: LuaJIT compiles a loop for
-- the function that it calls.
local function go_to_end(plain)
  local i1, i2, i3, i4, i5, i6, i7, i8, i9 = plain.step(plain.state)
  if i1 == nil then measure(plain.run) end
  return i1, i2, i3, i4, i5, i6, i7, i8, i9
end

--- A loop that is to run serially is the plain loop that it is: its body may do anything.
function M.serially(run)
  local plan, space = run.plan, run.space
  plan.grid = {}
  plans.explain(plan, space)
  local dims = space.positions and 0 or #space.ranges
  local step, state = with_places(run, dims, spaces.iterate(space))
  local list = {}
  for k, c in ipairs(plan.buffers) do list[k] = buffers.of(run.values[c]) end
  if #list > 0 then step, state = buffers.iterate(list, plan.max_delay, step, state) end
  begin(run)
  return go_to_end, {step = step, state = state, run = run}
end

-- The same of an ordered loop without workers.
local function go_on(plain)
  local i1, i2, i3, i4, i5, i6, i7, i8, i9 = plain.step(plain.state)
  if i1 == nil then
    plain.told:commit(0)
    plain.told:over(true)
    inprocess.leave()
    measure(plain.run)
    returned.check(plain.watch, plain.run, plain.slots, plain.func, plain.level)
  end
  return i1, i2, i3, i4, i5, i6, i7, i8, i9
end

-- Refuses what workers would refuse: a body without machine code where that was insisted on.
local function check_engine(run)
  local plan, space = run.plan, run.space
  local asked, insists = engine.asked(space.options)
  if not insists or asked ~= "native" then return end
  ready.find_kernel(run)
  local unseen = setmetatable({}, {__index = plan}) -- as no kernel runs
  engine.judge(unseen, run.kernel, space)
end

--- A loop without workers.
-- Errors: OPT.
function M.here(run, slots, func, frame_form)
  local record, plan, space = run.record, run.plan, run.space
  local watch = returned.watch(run)
  if space.ordered then check_engine(run) end
  begin(run)
  if run.levels then
    plan.levels, plan.engine_reason = run.levels.count, "run as written, without workers"
  end
  if space.ordered then
    if space.options.grid then grids.cut(plan, space) end -- refused as it is with workers
    plan.grid = {} -- the loop as written has no blocks
    plans.explain(plan, space)
    local step, state = with_places(run, #space.ranges, spaces.iterate(space))
    local told = inprocess_history.loop(1, true)
    told:begin(0)
    return go_on, {step = step, state = state, told = told, watch = watch, run = run, slots = slots,
                   func = func, level = frame_form and 2 or nil}
  end
  ready.cut(run)
  plans.explain(plan, space)
  inprocess.notice_inexact(record, plan, run.bindings)
  local reductions = inprocess.variables(plan, record.captures, slots)
  local step = inprocess.blocks(run.grid, job.cursor(run.grid, space), reductions, func,
    frame_form, function(level)
      measure(run)
      returned.check(watch, run, slots, func, level)
    end)
  return with_places(run, not space.positions and #space.ranges or nil, step)
end

return M
