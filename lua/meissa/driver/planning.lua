-- SPDX-License-Identifier: MIT
--- Planning: a loop's run, from its text and its captured values.
--
-- A run is one execution: {record =, space =, plan =, bindings =, values =, situation =, ready =,
-- basics = (see captured), roots =, env = (where values were found)}, and as it is known `draws`,
-- `kernel`, `native`, `grid`, `session`, `called`; of rounds `versions` (see version_memory.lua),
-- of loops with levels `levels` (see levels.lua), of inspected ones `lists` (see
-- element_lists.lua).
-- @module meissa.driver.planning

local array = require "meissa.array"
local captured = require "meissa.plan.captured"
local engine = require "meissa.kernel.engine"
local errors = require "meissa.base.errors"
local frames = require "meissa.capture.stack_frame"
local inspect = require "meissa.plan.inspect"
local inspection = require "meissa.driver.inspection"
local late = require "meissa.base.late"
local levels = require "meissa.driver.levels"
local plans = require "meissa.plan"
local ready = require "meissa.driver.ready"
local records = require "meissa.driver.record"
local required = require "meissa.capture.required"
local serialize = require "meissa.kernel.serialize"
local shares = require "meissa.plan.share"
local trace = require "meissa.base.trace"

local replicated = late(function() return require "meissa.driver.replica_loop" end)

local M = {}

--- The loop's callee must be the function that is running, which users know as meissa.`name`:
-- anything else is a wrapper.
function M.check_callee(record, func, level, running, name)
  local callee = record.info.callee
  if not callee then return end
  record.callee_slot = record.callee_slot or frames.slots({callee}, func, level + 1)
  local root = frames.read(record.callee_slot, func, level + 1)[1]
  if frames.follow(callee, root) ~= running then
    name = name or "parallel"
    errors.raise("SRC", "'%s' on this line is not meissa.%s itself but calls it: the " ..
                 "loop's text cannot be seen from a wrapper. Write `for ... in %s(...) " ..
                 "do` where the body stands (`local p = meissa.%s` works).", callee.text, name,
                 name, name)
  end
end

--- Plans the loop for this space and these captured values.
function M.plan(record, space, roots, env)
  local basics = captured.basics(space, serialize.travels)
  local found = captured.find(record, space, roots, env)
  captured.end_refusals(basics, space, found.bindings)
  shares.check_models(found.bindings)
  local plan, shared = found.plan, shares.has(found.bindings)
  if shared then shares.open(space, found.bindings, found.values) end
  if not plan then
    plan = plans.get(record, space, found.bindings, found.situation)
    -- Equal subscripts tell entries apart no more; in an ordered loop such entries follow each
    -- other.
    if plan.draws and space.sparse and not space.ordered then
      space.positions = array.repeats(space.array)
    end
    if not shared then captured.remember(record, space, plan, found) end
  end
  if trace.on.plan then
    trace.say("plan", "loop loop=%s:%d strategy=%s", record.file, record.line, plan.strategy)
  end
  return {record = record, space = space, plan = plan, bindings = found.bindings,
          values = found.values, situation = found.situation, ready = found.ready, roots = roots,
          env = env, basics = basics}
end

-- The same with the captured values of a function, running at a level of the stack or a closure.
local function plan_record(record, space, func, level)
  local slots = record.slots or frames.slots(record.captures, func, level and level + 1)
  record.slots = slots
  local loads, roots = required.loads, frames.read(slots, func, level and level + 1)
  local run = M.plan(record, space, roots, getfenv(func))
  if required.loads > loads and run.plan.strategy ~= "serial" then
    required.check(record, run.bindings, frames.read(slots, func, level and level + 1))
  end
  return run
end

--- Plans the loop in this function. Where it is refused, the names that the body has in captured
-- strings are taken for what they are.
function M.frame(record, space, func, level)
  local run = plan_record(record, space, func, level and level + 1)
  if space.serial or run.plan.strategy ~= "serial" then return run end
  local settled = records.settle(record, run.roots, run.env)
  return settled and plan_record(settled, space, func, level and level + 1) or run
end

--- Plans a loop that is to run now: what its subscripts alone keep from running is inspected.
function M.to_run(record, space, func, level)
  local up = level and level + 1
  if record.inspected and not (space.serial or space.assume) then -- as the last time
    space.assume = "inspection"
    local run = M.frame(record, space, func, up)
    local collisions = run.plan.collisions
    local fits = collisions and collisions.stores and not shares.has(run.bindings)
    if fits and inspection.prove(run) then
      inspection.list(run)
      return run
    end
    space.assume = nil
  end
  local run = M.frame(record, space, func, up)
  if not run.plan.collisions or space.serial or shares.has(run.bindings) then return run end
  local proved, found
  local had_levels = run.plan.levelled and space.ordered
  run.levels = levels.known(run) or had_levels and levels.find(run)
  if run.plan.collisions.stores and not run.levels then proved, found = inspection.prove(run) end
  if not proved then
    run.levels = run.levels or space.ordered and not had_levels and levels.find(run)
    if run.levels then
      run.plan = inspect.levelled(run.plan)
      return run
    end
    if proved == false then
      local obstacle = space.ordered and levels.obstacle(run) or nil
      run.plan = inspect.refuted(run.plan, inspection.pair(run), obstacle)
    end
    if found then run.plan = inspect.stopped(run.plan, found) end
    return run
  end
  space.assume, record.inspected = "inspection", true
  local again = M.frame(record, space, func, up)
  again.plan.collisions, again.plan.proved = run.plan.collisions, run.plan.proved
  again.plan.inspected, again.marks = run.plan.inspect, run.marks
  inspection.list(again)
  return again
end

--- The plan with its grid and engine, if it can be cut.
function M.complete(run)
  local plan, space = run.plan, run.space
  if plans.is_empty(plan, space) or plan.strategy == "serial" then
    plan.grid = {}
    return plan
  end
  ready.find_kernel(run)
  engine.judge(plan, run.kernel, space)
  if #plan.replicas > 0 then replicated.plan(run) end
  ready.cut(run)
  return plan
end

return M
