-- SPDX-License-Identifier: MIT
--- Making planned loops ready to run: their grid, their kernel, their engine.
--
-- A run is what meissa.driver.planning says; what is found becomes its `grid`, `kernel` and
-- `native`; `kernel_open` says that later executions may have another kernel.
-- @module meissa.driver.ready

local engine = require "meissa.kernel.engine"
local families = require "meissa.kernel.family"
local grids = require "meissa.plan.grid"
local plans = require "meissa.plan"
local records = require "meissa.driver.record"
local stages = require "meissa.plan.stage"
local trace = require "meissa.base.trace"

local M = {}

-- Bytes of a loop's kernels, and of a letter of its own text; see remember.lua.
local KERNEL_BYTES, KERNEL_LETTER = 165000, 300

--- Finds the loop's grid, which its plan tells of; `run.cut()` does, where it is another one.
function M.cut(run)
  if run.cut then return run.cut() end
  local plan = run.plan
  local grid = grids.cut(plan, run.space)
  plan.grid = grid.ranges
  if #plan.buffers > 0 then plan.stages = stages.of(grid).count end
  run.grid = grid
end

--- Finds the loop's kernel. What decides about it beside the engine are the plan and the arrays.
function M.find_kernel(run)
  local native, ready, plan = engine.prefers_native(run.space), run.ready, run.plan
  if not ready.kernel or ready.kernel_native ~= native then
    ready.kernel_native = native
    ready.kernel = families.find(run.record.loop, plan, run.bindings, run.values, run.space,
                               plan.kernels, run.record.kernels, native)
  end
  run.kernel = ready.kernel
  if not run.kernel.charged then
    run.kernel.charged = true
    plans.charge(run.record, KERNEL_BYTES + KERNEL_LETTER * records.length(run.record))
  end
end

--- Makes a run ready: its kernel, its grid, what it may use of the native engine, and `start()` if
-- it is given and the compiler is to work meanwhile.
function M.make(run, start)
  M.find_kernel(run)
  local plan, space = run.plan, run.space
  local own, open = families.specialise(run.kernel, run.record.loop, plan, run.bindings, run.values,
    space)
  local static = own or run.kernel
  local begun = engine.begin(plan, static, space)
  M.cut(run)
  if start and not (begun and begun.object) then start() end
  run.native = engine.choose(plan, static, space, begun)
  if own and run.native and run.native.object then
    run.kernel, run.ready.kernel = own, own
  elseif own then
    open = run.native ~= nil -- its text is being compiled
    run.native = engine.choose(plan, run.kernel, space)
  end
  run.kernel_open = open
  if trace.on.kernel then
    trace.say("kernel", "engine loop=%s:%d engine=%s object=%s", run.record.file, run.record.line,
              plan.engine, run.native and run.native.object and "yes" or "no")
  end
  plans.explain(plan, space)
end

return M
