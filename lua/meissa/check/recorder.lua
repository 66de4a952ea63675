-- SPDX-License-Identifier: MIT
--- The recorder: runs a loop's body as plain Lua in this process, on copies of all that it can
-- reach, and notes which elements each iteration really reads and writes.
--
-- Built on definitions, not on the analyser: what it sees can be held against a plan (see
-- meissa.check.judge). Variables that several closures share with the body are copied apart.
-- @module meissa.check.recorder

local bodies = require "meissa.check.body"
local frames = require "meissa.capture.stack_frame"
local grids = require "meissa.plan.grid"
local layouts = require "meissa.plan.layout"
local job = require "meissa.driver.job"
local logs = require "meissa.check.log"
local random = require "meissa.kernel.random"
local shadows = require "meissa.check.shadow"
local spaces = require "meissa.plan.space"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"
local worlds = require "meissa.check.world"

local M = {}

-- The variables of the body: captured locals, and behind them the globals. Both are noted.
local function watched_variables(run, world)
  local variables, captured = {}, {}
  local globals = world:environment(getfenv(run.func))
  for c, capture in ipairs(run.record.captures) do
    if capture.reach ~= "global" then
      captured[capture.root] = true
      variables[capture.root] = world:shadow(run.roots[c], capture.root)
    end
  end
  for name, value in tables.each(run.record.strings or {}) do
    captured[name], variables[name] = true, value
  end
  local store = world.log:store {kind = "variable"}
  local env = setmetatable({}, {
    __index = function(_, name)
      world.log:touch(store, name, false)
      if captured[name] then return variables[name] end
      return globals[name]
    end,
    __newindex = function(_, name, value)
      world.log:touch(store, name, true)
      if captured[name] then variables[name] = value else rawset(globals, name, value) end
    end,
  })
  return env
end

-- The value behind a capture in the recorded world, and how to set it.
local function capture_value(env, capture) return frames.follow(capture, env[capture.root]) end

local function set_capture(env, capture, value)
  local holder, key = env, capture.root
  for _, field in ipairs(capture.fields) do holder, key = holder[key], field end
  holder[key] = value
end

-- ------------------------------------------------------------------------------------ iterations

-- Visits lo, lo + step, ... hi of the remaining dimensions; `visit` may return true to stop.
local function walk(run, body, block, depth, index, visit)
  if depth > run.dims then return visit(index) end
  local lo, hi, step
  local range = run.space.ranges[depth]
  if range then
    lo, hi, step = range[1], range[2], range[3]
    if block then lo, hi = block.lo[depth], block.hi[depth] end
  else
    lo, hi, step = body.bounds[depth](unpack(index, 1, depth - 1))
    step = step or 1
    run.steps[depth] = step
  end
  for value = lo, hi, step do
    index[depth] = value
    if walk(run, body, block, depth + 1, index, visit) then return true end
  end
end

-- The plan's row over an iteration: each index counts as weigh.ordinals says.
local function row_value(plan, index)
  local sum = 0
  for d, extent in ipairs(plan.extents) do
    local ordinal = extent.low and index[d] * extent[3] or (index[d] - extent[1]) / extent[3]
    sum = sum + plan.row[d] * ordinal
  end
  return sum
end

-- Whether an iteration belongs to a block of ranges.
local function belongs(run, block, index)
  if block.row_lo then
    local value = row_value(run.plan, index)
    if value < block.row_lo or value > block.row_hi then return false end
  end
  for d = 1, #index do
    local lo, hi = block.lo[d], block.hi[d]
    if lo and (index[d] < math.min(lo, hi) or index[d] > math.max(lo, hi)) then return false end
  end
  return true
end

-- A list {indices..., value, block =} taken from an iterator of indices and a value.
local function take(step, state, dims, block, visit)
  while true do
    local entry = {step(state)}
    if entry[1] == nil then return end
    entry.block, entry.value, entry[dims + 1] = block, entry[dims + 1], nil
    if visit(entry) then return true end
  end
end

local function copy_of(index, block)
  local entry = {unpack(index)}
  entry.block = block
  return entry
end

-- All iterations in the plan's serial order.
local function visit_blocks(run, body, grid, visit)
  local layout = grid.layout
  local cursor = run.space.array and job.cursor(grid, run.space)
  for number in grids.serial_order(grid) do
    if cursor then
      local step, state = cursor(number)
      if take(step, state, run.dims, number, visit) then return end
    else
      local block = layouts.block(layout, number)
      if walk(run, body, block, 1, {}, function(index)
        return belongs(run, block, index) and visit(copy_of(index, number))
      end) then return end
    end
  end
end

-- All iterations in the order as written.
local function visit_written(run, body, visit)
  local space = run.space
  if space.array then
    local step, state = spaces.iterate(space)
    take(step, state, run.dims, nil, visit)
  else
    walk(run, body, nil, 1, {}, function(index) return visit(copy_of(index)) end)
  end
end

local function arguments_of(entry, dims, run)
  if not run.space.array then return entry, dims end
  local list = {unpack(entry, 1, dims)}
  list[dims + 1] = entry.value
  return list, dims + 1
end

-- Runs the body for one iteration.
local function execute(run, body, world, entry)
  world.log:begin(entry)
  if run.source then shadows.read(run.source, entry) end
  local list, count = arguments_of(entry, run.dims, run)
  random.restart(unpack(entry, 1, run.dims))
  body.run(unpack(list, 1, count))
end

-- The loop in a world of its own: body, environment, world.
local function make(run)
  local log = logs.new()
  local world = worlds.new(log, run.replaced)
  local env = watched_variables(run, world)
  local body = bodies.make(run.record, run.space.collapse, env)
  if not body then return nil end
  run.source = run.space.array and world:shadow(run.space.array, "the space") or nil
  return body, env, world
end

-- Runs the iterations within the limits; what went wrong in a body, if anything.
local function execute_all(run, body, world, grid)
  local began, failed, complete = system.clock(), nil, true
  local function visit(entry)
    if world.log.n >= run.most or system.clock() - began > run.seconds then
      complete = false
      return true
    end
    local ok, problem = pcall(execute, run, body, world, entry)
    if not ok then
      failed, complete = problem, false
      return true
    end
  end
  -- Blocks along a row are searched for: too slow for more than small spaces.
  local by_blocks = grid and not run.space.ordered and not (run.plan.row and run.most < math.huge)
  if by_blocks then
    visit_blocks(run, body, grid, visit)
  else
    visit_written(run, body, visit)
  end
  world.log.n = 0
  return failed, complete
end

local function reductions_of(run)
  local list = {}
  for _, scalar in ipairs(run.plan.scalar_list) do
    local alone = scalar.op ~= "with" and not scalar.start and not scalar.after
    if scalar.role == "reduction" and alone then
      list[#list + 1] = {name = scalar.name, op = scalar.op, wins = scalar.wins,
                         capture = run.record.captures[scalar.capture]}
    end
  end
  return list
end

--- Runs a loop under the recorder.
-- @tab run `record`, `plan`, `space`, `roots` (values of the captures' root variables), `func` (the
-- function whose globals the body sees); `most` iterations and `seconds` are limits;
-- `identities`: a function (reduction, initial value) -> what the plan's reductions begin with
-- @treturn table|nil `log`, `world`, `grid` (nil for serial plans), `failed` (a body's error),
-- `complete`, `finals` (values of the scalars that the plan names, by name); nil where the text
-- cannot be taken apart
function M.record(run)
  run.dims, run.steps = #run.plan.indices, {}
  run.most, run.seconds = run.most or math.huge, run.seconds or math.huge
  local body, env, world = make(run)
  if not body then return nil end
  local grid = run.plan.strategy ~= "serial" and grids.cut(run.plan, run.space) or nil
  local initial = {}
  for _, each in ipairs(reductions_of(run)) do
    initial[each.name] = capture_value(env, each.capture)
    if run.identities then
      set_capture(env, each.capture, run.identities(each, initial[each.name]))
    end
  end
  local failed, complete = execute_all(run, body, world, grid)
  local seen = {log = world.log, world = world, grid = grid, failed = failed, complete = complete,
                initial = initial, finals = {}, reductions = reductions_of(run)}
  for _, scalar in ipairs(run.plan.scalar_list) do
    seen.finals[scalar.name] = capture_value(env, run.record.captures[scalar.capture])
  end
  return seen
end

--- The number of the block of each recorded iteration, by iteration.
function M.blocks(run, seen)
  local numbers, layout = {}, seen.grid.layout
  local known = {}
  if run.space.array then
    local cursor = job.cursor(seen.grid, run.space)
    for number = 0, seen.grid.blocks - 1 do
      local step, state = cursor(number)
      take(step, state, run.dims, number, function(entry)
        known[table.concat(entry, ",")] = number
      end)
    end
  end
  for n, entry in ipairs(seen.log.iterations) do
    numbers[n] = entry.block or known[table.concat(entry, ",", 1, run.dims)]
    for number = 0, numbers[n] and -1 or seen.grid.blocks - 1 do
      if belongs(run, layouts.block(layout, number), entry) then
        numbers[n] = number
        break
      end
    end
  end
  return numbers
end

--- A function that returns the blocks' numbers in the plan's serial order.
function M.serial_order(seen)
  return grids.serial_order(seen.grid)
end

return M
