-- SPDX-License-Identifier: MIT
--- Levels: ordered loops whose iterations collide at places that do not depend on what the loop
-- writes, as in a sparse triangular solve, run level by level.
--
-- A slice of the body (csrc/depend/inspector.h), called for each iteration in the loop's order,
-- gives it a level: one more than that of all earlier iterations with which it collides
-- (wavefronts by inspector and executor; Saltz, Mirchandaney & Crowley, 1991). The body then
-- runs over the entries of a sparse array, one for each iteration, whose first index is the
-- level and is swept: so every element has its values in the order as written. Levels are kept
-- as proofs of inspections are.
--
-- Iterations that come level by level go through memory in leaps, and wait for each other after
-- each level. So the loop may be over sooner if it runs as written, compiled, in this process: with
-- the same bits, which is why time alone decides. Lives on the driver.
-- @module meissa.driver.levels

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local environment = require "meissa.base.environment"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local inspect = require "meissa.plan.inspect"
local plans = require "meissa.plan"
local random = require "meissa.kernel.random"
local spaces = require "meissa.plan.space"
local inspectors = require "meissa.driver.inspector_function"
local sparse = require "meissa.array.sparse"
local spread = require "meissa.base.spread"
local system = require "meissa.base.system"
local worker_count = require "meissa.driver.worker_count"
local interrupt = require "meissa.base.interrupt"

local M = {}

-- Reductions of which it does not matter in which order iterations come, but for last bits.
local SYMMETRIC = {["+"] = true, ["*"] = true, min = true, max = true, ["bit.bor"] = true,
                   ["bit.band"] = true, ["bit.bxor"] = true}

local MOST_LEVELS = 2 ^ 20

-- The way that is not taken, level by level or as written, is tried at once, then after one loop,
-- two, four, and so on; and of a loop that runs as written not before it has taken so many times as
-- long as a trial.
local LONGEST_WAIT, TRIAL_SHARE = 1024, 10

-- ---------------------------------------------------------------------------------- what fits

local function has_print(run)
  for _, binding in ipairs(run.bindings) do
    if binding.kind == "builtin" and binding.name == "print" then return true end
  end
  return false
end

--- Why a loop cannot run level by level, although its collisions could be found: what it leaves
-- behind when its iterations come in another order is not the same. Nil: it can, or has none.
function M.obstacle(run)
  local plan = run.plan
  if not plan.collisions.levels or run.space.array then return nil end
  if plan.draws then return "random numbers are drawn in it" end
  if run.space.impure then return "it is impure" end
  if has_print(run) then return "it prints" end
  for _, scalar in ipairs(plan.scalar_list) do
    local symmetric = scalar.role == "reduction" and SYMMETRIC[scalar.op] and
      not scalar.tie and not scalar.start and not scalar.after
    if scalar.role ~= "broadcast" and not symmetric then
      return string.format("what '%s' is depends on the order of the iterations", scalar.name)
    end
  end
end

local function suits(run)
  local collisions = run.plan.collisions
  return collisions.levels and not run.space.array and not M.obstacle(run) and
    inspectors.is_exact(run, collisions.levels, collisions.levelled)
end

-- ------------------------------------------------------------------------------------- levels

local function extent_of(range) return (range[2] - range[1]) / range[3] + 1 end

-- Whether entries of a space have a range's own indices; else their places in it, from 1.
local function has_indices(range)
  return math.min(range[1], range[2]) >= 1 and math.max(range[1], range[2]) < 2 ^ 31
end

-- What an iteration has as an index of entries, from its place from 0; and the largest of these.
local function entry_index(range, at)
  return has_indices(range) and range[1] + at * range[3] or at + 1
end

local function largest_index(range)
  return has_indices(range) and math.max(range[1], range[2]) or extent_of(range)
end

local starts_type = ffi.typeof "double[?]"

-- Marks of levels for each array.
local function make_marks(run)
  local marks = {}
  for k, b in ipairs(run.plan.collisions.levelled) do
    local dims = {unpack(array.describe(run.values[b]).dims)}
    dims[#dims + 1] = 2
    marks[k] = array.zeros(dims, {type = "int32"})
  end
  return marks
end

-- Runs a function for the indices of a range, in this process and in their order, compiled; its
-- plan.
local function run_in_order(range, body, options)
  options.ordered, options.assume = true, "independent"
  local space = spaces.parse({range[1], range[2], range[3]}, options)
  space.unchecked, space.here = true, true
  return spread.each_space(space, body)
end

-- "function(meissa_number) ... end" gives an iteration its level, from its number. The numbers run
-- through the iterations in the loop's order.
local function numbered_text(dims, slice)
  local head, names = {}, {}
  for d = 1, dims do
    names[d] = "meissa_index_" .. d
    head[d] = string.format("local meissa_within_%d = meissa_rest %% meissa_width_%d\n" ..
      "local %s = meissa_lo_%d + (meissa_rest - meissa_within_%d) / meissa_width_%d * " ..
      "meissa_step_%d\nmeissa_rest = meissa_within_%d", d, d, names[d], d, d, d, d, d)
  end
  return string.format("(function()\nlocal meissa_of = %s\nreturn function(meissa_number)\n" ..
    "local meissa_rest = meissa_number - 1\n%s\n" ..
    "meissa_levels[meissa_number] = meissa_of(%s)\nend\nend)()", slice,
    table.concat(head, "\n"), table.concat(names, ", "))
end

-- The level of each iteration, an array of int32, and how many levels there are; nil if they cannot
-- be found. Found in the loop's order: that iterations meet is what the marks are for.
local function find_levels(run, count)
  local marks, levels = make_marks(run), array.zeros({count}, {type = "int32"})
  local text = numbered_text(#run.space.ranges, run.plan.collisions.levels)
  local find = inspectors.closure(run, text, {marks = marks, own = {levels = levels}})
  if find then
    run_in_order({1, count, 1}, find, {engine = run.space.options.engine, transaction = false})
  end
  for _, each in ipairs(marks) do each:free() end
  if not find then return nil end
  return levels, levels:max()
end

-- The entries of the space {level, indices...}, level by level.
local function make_entries(run, found)
  local count, most = found.iterations, found.count
  local dims, levels = {most}, c_api.elements(array.core(found.levels))
  local ranges = run.space.ranges
  for d, range in ipairs(ranges) do dims[d + 1] = largest_index(range) end
  local handle = sparse.empty(dims, count, {type = "int32"})
  local coords, starts = handle.array.coords, starts_type(most + 2)
  for n = 0, count - 1 do starts[levels[n] + 1] = starts[levels[n] + 1] + 1 end
  for l = 1, most do starts[l + 1] = starts[l + 1] + starts[l] end
  for n = 0, count - 1 do
    local place, rest = starts[levels[n]], n
    starts[levels[n]] = place + 1
    coords[0][place] = levels[n] - 1
    for d = #ranges, 1, -1 do
      local extent = extent_of(ranges[d])
      local at = rest % extent
      coords[d][place], rest = entry_index(ranges[d], at) - 1, (rest - at) / extent
    end
  end
  ffi.fill(handle.array.data, 4 * count)
  return handle
end

-- ------------------------------------------------------------------------------------ the loop

-- The body's text, and how many lines come before it.
local function text_of(run)
  local source, info = run.record.source, run.record.info
  local _, lines = string.gsub(string.sub(source, 1, info.body_begin - 1), "\n", "")
  return string.sub(source, info.body_begin, info.body_finish), lines
end

-- A name for the level that the body does not have.
local function level_name(body)
  local name = "level"
  while inspect.has_name(body, name) do name = name .. "_" end
  return name
end

-- The body as a function of a level and what entries have as indices, and how many lines come
-- before it.
local function body_text(run)
  local record, head, places = run.record, {}, {}
  local body, lines = text_of(run)
  for d, range in ipairs(run.space.ranges) do
    local name = record.variables[d]
    places[d] = name
    if not has_indices(range) then
      head[#head + 1] = string.format("local %s = meissa_lo_%d + (%s - 1) * meissa_step_%d; ", name,
                                      d, name, d)
    end
  end
  return string.format("function(%s, %s) %s%s\nend", level_name(body), table.concat(places, ", "),
                       table.concat(head), body), lines
end

local function state_of(run)
  local collisions = run.plan.collisions
  return inspectors.state(run, collisions.levels, collisions.levelled)
end

--- The levels that a loop was run by the last time, if they are still right; nil else.
function M.known(run)
  local known = run.plan.levelled
  return known and known.state and known.state == state_of(run) and known.levels or nil
end

--- Finds the levels of a loop.
-- @tab run a planned run whose plan has `collisions`
-- @treturn table|nil {levels = those of its iterations, iterations =, count = of levels, way =,
-- plan = of the loop level by level}; nil: it has none, or one alone
function M.find(run)
  if not suits(run) then return nil end
  local plan, count = run.plan, 1
  for _, range in ipairs(run.space.ranges) do count = count * extent_of(range) end
  if count < 2 or count >= 2 ^ 31 then return nil end
  local state = state_of(run)
  local ok, levels, most = interrupt.pass(random.uncounted(plans.silently, find_levels, run, count))
  if not ok or not levels or most < 2 or most > MOST_LEVELS then return nil end
  local before = plan.levelled and plan.levelled.levels
  local found = {levels = levels, iterations = count, count = most,
                 way = before and before.way or
                   {plain = false, least = {}, rest = 0, wait = 1},
                 -- What a plan says is the same of as many levels.
                 plan = before and before.count == most and before.plan or nil}
  plan.levelled = {state = state, levels = found}
  return found
end

-- An error of the body, as the loop as written would have it.
local function as_written(run, err)
  if errors.is(err) and type(err.iteration) == "table" and #err.iteration > #run.space.ranges then
    local index = {}
    for d, range in ipairs(run.space.ranges) do
      local at = err.iteration[d + 1]
      index[d] = has_indices(range) and at or range[1] + (at - 1) * range[3]
    end
    err.iteration, err.file = index, run.record.file
  end
  error(err, 0)
end

-- A text of the body as a closure over this run's variables, kept with the levels by that name.
local function body_of(run, levels, name, write)
  local kept = levels[name]
  if kept then
    kept.renew(run)
  else
    local text, lines = write(run)
    kept = {}
    kept.body, kept.values, kept.renew = inspectors.closure(run, text, {lines = lines})
    levels[name] = kept
  end
  return kept
end

-- ----------------------------------------------------------------------------------- as written

-- The body as a function of its index.
local function plain_text(run)
  local body, lines = text_of(run)
  return string.format("function(%s) %s\nend", run.record.variables[1], body), lines
end

-- Whether the loop may run as written, in this process, and nothing but time would tell. Sums have
-- the bits that the levels' blocks give them, in fast arithmetic each compiled text has its own, a
-- history tells of blocks, and what fails as written is run level by level, for the error of the
-- lowest one.
local function may_be_plain(run, plan)
  local options = run.space.options
  return run.space.numeric == "strict" and #run.space.ranges == 1 and
    #run.plan.scalar_list == 0 and plan.engine == "native" and
    options.transaction ~= false and not options.check and not environment.get "MEISSA_HISTORY"
end

-- Whether it runs so this time, by how long both ways took at least. It is not tried where workers
-- gain more than they have to do, `busy` seconds at least.
local function is_plain(way)
  if not way.fits then return false end
  if way.rest > 0 then
    way.rest = way.rest - 1
    return way.plain
  end
  return not way.plain and way.busy < 2 * way.least[false]
end

-- Notes how long a loop took one way, and whether that is the way from now on.
local function note(way, plain, seconds)
  way.least[plain] = math.min(way.least[plain] or math.huge, seconds)
  if plain == way.plain then return end -- it was no trial
  way.plain = (way.least[true] or math.huge) < way.least[false]
  way.rest, way.wait = way.wait, math.min(2 * way.wait, LONGEST_WAIT)
  if way.plain then
    way.rest = math.max(way.rest, math.ceil(TRIAL_SHARE * way.least[false] / way.least[true]))
  end
end

-- The plan; nil: the loop fails, and has left nothing.
local function run_plain(run, levels)
  local options, began = run.space.options, system.clock()
  local kept = body_of(run, levels, "written", plain_text)
  local ok, plan = interrupt.pass(random.uncounted(plans.silently, run_in_order,
    run.space.ranges[1], kept.body, {engine = options.engine}))
  if not ok then return nil end
  local seconds = system.clock() - began
  note(levels.way, true, plan.engine == "native" and seconds or math.huge)
  return plans.measured(plans.unmeasured(levels.plan), {
    seconds = seconds, workers = 0, moved = 0, shares = {}, levels = levels.count})
end

--- Runs a loop with levels as written, in this process, where that is faster.
-- @tab run a planned run @tab levels what M.find gave
-- @treturn table|nil its plan; nil: it has not run
-- Errors: INT.
function M.run_plainly(run, levels)
  return levels.plan and is_plain(levels.way) and run_plain(run, levels) or nil
end

--- Runs a loop level by level.
-- @tab run a planned run @tab levels what M.find gave
-- @treturn table the scalars to assign, a list of {capture =, value =}
-- @treturn table its plan
-- Errors: BDY ARR WRK INT NET.
function M.run(run, levels)
  local began, options = system.clock(), run.space.options
  local kept = body_of(run, levels, "by_level", body_text)
  levels.entries = levels.entries or make_entries(run, levels)
  local space = spaces.parse(levels.entries, {
    ordered = true, engine = options.engine, numeric = options.numeric, check = options.check,
    transaction = options.transaction,
  })
  space.assume = "levels"
  local ok, plan = random.uncounted(plans.silently, spread.each_space, space, kept.body)
  if not ok then as_written(run, plan) end
  plan.file, plan.line, plan.record = run.record.file, run.record.line, run.record
  plan.inspected, plan.levels, plan.entries = run.plan.inspect, levels.count, false
  plan.unlevelled = run.plan.unlevelled
  plans.explain(plan, run.space)
  levels.plan, levels.way.fits = plan, may_be_plain(run, plan)
  if levels.way.fits then
    levels.way.busy = math.min(levels.way.busy or math.huge, worker_count.busy(plan.shares))
    note(levels.way, false, system.clock() - began)
  end
  local assigned = {}
  for _, scalar in ipairs(run.plan.scalar_list) do
    local capture = run.record.captures[scalar.capture]
    if scalar.role == "reduction" and #capture.fields == 0 then
      assigned[#assigned + 1] = {capture = scalar.capture, value = kept.values()[capture.root]}
    end
  end
  return assigned, plan
end

return M
