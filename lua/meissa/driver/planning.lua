-- SPDX-License-Identifier: MIT
--- Planning: a loop's run, from its text and its captured values.
--
-- A run is one execution: {record =, space =, plan =, bindings =, values =, situation =, ready =,
-- basics = (see captured), roots =, env = (where values were found)}, and as it is known `draws`,
-- `kernel`, `native`, `grid`, `session`, `called`; of rounds `versions` (see versions.lua).
-- @module meissa.driver.planning

local array = require "meissa.array"
local captured = require "meissa.plan.captured"
local engine = require "meissa.kernel.engine"
local errors = require "meissa.base.errors"
local frame = require "meissa.capture.frame"
local plans = require "meissa.plan"
local ready = require "meissa.driver.ready"
local replicated = require "meissa.driver.replicated"
local serialize = require "meissa.kernel.serialize"
local shares = require "meissa.plan.share"
local trace = require "meissa.base.trace"

local M = {}

--- The loop's callee must be the function that is running, which users know as meissa.`name`:
-- anything else is a wrapper.
function M.check_callee(record, func, level, running, name)
  local callee = record.info.callee
  if not callee then return end
  record.callee_slot = record.callee_slot or frame.slots({callee}, func, level + 1)
  local root = frame.read(record.callee_slot, func, level + 1)[1]
  if frame.follow(callee, root) ~= running then
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
  local plan, shared = found.plan, shares.has(found.bindings)
  if shared then shares.open(space, found.bindings) end
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
