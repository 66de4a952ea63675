-- SPDX-License-Identifier: MIT
--- Launches: what is kept of small loops, so that the same call runs them again by one call of C.
--
-- csrc/binding/launch.c compares what is captured now with what a launch has, and runs the loop
-- where it is the same but for numbers, by the plan for these. All else goes the long way, which
-- ends here again.
-- @module meissa.driver.launch

local array = require "meissa.array"
local buffers = require "meissa.array.buffer"
local core = require "meissa.core"
local ffi = require "ffi"
local grids = require "meissa.plan.grid"
local kernel = require "meissa.kernel"
local native = require "meissa.kernel.native"
local plans = require "meissa.plan"
local pool = require "meissa.driver.pool"
local random = require "meissa.kernel.random"
local remember = require "meissa.base.remember"
local situations = require "meissa.plan.situation"
local small = require "meissa.driver.small"
local steps = require "meissa.driver.launch_step"
local tables = require "meissa.base.tables"
local trace = require "meissa.base.trace"

local M = {}

-- Kinds of values that may take each other's places, as csrc/binding/launch_move.h has them.
local KINDS = {handle = 1, row = 2}

local run_again, sites = core.launches(function(value) return KINDS[array.kind(value)] end)

-- Launches of one call: arrays of different shapes that take turns have one each. And plans of one,
-- as known_plans.c has them.
local MOST_LAUNCHES, MOST_PLANS = 4, 1024

-- After so many executions a loop counts as used.
local OFTEN = 256

--- How many loops launches have run.
M.executions = 0

local generation = 0

-- With other workers nothing is as it was.
local function check_workers()
  if generation == pool.generation then return end
  for func in tables.each(sites) do sites[func] = nil end
  generation = pool.generation
end

--- Runs the loop of the function that has called the caller, given meissa.parallel's arguments, if
-- a launch fits.
-- @return the launch; nil: nothing has been done
-- @return whether Ctrl-C came meanwhile
-- @return where nothing has been done: a launch that fits but has no plan for these numbers, or nil
function M.again(...)
  check_workers()
  local launch, interrupted, wanting = run_again(...)
  if not launch then return nil, nil, wanting end
  random.count_loop()
  M.executions = M.executions + 1
  if M.executions % OFTEN == 0 then remember.touch(launch:kept().record) end
  if trace.on.plan then
    local record = launch:kept().record
    trace.say("plan", "launch loop=%s:%d", record.file, record.line)
  end
  return launch, interrupted
end

-- The plan for numbers on a launch's line, which was run without it; that at which the line begins
-- where the arrays are gone.
local function plan_of_line(launch)
  local kept, numbers, at = launch:kept(), launch:numbers(), 0
  local line = kept.line
  local space, bindings = tables.copy(line.space), tables.copy(line.bindings)
  for c, binding in ipairs(line.bindings) do
    bindings[c] = tables.copy(binding)
    if binding.kind == "array" then
      bindings[c].value = kept.seen[c] or kept.moved[c]
      if bindings[c].value == nil then return line.plan end
    elseif kept.parameters[c] then
      at = at + 1
      bindings[c].number = numbers[at]
    end
  end
  space.ranges = {}
  for d, range in ipairs(line.space.ranges) do
    space.ranges[d] = {numbers[at + 2 * d - 1], numbers[at + 2 * d], range[3]}
  end
  local plan = plans.get(kept.record, space, bindings, {})
  plan.grid, plan.engine = grids.cut(plan, space).ranges, "native"
  return plan
end

--- The plan that a launch has run last, with what it took.
function M.plan(launch)
  local number, called, began, ended = launch:latest()
  local plan, grid = number == 0 and plan_of_line(launch), launch:kept().grids[number]
  if not plan then
    plan = launch:kept().plans[number]
    plan.cut, plan.grid = grid, grid.ranges -- loops with other options have the same plan
  end
  return plans.measured(plan, small.measured(called, began, ended))
end

-- Where a captured variable is found, as csrc/binding/place.h has it.
local function place_of(capture, slot)
  local reach = slot.global and "global" or not slot.slot and "nowhere" or
    slot.frame and "frame" or "upvalue"
  return {reach = reach, slot = slot.slot, name = slot.name, fields = capture.fields}
end

-- Kinds of a kernel's parameters that are the same as long as its arrays are, or that C sets anew.
local LASTING = {pointer = true, stride = true, extent = true, limit = true, step = true,
                 entries = true, coord = true, rows = true, draws = true, touched = true,
                 inner = true, list = true, length = true, starts = true}

-- The slot with the place of random numbers.
local function draws_of(instance)
  for n, param in ipairs(instance.info.params) do
    if param.kind == "draws" then return instance.slots + (n - 1) end
  end
end

-- The kernel's parameters that are numbers; nil where others may change.
local function arguments_of(info, bindings)
  local list = {}
  for n, param in ipairs(info.params) do
    if param.kind == "value" then
      if bindings[param.at].kind == "number" then
        list[#list + 1] = {slot = n - 1, capture = param.at}
      end
    elseif not LASTING[param.kind] then
      return nil
    end
  end
  return list
end

-- The numbers that the kernel takes from captured functions and tables; nil where one was found
-- elsewhere than `reached` says.
local function data_of(instance, values, reached)
  local list = {}
  for k, each in ipairs(native.inner_numbers(instance, values)) do
    local subject, key = each.subject, each.key
    if type(subject) == "table" then subject = tables.holder_of(subject, key) end
    local place = reached and reached:place_of(subject, key)
    if not place then return nil end
    list[k] = {slot = each.slot, place = place, single = each.single}
  end
  return list
end

-- The kernel's slot that tells where a captured array is, if there is one; and whether there are no
-- others.
local function pointer_of(instance, c)
  local found
  for n, param in ipairs(instance.info.params) do
    if param.kind == "pointer" and param.at == c then
      if found then return nil, false end
      found = instance.slots + (n - 1)
    end
  end
  return found, true
end

-- What is told of a captured array; nil for one that cannot be compared.
local function array_of(run, instance, c, value)
  local binding, used = run.bindings[c], run.plan.array_of[c]
  local row = array.kind(value) == "row"
  local own = binding.buffers and buffers.of(run.values[c]).target or
    row and run.values[c] or value
  if not array.is_handle(own) or binding.sparse and used.written then return nil end
  local pointer, alone = pointer_of(instance, c)
  return {array = array.core(own), written = used.written,
          rows = binding.sparse and array.rows(value) or nil, pointer = pointer,
          movable = alone and not (binding.buffers or binding.sparse or binding.view)}
end

-- The captures, and behind them what these lead to; nil where one is none of those that can be
-- compared.
local function captures_of(run, instance, seen, reached)
  local record, list = run.record, {}
  for c, binding in ipairs(run.bindings) do
    local capture = record.captures[c]
    local about = capture and place_of(capture, record.slots[c]) or
      {reach = "nowhere", kind = "reached"}
    if binding.kind == "number" then
      about.kind = "number"
      about.parameter = situations.parameters(record, run.bindings)[c]
    elseif binding.kind == "nil" then
      about.kind = "nil"
    elseif binding.kind == "array" then
      local told = array_of(run, instance, c, seen[c])
      if not told then return nil end
      for key, each in tables.each(told) do about[key] = each end
      about.movable = about.movable and about.kind ~= "reached"
    elseif reached then
      about.object = reached:object(seen[c])
    end
    list[c] = about
  end
  return list
end

-- Which captures are numbers that plans depend on.
local function parameters_of(captures)
  local set = {}
  for c, about in ipairs(captures) do set[c] = about.parameter or nil end
  return set
end

-- The kernel's slot for what a captured variable is before the loop.
local function slot_of(instance, capture)
  for n, param in ipairs(instance.info.params) do
    if param.kind == "value" and param.at == capture then
      return ffi.cast("void *", instance.slots + (n - 1))
    end
  end
end

-- The variables that the loop assigns, in the order of the kernel's results; nil where one is a
-- field, or a number that `and` or `or` reduces: of that a launch knows only that it is one.
local function results_of(run, instance)
  local list = {}
  for n, result in ipairs(run.kernel.info.results) do
    local c, logic = result.capture, kernel.is_logic(result)
    if #run.record.captures[c].fields > 0 or logic and run.bindings[c].kind == "number" then
      return nil
    end
    list[n] = {capture = c, reduction = kernel.counts_before(result),
               truth = logic and slot_of(instance, c) or nil,
               begins_true = logic and run.values[c] and true or false}
    if logic and not list[n].truth then return nil end
  end
  return list
end

-- A copy of a loop's options, and how many there are.
local function copy_options(options)
  local copy, count = {}, 0
  for name, value in tables.each(options) do
    copy[name], count = type(value) == "table" and {unpack(value)} or value, count + 1
  end
  return copy, count
end

-- Options as a string: launches that differ in nothing else are told apart by it.
local function options_key(options)
  local words = {}
  for _, name in ipairs(tables.keys(options)) do
    local value = options[name]
    words[#words + 1] = name .. "=" .. (type(value) == "table" and table.concat(value, ",") or
      tostring(value))
  end
  return table.concat(words, " ")
end

-- Whether a run is one that a launch may take the place of: not where contents of arrays decide,
-- nor before it is known which kernel these arrays have.
local function suits(run)
  local space, recent = run.space, (run.record.recent or {})[1]
  return recent and not run.kernel_open and recent.situation == run.situation and
    not space.check and not run.record.strings and space.assume ~= "inspection"
end

local function make(run, known, parallel)
  local record, space = run.record, run.space
  local seen = setmetatable({}, {__mode = "v"})
  for c in ipairs(run.bindings) do seen[c] = run.bindings.seen[c] end
  seen[0] = space.array
  local reached = record.recent[1].bindings.reached
  local captures = captures_of(run, known.instance, seen, reached)
  local results = results_of(run, known.instance)
  local moved = setmetatable({}, {__mode = "v"})
  local arguments = arguments_of(run.native.info, run.bindings)
  local data = data_of(known.instance, run.values, reached)
  if not captures or not results or not arguments or not data then return nil end
  local strides, options, option_count = {}, copy_options(space.options)
  for d, range in ipairs(space.array and {} or space.ranges) do strides[d] = range[3] end
  local callee = record.info.callee
  return core.launch {
    run = ffi.cast("void *", known.run), slots = known.instance.slots + 0,
    pace = ffi.cast("void *", record.small), most = small.most + 0,
    draws = draws_of(known.instance), loops = random.loops + 0,
    captures = captures, results = results, arguments = arguments, data = data, steps = strides,
    reached = reached,
    callee = callee and place_of(callee, record.callee_slot[1]), parallel = parallel,
    space = space.array and array.core(space.array), options = options,
    option_count = option_count, seen = seen, moved = moved,
    kept = {small = known, pace = record.small, most = small.most, record = record, seen = seen,
            moved = moved, parameters = parameters_of(captures), plans = {},
            grids = {}, count = 0, failed = 0},
  }
end

-- Lets a launch be found by its call.
local function place(launch, func, line)
  local lines = sites[func] or {}
  sites[func] = lines
  local list = lines[line] or {}
  lines[line] = list
  for k = #list, 1, -1 do
    if list[k] == launch then return end
  end
  table.insert(list, 1, launch)
  list[MOST_LAUNCHES + 1] = nil
end

-- The launch for a run: that which has all but the plan, though it may be of other arrays, if it
-- has the kernel; else that of these arrays, which is made if it is not there.
local function find_launch(run, known, parallel, wanting)
  if wanting and wanting:kept().small.object == known.object then return wanting end
  known.launches = known.launches or {}
  local key = options_key(run.space.options)
  local launch = known.launches[key]
  if launch == nil then
    launch = make(run, known, parallel) or false
    known.launches[key] = launch
  end
  return launch
end

--- Keeps what a loop has run with.
-- @tab run the run, which was small @tab known its situation's `small` (see meissa.driver.small)
-- @param func the function with the loop @number line of the call
-- @func parallel what its call has called
-- @param[opt] wanting what M.again gave as its third
function M.keep(run, known, func, line, parallel, wanting)
  if not suits(run) then return end
  check_workers()
  local launch = find_launch(run, known, parallel, wanting)
  if not launch then return end
  local kept = launch:kept()
  local number, numbers = kept.count % MOST_PLANS + 1, small.numbers(run)
  run.record.recent[1].written.recalled = true -- by the launch
  if launch:add(numbers, run.grid.core, number) then
    kept.plans[number], kept.grids[number], kept.count = run.plan, run.grid, kept.count + 1
    steps.look_ahead(launch, kept, run, numbers)
  end
  place(launch, func, line)
end

return M
