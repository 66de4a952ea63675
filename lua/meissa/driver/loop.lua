-- SPDX-License-Identifier: MIT
--- Parallel loops: from the call in the user's `for` to the values after it.
--
-- `parallel(...)` stands in a generic `for`. Called, it finds the loop's text, reads the captured
-- variables from the caller's frame, plans (or takes the plan from its cache), runs, writes the
-- scalars back, and returns an iterator that ends at once. `each` does the same for a closure.
-- @module meissa.driver.loop

local array = require "meissa.array"
local engine = require "meissa.kernel.engine"
local errors = require "meissa.base.errors"
local failures = require "meissa.driver.loop_failure"
local inprocess = require "meissa.driver.inprocess"
local interrupt = require "meissa.base.interrupt"
local job = require "meissa.driver.job"
local late = require "meissa.base.late"
local launches = require "meissa.driver.launch"
local levels = require "meissa.driver.levels"
local nesting = require "meissa.base.nesting"
local planning = require "meissa.driver.planning"
local plain_loops = require "meissa.driver.plain_loop"
local plans = require "meissa.plan"
local pool = require "meissa.driver.pool"
local public = require "meissa.base.public"
local random = require "meissa.kernel.random"
local ready = require "meissa.driver.ready"
local records = require "meissa.driver.record"
local small = require "meissa.driver.small"
local source_text = require "meissa.capture.source_text"
local spaces = require "meissa.plan.space"
local speculate = require "meissa.driver.speculate"
local spread = require "meissa.base.spread"
local system = require "meissa.base.system"

local replicated = late(function() return require "meissa.driver.replica_loop" end)

local M = {}

--- Examines a planned loop before it runs, with check = true: who knows meissa.check fills it in.
function M.examine() end

-- Of the last loop: its launch; its plan, which all of its runs share; or the copy that was given.
local last_plan

-- To be told of the last loop's plan.
local function remember(plan) last_plan = plan end

local function finished() return nil end

-- What is told of a loop without iterations.
local function empty_run(plan, called)
  local now = system.clock()
  return plans.measured(plan, small.measured(called, now, now))
end

-- Runs the loop on the workers, or here if it is small; the list of {capture=, value=} to assign.
local function run_on_workers(run)
  local assigned, measured
  ready.make(run, pool.session)
  if small.suits(run) then assigned, measured, run.small = small.run(run) end
  if assigned then
    job.mark_written(run)
  else
    run.session = pool.session()
    assigned, measured = job.run(run)
    small.learn(run, measured)
  end
  last_plan = plans.measured(run.plan, measured)
  return assigned
end

-- A serial loop of which no text is kept, as at a prompt, is run as it stands: an iterator and its
-- state. Nothing is known of what it captures, so it has no plan.
local function run_unread(space, info, line)
  last_plan = nil
  if space.explain then
    io.stderr:write(string.format("meissa: %s:%d: the loop runs serially, as written; its text " ..
                                  "is not kept\n", info.short_src, line))
  end
  if space.count == 0 then return finished end -- no loop, as far as random numbers go
  local by_place = space.sparse and not space.ordered and array.repeats(space.array)
  local step, state = spaces.iterate(space)
  return random.iterate(by_place and 0 or #space.ranges, random.next_loop(), step, state)
end

-- Whether a loop can be run as it stands, without its text, which is not kept.
local function is_unread(space, info)
  return space.serial and not space.check and not source_text.is_kept(info.source)
end

-- Runs the blocks in this process by the engine; the list of {capture=, value=} to assign. Loops in
-- the body run plainly, as they do on a worker.
local function run_blocks_here(run)
  local began = system.clock()
  local ok, assigned = nesting.pcall(job.run_here, run)
  if not ok then error(assigned, 0) end
  last_plan = plans.measured(run.plan, small.measured(run.called, began, system.clock()))
  return assigned
end

local function run_engine_here(run)
  ready.make(run)
  return run_blocks_here(run)
end

-- Runs a loop on workers: Ctrl-C comes before it is over, or when its variables are assigned.
local function run_held(run, fn, ...)
  run.held = interrupt.hold()
  local ok, assigned, plan = pcall(fn, ...)
  if ok then return assigned, plan end
  if run.held then interrupt.release() end
  error(assigned, 0)
end

-- Runs a loop with levels; the list of {capture=, value=} to assign, and its plan.
local function run_levels(run)
  local plan = levels.run_plainly(run, run.levels)
  if plan then return {}, plan end
  return run_held(run, levels.run, run, run.levels)
end

-- Runs a loop over replicas; the list of {capture=, value=} to assign.
local function run_replicated(run)
  local assigned, measured = replicated.run(run)
  last_plan = plans.measured(run.plan, measured)
  return assigned
end

-- Whether a loop of this process goes through the engine; an unordered one also for the asking, and
-- in fast mode, for the bits that it has on workers. The plain loop knows no more of an iteration
-- of collapsed loops than its first index, which random numbers would depend on.
local function by_engine(plan, space)
  return pool.workers() == 0 and (#plan.buffers > 0 or plan.draws and space.collapse > 1 or
    not space.ordered and
    (plans.needs_engine(plan, space) or space.numeric == "fast" or
     engine.asked(space.options) == "native"))
end

-- The loop as written, where it stands in a body. That may have written entries, unseen by what is
-- kept of the array.
local function iterate_within(space)
  if space.sparse and space.ordered then array.mark_written(space.array) end
  return spaces.iterate(space)
end

--- The iterator of a parallel loop; see the manual.
-- Errors: SRC DEP OPT ARR BDY WRK INT NET.
function M.parallel(...)
  local launch, interrupted, wanting = nil, nil, nil
  if not nesting.in_body then launch, interrupted, wanting = launches.again(...) end
  if launch then
    last_plan = launch
    if interrupted then failures.raise_interrupted(debug.getinfo(2, "Sl")) end
    return finished
  end
  local called = system.clock()
  local space = spaces.parse(...)
  if nesting.within() then return iterate_within(space) end
  local info = debug.getinfo(2, "Slf")
  if not info or info.what == "C" then
    errors.raise("SRC", "parallel must be called in a `for` statement: for i in parallel(n) do")
  end
  local func = info.func
  if is_unread(space, info) then return run_unread(space, info, info.currentline) end
  local record = records.find(func, info, info.currentline)
  planning.check_callee(record, func, 2, M.parallel)
  spaces.check_variables(space, record.variables)
  local run = planning.to_run(record, space, func, 2)
  local plan, values = run.plan, run.values
  last_plan = plans.unmeasured(plan)
  local slots = run.record.slots
  local own = #plan.replicas == 0 and not run.levels
  if own then M.examine(run.record, plan, space, values, run.roots, func) end
  plans.check(plan, space)
  plans.check_contents(plan, space, run.bindings, values)
  if plans.is_empty(plan, space) then
    last_plan = empty_run(plan, called)
    return finished
  end
  run.draws, run.called, run.interrupted = random.next_loop(), called, nil
  run.ended = remember
  if plans.runs_serially(plan, space) then return plain_loops.serially(run) end
  plans.check_scalars(plan, values)
  local assigned
  if #plan.replicas > 0 then
    assigned = run_replicated(run)
  elseif run.levels and pool.workers() > 0 then
    assigned, last_plan = run_levels(run)
  elseif by_engine(plan, space) then
    assigned = speculate.run(run, run_engine_here, run_blocks_here)
  elseif pool.workers() == 0 then
    local iterator, state = plain_loops.here(run, slots, func, true)
    inprocess.enter(state, 2)
    return iterator, state
  else
    assigned = run_held(run, speculate.run, run, run_on_workers, run_blocks_here)
  end
  failures.assign(run, slots, assigned, func, 2)
  if run.small then
    launches.keep(run, run.small, func, info.currentline, M.parallel, wanting)
  end
  return finished
end

-- Splits each(space..., opts, fn): the function, the space.
local function split_closure(name, ...)
  local count = select("#", ...)
  local fn = count > 0 and select(count, ...)
  if type(fn) ~= "function" then
    errors.raise("OPT", "%s: the last argument must be a function of the loop's variables: " ..
                 "%s(n, function(i) ... end)", name, name)
  end
  local arguments = {...}
  return fn, spaces.parse(unpack(arguments, 1, count - 1))
end

local function run_plainly(fn, iterator, state)
  for i1, i2, i3, i4, i5, i6, i7, i8, i9 in iterator, state do
    fn(i1, i2, i3, i4, i5, i6, i7, i8, i9)
  end
end

-- A closure's loop, planned.
local function plan_closure(fn, space, info, to_run)
  local plan = to_run and planning.to_run or planning.frame
  local run = plan(records.find(fn, info, nil), space, fn, nil)
  if #run.plan.replicas == 0 and not run.levels and not space.unchecked then
    M.examine(run.record, run.plan, space, run.values, run.roots, fn)
  end
  return run
end

-- Runs a closure over a space.
local function each_of(space, fn, called)
  local info = debug.getinfo(fn, "S")
  if is_unread(space, info) then
    return run_plainly(fn, run_unread(space, info, info.linedefined))
  end
  local run = plan_closure(fn, space, info, true)
  local plan, slots = run.plan, run.record.slots
  last_plan = plans.unmeasured(plan)
  plans.check(plan, space)
  plans.check_contents(plan, space, run.bindings, run.values)
  if not plans.runs_serially(plan, space) then plans.check_scalars(plan, run.values) end
  run.draws, run.called = not plans.is_empty(plan, space) and random.next_loop(), called
  run.interrupted, run.ended = nil, remember
  if not run.draws then
    last_plan = empty_run(plan, called)
  elseif plans.runs_serially(plan, space) then
    run_plainly(fn, plain_loops.serially(run))
  elseif #plan.replicas == 0 and pool.workers() == 0 and not by_engine(plan, space) and
      not space.here then
    local iterator, state = plain_loops.here(run, slots, fn, false)
    inprocess.enter(state, 1)
    run_plainly(fn, iterator, state)
  else
    local here = space.here or pool.workers() == 0
    local attempt = here and run_engine_here or run_on_workers
    local assigned
    if #plan.replicas > 0 then
      assigned = run_replicated(run)
    elseif run.levels then
      assigned, last_plan = run_levels(run)
    elseif not here then
      assigned = run_held(run, speculate.run, run, attempt, run_blocks_here)
    else
      assigned = speculate.run(run, attempt, run_blocks_here)
    end
    failures.assign(run, slots, assigned, fn, nil)
  end
end

--- Runs a closure for every iteration: each(space..., opts, function(i, j, r) ... end).
function M.each(...)
  local called = system.clock()
  local fn, space = split_closure("meissa.each", ...)
  if nesting.within() then
    run_plainly(fn, iterate_within(space))
  else
    each_of(space, fn, called)
  end
end

--- Plans without running: plan(space..., opts, function(i) ... end) gives the plan. In the generic
-- `for`, `for i in meissa.plan(n) do ... end` runs nothing, and meissa.last() is the plan.
function M.plan(...)
  local count = select("#", ...)
  if count > 0 and type((select(count, ...))) == "function" then
    local fn, space = split_closure("meissa.plan", ...)
    M.last() -- what is planned may have run last
    local plan = planning.complete(plan_closure(fn, space, debug.getinfo(fn, "S")))
    return plans.snapshot(plans.unmeasured(plan))
  end
  local space = spaces.parse(...)
  local info = debug.getinfo(2, "Slf")
  if not info or info.what == "C" then split_closure("meissa.plan", ...) end
  local record = records.find(info.func, info, info.currentline)
  planning.check_callee(record, info.func, 2, M.plan)
  last_plan = plans.unmeasured(planning.complete(planning.frame(record, space, info.func, 2)))
  return finished
end

--- Runs a text with loops, with the caller's globals plus `meissa` and `parallel`; further
-- arguments are its `...`. For prompts, where LuaJIT does not keep the text of a line.
function M.run(text, ...)
  if type(text) ~= "string" then
    errors.raise("OPT", "meissa.run takes a text: meissa.run[[ for i in parallel(n) do ... end ]]")
  end
  local chunk, message = loadstring(text)
  if not chunk then
    errors.raise("SRC", "the text given to meissa.run does not compile: %s", message)
  end
  local caller = debug.getinfo(2, "f")
  local outer = caller and getfenv(caller.func) or _G
  local own = {meissa = public.names, parallel = M.parallel}
  setfenv(chunk, setmetatable(own, {__index = outer, __newindex = outer}))
  return chunk(...)
end

--- Makes a plan that of the last loop.
M.remember = remember

--- The plan of the last loop, with seconds, busy and wait time of each worker, and bytes moved.
-- What was given stays as it is.
function M.last()
  if type(last_plan) == "userdata" then last_plan = launches.plan(last_plan) end
  last_plan = last_plan and plans.snapshot(last_plan)
  return last_plan
end

spread.each = M.each

--- The same over a space, for loops that Meissa itself makes; the plan.
function spread.each_space(space, fn)
  each_of(space, fn, system.clock())
  return last_plan
end

return M
