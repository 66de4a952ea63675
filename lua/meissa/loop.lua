-- SPDX-License-Identifier: MIT
--- Parallel loops: from the call in the user's `for` to the values after it.
--
-- `parallel(...)` stands in a generic `for`. Called, it finds the loop's text, reads the captured
-- variables from the caller's frame, plans (or takes the plan from its cache), runs, writes the
-- scalars back, and returns an iterator that ends at once. `each` does the same for a closure.
-- @module meissa.loop

local array = require "meissa.array"
local buffers = require "meissa.buffer"
local captured = require "meissa.captured"
local check = require "meissa.check"
local core = require "meissa.core"
local engine = require "meissa.engine"
local errors = require "meissa.errors"
local frame = require "meissa.frame"
local grids = require "meissa.grid"
local inprocess = require "meissa.inprocess"
local job = require "meissa.job"
local kernel = require "meissa.kernel"
local plans = require "meissa.plan"
local pool = require "meissa.pool"
local random = require "meissa.random"
local scratches = require "meissa.scratch"
local source = require "meissa.source"
local spaces = require "meissa.space"
local stages = require "meissa.stage"
local system = require "meissa.system"

local M = {}

-- Loops found so far: by function and line, and by text and place for functions made anew.
local by_function = setmetatable({}, {__mode = "k"})
local by_text = {}

local last_plan

local function finished() return nil end

-- The name of a chunk as messages show it.
local function display_name(info)
  local first = info.source:sub(1, 1)
  return (first == "@" or first == "=") and info.source:sub(2) or info.short_src
end

local function parse_loop(func, info, line)
  local text = source.text(func, info.source)
  local places = by_text[text] or {}
  by_text[text] = places
  local place = ("%d-%d:%s:%s"):format(info.linedefined, info.lastlinedefined, line or "",
                                       info.source:sub(1, 1) == "@" and info.source or "")
  local record = places[place]
  if record then return record end
  local first = info.what == "main" and 0 or info.linedefined
  local loop, err = core.loop(text, info.source, first, info.lastlinedefined, line)
  if not loop then errors.raise_core(err) end
  record = {loop = loop, captures = loop:captures(), names = loop:names(), info = loop:info(),
            plans = {}, kernels = {},
            file = display_name(info), line = line or info.linedefined, source = text}
  -- A loop over one named thing is called after it in reports.
  local call = record.info.callee and text:sub(record.info.call_begin, record.info.call_finish)
  record.over = call and call:match("%(%s*([%a_][%w_.]*)%s*[,)]")
  places[place] = record
  return record
end

-- The record of the loop that the function runs: {loop=, captures=, info=, plans=, file=, line=}.
-- `line` is that of the running call; nil for a closure, which is its own loop.
local function find_loop(func, info, line)
  local known = by_function[func]
  if not known then
    known = {}
    by_function[func] = known
  end
  local record = known[line or 0]
  if not record then
    if info.what == "C" then
      errors.raise("OPT", "meissa.each needs a Lua function, not one written in C")
    end
    record = parse_loop(func, info, line)
    known[line or 0] = record
  end
  return record
end

-- The loop's callee must be the function that is running: anything else is a wrapper.
local function check_callee(record, func, level, running)
  local callee = record.info.callee
  if not callee then return end
  record.callee_slot = record.callee_slot or frame.slots({callee}, func, level + 1)
  local root = frame.read(record.callee_slot, func, level + 1)[1]
  if frame.follow(callee, root) ~= running then
    errors.raise("SRC", "'%s' on this line is not meissa.parallel itself but calls it: the " ..
                 "loop's text cannot be seen from a wrapper. Write `for ... in parallel(...) " ..
                 "do` where the body stands (`local p = meissa.parallel` works).", callee.text)
  end
end

-- Plans the loop for this space and these captured values.
local function plan_loop(record, space, roots, env)
  local bindings, values, recent = captured.find(record, space, roots, env)
  if recent then return recent, bindings, values end
  local plan = plans.get(record, space, bindings)
  -- Equal subscripts tell entries apart no more; in an ordered loop such entries follow each other.
  if plan.draws and space.sparse and not space.ordered then
    space.positions = array.repeats(space.array)
  end
  captured.remember(record, space, plan, bindings)
  return plan, bindings, values
end

-- The loop's grid, which its plan tells of.
local function cut(plan, space)
  local grid = grids.cut(plan, space)
  plan.grid = grid.ranges
  if #plan.buffers > 0 then plan.stages = #stages.of(plan, grid) end
  return grid
end

local function find_kernel(record, plan, space, bindings, values)
  return kernel.find(record.loop, plan, bindings, values, space, plan.kernels, record.kernels,
                     engine.prefers_native(space))
end

-- The loop's kernel, and what its execution may use of the native engine.
local function choose_engine(record, plan, space, bindings, values)
  local static = find_kernel(record, plan, space, bindings, values)
  return static, engine.choose(plan, static, space)
end

-- Runs the loop on the workers; the list of {capture=, value=} to assign. `roots` and `env`: where
-- the captured values were found.
local function run_on_workers(record, plan, space, bindings, values, draws, called, roots, env)
  -- The compiler may work while the space is cut and workers start.
  local static, native = choose_engine(record, plan, space, bindings, values)
  local grid = cut(plan, space)
  plans.explain(plan, space)
  local assigned, measured = job.run {
    record = record, plan = plan, space = space, bindings = bindings, values = values,
    grid = grid, kernel = static, native = native, session = pool.session(), called = called,
    draws = draws, roots = roots, env = env,
  }
  last_plan = plans.measured(plan, measured)
  return assigned
end

-- The iterations of a loop that runs plainly, each with its random numbers and undefined scratch
-- arrays.
local function with_places(bindings, values, step, dims, draws)
  local list = {}
  for c, binding in ipairs(bindings) do
    if binding.scratch then list[#list + 1] = values[c] end
  end
  return random.iterate(scratches.iterate(list, step), dims, draws)
end

-- The loop as written: ranges in their order, entries row by row if the loop is ordered and in
-- file order if not.
local function iterate_plainly(space)
  if space.sparse and space.ordered then return job.row_major(space) end
  return spaces.iterate(space)
end

-- A loop that is to run serially is the plain loop that it is: its body may do anything.
local function run_serially(plan, space, bindings, values, draws)
  plan.grid, last_plan = {}, plan
  plans.explain(plan, space)
  local dims = space.positions and 0 or #space.ranges
  local step, list = with_places(bindings, values, iterate_plainly(space), dims, draws), {}
  for k, c in ipairs(plan.buffers) do list[k] = buffers.of(values[c]) end
  return #list > 0 and buffers.iterate(list, plan.max_delay, step) or step
end

-- Runs the blocks in this process by the engine; the list of {capture=, value=} to assign. Loops in
-- the body run plainly, as they do on a worker.
local function run_engine_here(record, plan, space, bindings, values, draws)
  local static, native = choose_engine(record, plan, space, bindings, values)
  local grid = cut(plan, space)
  last_plan = plan
  plans.explain(plan, space)
  local outer = M.on_worker
  M.on_worker = true
  local ok, assigned = pcall(job.run_here, {
    record = record, plan = plan, space = space, bindings = bindings, values = values, grid = grid,
    kernel = static, native = native, draws = draws,
  })
  M.on_worker = outer
  if not ok then error(assigned, 0) end
  return assigned
end

-- Whether a loop of this process goes through the engine; an unordered one also for the asking. The
-- plain loop knows no more of an iteration of collapsed loops than its first index, which random
-- numbers would depend on.
local function by_engine(plan, space)
  return pool.workers() == 0 and (#plan.buffers > 0 or plan.draws and space.collapse > 1 or
    not space.ordered and
    (plans.needs_engine(plan, space) or engine.asked(space.options) == "native"))
end

-- Runs the loop in this process: an iterator for the body.
local function run_here(record, plan, space, bindings, values, slots, draws, func, frame_form)
  last_plan = plan
  if space.ordered then
    plan.grid = {} -- the loop as written has no blocks
    plans.explain(plan, space)
    local step = with_places(bindings, values, iterate_plainly(space), #space.ranges, draws)
    return function()
      local i1, i2, i3, i4, i5, i6, i7, i8, i9 = step()
      if i1 == nil then inprocess.leave() end
      return i1, i2, i3, i4, i5, i6, i7, i8, i9
    end
  end
  local grid = cut(plan, space)
  plans.explain(plan, space)
  local reductions = {}
  for _, scalar in ipairs(plan.scalar_list) do
    if scalar.role == "reduction" then
      reductions[#reductions + 1] = {capture = record.captures[scalar.capture],
                                     slot = slots[scalar.capture], op = scalar.op,
                                     wins = scalar.wins}
    end
  end
  inprocess.notice_inexact(record, plan, bindings)
  local blocks = job.serial_order(plan, grid)
  local step = inprocess.blocks(blocks, job.cursor(grid, space), reductions, func, frame_form)
  return with_places(bindings, values, step, not space.positions and #space.ranges or nil, draws)
end

--- The iterator of a parallel loop; see the manual.
-- Errors: SRC DEP OPT ARR BDY WRK INT NET.
function M.parallel(...)
  local called = system.clock()
  local space = spaces.parse(...)
  if M.on_worker or inprocess.inside(2) then return spaces.iterate(space) end
  local info = debug.getinfo(2, "Slf")
  if not info or info.what == "C" then
    errors.raise("SRC", "parallel must be called in a `for` statement: for i in parallel(n) do")
  end
  local func = info.func
  local record = find_loop(func, info, info.currentline)
  local slots = record.slots or frame.slots(record.captures, func, 2)
  record.slots = slots
  check_callee(record, func, 2, M.parallel)
  local roots = frame.read(slots, func, 2)
  local plan, bindings, values = plan_loop(record, space, roots, getfenv(func))
  check.loop(record, plan, space, values, roots, func)
  plans.check(plan, space)
  plans.check_contents(plan, space, bindings, values)
  if plans.is_empty(plan, space) then
    last_plan = plan
    return finished
  end
  local draws = random.next_loop()
  if plans.runs_serially(plan, space) then
    return run_serially(plan, space, bindings, values, draws)
  end
  plans.check_scalars(plan, values)
  local assigned
  if by_engine(plan, space) then
    assigned = run_engine_here(record, plan, space, bindings, values, draws)
  elseif pool.workers() == 0 then
    inprocess.enter(func, 2)
    return run_here(record, plan, space, bindings, values, slots, draws, func, true)
  else
    assigned = run_on_workers(record, plan, space, bindings, values, draws, called, roots,
                              getfenv(func))
  end
  for _, each in ipairs(assigned) do
    frame.write(record.captures[each.capture], slots[each.capture], func, 2, each.value)
  end
  return finished
end

-- Splits each(space..., opts, fn): the function, the space.
local function split_closure(name, ...)
  local count = select("#", ...)
  local fn = select(count, ...)
  if count == 0 or type(fn) ~= "function" then
    errors.raise("OPT", "%s: the last argument must be a function of the loop's variables: " ..
                 "%s(n, function(i) ... end)", name, name)
  end
  local arguments = {...}
  return fn, spaces.parse(unpack(arguments, 1, count - 1))
end

local function run_plainly(iterator, fn)
  for i1, i2, i3, i4, i5, i6, i7, i8, i9 in iterator do
    fn(i1, i2, i3, i4, i5, i6, i7, i8, i9)
  end
end

-- What a closure's loop captures, and its plan.
local function plan_closure(fn, space)
  local record = find_loop(fn, debug.getinfo(fn, "S"), nil)
  local slots = record.slots or frame.slots(record.captures, fn, nil)
  record.slots = slots
  local roots = frame.read(slots, fn, nil)
  local plan, bindings, values = plan_loop(record, space, roots, getfenv(fn))
  check.loop(record, plan, space, values, roots, fn)
  return record, slots, plan, bindings, values, roots
end

--- Runs a closure for every iteration: each(space..., opts, function(i, j, r) ... end).
function M.each(...)
  local called = system.clock()
  local fn, space = split_closure("meissa.each", ...)
  if M.on_worker or inprocess.inside(2) then
    run_plainly(spaces.iterate(space), fn)
    return
  end
  local record, slots, plan, bindings, values, roots = plan_closure(fn, space)
  plans.check(plan, space)
  plans.check_contents(plan, space, bindings, values)
  if not plans.runs_serially(plan, space) then plans.check_scalars(plan, values) end
  local draws = not plans.is_empty(plan, space) and random.next_loop()
  if not draws then
    last_plan = plan
  elseif plans.runs_serially(plan, space) then
    run_plainly(run_serially(plan, space, bindings, values, draws), fn)
  elseif pool.workers() == 0 and not by_engine(plan, space) then
    inprocess.enter(M.each, 1)
    run_plainly(run_here(record, plan, space, bindings, values, slots, draws, fn, false), fn)
  else
    local assigned
    if pool.workers() == 0 then
      assigned = run_engine_here(record, plan, space, bindings, values, draws)
    else
      assigned = run_on_workers(record, plan, space, bindings, values, draws, called, roots,
                                getfenv(fn))
    end
    for _, each in ipairs(assigned) do
      frame.write(record.captures[each.capture], slots[each.capture], fn, nil, each.value)
    end
  end
end

-- The plan with its grid and engine, if it can be cut.
local function complete(record, plan, space, bindings, values)
  if plans.is_empty(plan, space) or plan.strategy == "serial" then
    plan.grid = {}
    return plan
  end
  local static = find_kernel(record, plan, space, bindings, values)
  engine.judge(plan, static, space)
  cut(plan, space)
  return plan
end

--- Plans without running: plan(space..., opts, function(i) ... end) gives the plan. In the generic
-- `for`, `for i in meissa.plan(n) do ... end` runs nothing, and meissa.last() is the plan.
function M.plan(...)
  local count = select("#", ...)
  if count > 0 and type((select(count, ...))) == "function" then
    local fn, space = split_closure("meissa.plan", ...)
    local record, _, plan, bindings, values = plan_closure(fn, space)
    return complete(record, plan, space, bindings, values)
  end
  local space = spaces.parse(...)
  local info = debug.getinfo(2, "Slf")
  local record = find_loop(info.func, info, info.currentline)
  local slots = frame.slots(record.captures, info.func, 2)
  check_callee(record, info.func, 2, M.plan)
  local roots = frame.read(slots, info.func, 2)
  local plan, bindings, values = plan_loop(record, space, roots, getfenv(info.func))
  last_plan = complete(record, plan, space, bindings, values)
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
  local own = {meissa = package.loaded["meissa"], parallel = M.parallel}
  setfenv(chunk, setmetatable(own, {__index = outer, __newindex = outer}))
  return chunk(...)
end

--- The plan of the last loop, with seconds, busy and wait time of each worker, and bytes moved.
function M.last()
  return last_plan
end

return M
