-- SPDX-License-Identifier: MIT
--- Levels: ordered loops whose iterations collide at places that do not depend on what the loop
-- writes, as in a sparse triangular solve, run level by level.
--
-- A slice of the body (csrc/depend/inspector.h), called for each iteration in the loop's order,
-- gives it a level: one more than that of all earlier iterations with which it collides
-- (wavefronts by inspector and executor; Saltz, Mirchandaney & Crowley, 1991). The body then
-- runs over the entries of a sparse array, one for each iteration, whose first index is the
-- level and is swept: so every element has its values in the order as written. Levels are kept
-- as proofs of inspections are. Lives on the driver.
-- @module meissa.driver.levels

local array = require "meissa.array"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local inspect = require "meissa.plan.inspect"
local plans = require "meissa.plan"
local random = require "meissa.kernel.random"
local spaces = require "meissa.plan.space"
local slices = require "meissa.driver.slice"
local sparse = require "meissa.array.sparse"
local spread = require "meissa.base.spread"

local M = {}

-- Reductions of which it does not matter in which order iterations come, but for last bits.
local SYMMETRIC = {["+"] = true, ["*"] = true, min = true, max = true, ["bit.bor"] = true,
                   ["bit.band"] = true, ["bit.bxor"] = true}

local MOST_LEVELS = 2 ^ 20

-- ---------------------------------------------------------------------------------- what fits

local function has_print(run)
  for _, binding in ipairs(run.bindings) do
    if binding.kind == "builtin" and binding.name == "print" then return true end
  end
  return false
end

-- Whether the loop leaves the same behind when its iterations come in another order, as far as
-- arrays do.
local function suits(run)
  local plan, space = run.plan, run.space
  local collisions = plan.collisions
  if not collisions.levels or plan.draws or space.array or space.impure then return false end
  if not slices.is_exact(run, collisions.levels, collisions.levelled) then return false end
  for _, scalar in ipairs(plan.scalar_list) do
    local symmetric = scalar.role == "reduction" and SYMMETRIC[scalar.op] and
      not scalar.tie and not scalar.start and not scalar.after
    if scalar.role ~= "broadcast" and not symmetric then return false end
  end
  return not has_print(run)
end

-- ------------------------------------------------------------------------------------- levels

local function extent_of(range) return (range[2] - range[1]) / range[3] + 1 end

local levels_type, starts_type = ffi.typeof "int32_t[?]", ffi.typeof "double[?]"

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

-- "for ... do levels[n] = of(...); n = n + 1 end" over the loop's ranges.
local function all_in_order(dims)
  local head, names = {}, {}
  for d = 1, dims do
    names[d] = "meissa_index_" .. d
    head[d] = string.format("for %s = meissa_lo_%d, meissa_hi_%d, meissa_step_%d do ", names[d], d,
                            d, d)
  end
  return string.format("%slevels[n] = meissa_of(%s) n = n + 1 %s", table.concat(head),
                       table.concat(names, ", "), string.rep("end ", dims))
end

-- The level of each iteration, from number 0, and how many levels there are; nil if they cannot be
-- found.
local function find_levels(run, count)
  local marks, levels = make_marks(run), levels_type(count)
  local text = string.format("function(levels)\nlocal meissa_of = %s\nlocal n = 0\n%s\nend",
                             run.plan.collisions.levels, all_in_order(#run.space.ranges))
  local find = slices.closure(run, text, {marks = marks})
  if not find then return nil end
  find(levels)
  for _, each in ipairs(marks) do each:free() end
  local most = 0
  for n = 0, count - 1 do most = math.max(most, levels[n]) end
  return levels, most
end

-- The entries of the space {level, indices...}, level by level.
local function make_entries(run, levels, most, count)
  local dims = {most}
  for d, range in ipairs(run.space.ranges) do dims[d + 1] = extent_of(range) end
  local handle = sparse.empty(dims, count, {type = "int32"})
  local coords, starts = handle.array.coords, starts_type(most + 2)
  for n = 0, count - 1 do starts[levels[n] + 1] = starts[levels[n] + 1] + 1 end
  for l = 1, most do starts[l + 1] = starts[l + 1] + starts[l] end
  for n = 0, count - 1 do
    local place, rest = starts[levels[n]], n
    starts[levels[n]] = place + 1
    coords[0][place] = levels[n] - 1
    for d = #dims, 2, -1 do
      local at = rest % dims[d]
      coords[d - 1][place], rest = at, (rest - at) / dims[d]
    end
  end
  ffi.fill(handle.array.data, 4 * count)
  return handle
end

-- ------------------------------------------------------------------------------------ the loop

-- A name for the level that the body does not have.
local function level_name(body)
  local name = "level"
  while inspect.has_name(body, name) do name = name .. "_" end
  return name
end

-- The body as a function of a level and places in the ranges, and how many lines come before it.
local function body_text(run)
  local record, head, places = run.record, {}, {}
  local info = record.info
  local body = string.sub(record.source, info.body_begin, info.body_finish)
  local _, lines = string.gsub(string.sub(record.source, 1, info.body_begin - 1), "\n", "")
  for d, range in ipairs(run.space.ranges) do
    places[d] = record.variables[d]
    if range[1] ~= 1 or range[3] ~= 1 then
      places[d] = "meissa_at_" .. d
      head[#head + 1] = string.format("local %s = meissa_lo_%d + (meissa_at_%d - 1) * " ..
                                      "meissa_step_%d; ", record.variables[d], d, d, d)
    end
  end
  return string.format("function(%s, %s) %s%s\nend", level_name(body), table.concat(places, ", "),
                       table.concat(head), body), lines
end

local function state_of(run)
  local collisions = run.plan.collisions
  return slices.state(run, collisions.levels, collisions.levelled)
end

--- The levels that a loop was run by the last time, if they are still right; nil else.
function M.known(run)
  local known = run.plan.levelled
  return known and known.state and known.state == state_of(run) and known.levels or nil
end

--- Finds the levels of a loop.
-- @tab run a planned run whose plan has `collisions`
-- @treturn table|nil {entries =, count = levels}; nil: it has none, or is as serial as it was
function M.find(run)
  if not suits(run) then return nil end
  local plan, count = run.plan, 1
  for _, range in ipairs(run.space.ranges) do count = count * extent_of(range) end
  if count < 2 or count >= 2 ^ 31 then return nil end
  local state = state_of(run)
  local ok, levels, most = plans.silently(find_levels, run, count)
  if not ok or not levels or most == count or most > MOST_LEVELS then return nil end
  local found = {entries = make_entries(run, levels, most, count), count = most}
  plan.levelled = {state = state, levels = found}
  return found
end

-- An error of the body, as the loop as written would have it.
local function as_written(run, err)
  if errors.is(err) and type(err.iteration) == "table" and #err.iteration > #run.space.ranges then
    local index = {}
    for d, range in ipairs(run.space.ranges) do
      index[d] = range[1] + (err.iteration[d + 1] - 1) * range[3]
    end
    err.iteration, err.file = index, run.record.file
  end
  error(err, 0)
end

-- The body as a closure over this run's variables, kept with the levels.
local function body_of(run, levels)
  if levels.body then
    levels.renew(run)
  else
    local text, lines = body_text(run)
    levels.body, levels.values, levels.renew = slices.closure(run, text, {lines = lines})
  end
  return levels.body
end

--- Runs a loop level by level.
-- @tab run a planned run @tab levels what M.find gave
-- @treturn table the scalars to assign, a list of {capture =, value =}
-- @treturn table its plan
-- Errors: BDY ARR WRK INT NET.
function M.run(run, levels)
  local body, options = body_of(run, levels), run.space.options
  local space = spaces.parse(levels.entries, {
    ordered = true, engine = options.engine, numeric = options.numeric, check = options.check,
    transaction = options.transaction,
  })
  space.assume = "levels"
  local ok, plan = random.uncounted(plans.silently, spread.each_space, space, body)
  if not ok then as_written(run, plan) end
  plan.file, plan.line, plan.record = run.record.file, run.record.line, run.record
  plan.inspected, plan.levels, plan.entries = run.plan.inspect, levels.count, false
  plans.explain(plan, run.space)
  local assigned = {}
  for _, scalar in ipairs(run.plan.scalar_list) do
    local capture = run.record.captures[scalar.capture]
    if scalar.role == "reduction" and #capture.fields == 0 then
      assigned[#assigned + 1] = {capture = scalar.capture, value = levels.values()[capture.root]}
    end
  end
  return assigned, plan
end

return M
