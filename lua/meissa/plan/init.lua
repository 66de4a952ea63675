-- SPDX-License-Identifier: MIT
--- Plans as users see them: made once for each loop and situation, printed, measured.
-- @module meissa.plan

local array = require "meissa.array"
local buffer = require "string.buffer"
local buffers = require "meissa.array.buffer"
local core = require "meissa.core"
local environment = require "meissa.base.environment"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local picture = require "meissa.plan.picture"
local remember = require "meissa.base.remember"
local replicas = require "meissa.sync.replica"
local report = require "meissa.plan.report"
local show = require "meissa.array.show"
local situations = require "meissa.plan.situation"
local spaces = require "meissa.plan.space"
local strategies = require "meissa.plan.strategy"
local tables = require "meissa.base.tables"
local trace = require "meissa.base.trace"
local inspect = require "meissa.plan.inspect"
local views = require "meissa.plan.views"
local interrupt = require "meissa.base.interrupt"

local M = {}

local Plan = {}
Plan.__index = Plan

-- What the report proposes.
local function proposals(plan)
  local lines = {}
  if plan.faster then lines[1] = "  faster, if that is exact enough:  " .. plan.faster end
  if plan.unlevelled then
    lines[#lines + 1] = "  without levels, " .. string.gsub(plan.unlevelled, ": ", ":  ", 1)
  end
  return lines
end

-- Whether an inspection has found that no two iterations meet in an array.
local function is_apart(plan, about)
  for _, b in ipairs(plan.inspected and plan.collisions and plan.collisions.arrays or {}) do
    if b == about.binding then return true end
  end
end

-- What the report says beside the plan itself.
local function context_of(plan)
  local record, moves, grid = plan.record, {}, plan.grid or {}
  local handed = grid[#grid] -- nil without workers: nothing was cut
  for name, about in tables.each(plan.arrays) do
    if is_apart(plan, about) then
      moves[name] = "no two blocks meet there"
    elseif about.placement == "rotated" and handed and about.bytes then
      moves[name] = string.format("%d hand-overs a pass, %s", handed, show.bytes(about.bytes))
    end
  end
  return {
    file = record.file, line = record.line, over = plan.entries and record.over,
    source = record.source, grid = plan.grid, moves = moves,
    engine = plan.engine, engine_reason = plan.engine_reason,
    proposals = proposals(plan),
    ordered = plan.ordered, serial = plan.serial, stages = plan.stages,
    inspected = plan.inspected and inspect.words(plan.inspected),
    replicated = plan.replicated,
  }
end

--- print(plan): the report.
function Plan:__tostring()
  return report.text(self, context_of(self))
end

--- The schedule as a picture: which block runs at which step.
function Plan:picture()
  return picture.text(self)
end

-- In a generic `for`, a plan ends the loop at once.
function Plan.__call()
  return nil
end

-- What a kernel's C text depends on of each range: its step, and whether it begins and ends at
-- 32-bit integers. The step of a collapsed loop is no part of the situation if it is captured.
local function add_ranges(parts, extents)
  for _, extent in ipairs(extents) do
    local least = math.min(extent[1], extent[2])
    local most = math.max(extent[1], extent[2])
    local small = least >= -2 ^ 31 and most < 2 ^ 31
    parts[#parts + 1] = string.format("%.17g%s", extent[3], small and "" or " wide")
  end
end

-- What a kernel's C text depends on beside the loop and the arrays' layout: the situation without
-- its extents and numbers, and what the plan makes of it. Extents, numbers and ranges are arguments
-- of the text, but where a row or dependent bounds have a part in it.
local function kind_of(plan, form)
  local parts, bound = {form, plan.strategy}, plan.row ~= nil
  add_ranges(parts, plan.extents)
  for _, scalar in ipairs(plan.scalar_list) do
    parts[#parts + 1] = string.format("%d %s %s %s %s", scalar.capture, scalar.role,
                                      scalar.op or "", scalar.wins or "", scalar.start or "")
  end
  for _, extent in ipairs(plan.extents) do bound = bound or extent.low ~= nil end
  if bound then parts[#parts + 1] = buffer.encode {plan.row or {}, plan.extents} end
  return table.concat(parts, "|")
end

-- How many elements an array of these extents has.
local function count_of(dims)
  local count = 1
  for _, extent in ipairs(dims) do count = count * extent end
  return count
end

-- Adds the views that running a plan needs: `array_of[c]`, what happens to the array that capture c
-- is; `scalar_list`, the scalars in the order of their captures.
local function index(plan, bindings)
  local by_array = {}
  for _, about in tables.each(plan.arrays) do
    about.written = about.memory ~= "read" and about.memory ~= "none"
    about.bytes = array.describe(
      replicas.copy(buffers.pending(bindings[about.binding].value))).bytes
    by_array[bindings[about.binding].array] = about
  end
  plan.array_of, plan.buffers, plan.replicas = {}, {}, {}
  for c, binding in ipairs(bindings) do
    if binding.owned then plan.replicas[#plan.replicas + 1] = c end
    if binding.kind == "array" then
      if binding.replica then plan.replicas[#plan.replicas + 1] = c end
      if binding.buffers and not binding.replica and by_array[binding.array].binding == c then
        plan.buffers[#plan.buffers + 1] = c
        plan.merged = (plan.merged or 0) + count_of(binding.dims)
        plan.max_delay = math.min(plan.max_delay or math.huge, binding.delay or math.huge)
      end
      plan.array_of[c] = by_array[binding.array] or {access = "none", written = false}
    end
  end
  for _, c in ipairs(plan.buffers) do
    local own, binding = plan.array_of[c], bindings[c]
    own.delay = binding.delay
    for path, about in tables.each(plan.arrays) do
      if bindings[about.binding].storage == binding.buffers then
        own.buffer_of = path
        about.stale = math.max(about.stale or 0, binding.delay and plan.max_delay or math.huge)
      end
    end
  end
  for _, binding in ipairs(bindings) do plan.draws = plan.draws or binding.draws end
  plan.scalar_list = {}
  for name, scalar in tables.each(plan.scalars) do
    scalar.name = name
    plan.scalar_list[#plan.scalar_list + 1] = scalar
  end
  table.sort(plan.scalar_list, function(a, b) return a.capture < b.capture end)
end

-- The scalar whose last bits a run in blocks may change although reduce = "serial" forbids it.
local function reordered(plan, space)
  if space.reduce ~= "serial" then return nil end
  for _, scalar in ipairs(plan.scalar_list) do
    if scalar.op == "+" or scalar.op == "*" then
      return scalar.name
    end
  end
end

--- Whether a plan has no iterations: a collapsed loop's bounds may leave none.
function M.is_empty(plan, space)
  if space.count == 0 then return true end
  for _, extent in ipairs(plan.extents) do
    if spaces.length(extent) < 1 then return true end
  end
  return false
end

--- Whether a plan is run in this process by the engine, where others are by the iterator: blocks of
-- collapsed loops, of sweeps and of skewed loops are no ranges of what the iterator gives.
function M.needs_engine(plan, space)
  return not space.sparse and (space.collapse > 1 or plan.row ~= nil or
                               strategies[plan.strategy].sweeps)
end

--- Whether a plan is run as the plain loop.
function M.runs_serially(plan, space)
  return plan.strategy == "serial" or space.serial
end

--- Raises DEP, with the report, for a plan that is not to be run in this space.
function M.check(plan, space)
  if plan.strategy == "serial" and not space.serial then
    local text, head = tostring(plan), string.format("%s:%d: ", plan.file, plan.line)
    if string.sub(text, 1, #head) == head then text = string.sub(text, #head + 1) end
    error(errors.new {code = "DEP", message = text, file = plan.file, line = plan.line}, 0)
  end
  local name = reordered(plan, space)
  if name and not space.serial then
    local is_plain = not space.replicas and not space.rounds
    errors.raise("DEP", "'%s' is formed block by block, which may change its last bits, and " ..
                 "reduce = \"serial\" forbids that. Leave the option out%s", name,
                 is_plain and ", or run the loop serially: {serial = true}" or "")
  end
end

-- Operators that take any value to start from.
local ANY_START = {["and"] = true, ["or"] = true, with = true}

-- A key whose value cannot be added to, or nil.
local function find_stranger(sums)
  for key, value in tables.each(sums) do
    if value and not tonumber(value) then return key end
  end
end

--- Raises BDY when a reduction starts from something that its operator cannot take.
function M.check_scalars(plan, values)
  for _, scalar in ipairs(plan.scalar_list) do
    local value = values[scalar.capture]
    if scalar.role == "reduction" and not ANY_START[scalar.op] and scalar.start ~= "nil" and
       type(value) ~= "number" then
      errors.raise("BDY", "'%s' is %s before the loop; the reduction '%s' starts from a number",
                   scalar.name, value == nil and "nil" or "a " .. type(value), scalar.op)
    end
    local stranger = scalar.role == "counted" and find_stranger(value)
    if stranger ~= nil and stranger ~= false then
      local form = type(stranger) == "string" and "%q" or "%s"
      errors.raise("BDY", "%s[%s] is a %s before the loop; sums by key need a table that holds " ..
                   "numbers only. Give them one of their own", scalar.name,
                   string.format(form, tostring(stranger)), type(value[stranger]))
    end
  end
end

--- The name that the array behind capture c has in the loop.
function M.name_of(plan, c)
  for name, about in tables.each(plan.arrays) do
    if about == plan.array_of[c] then return "'" .. name .. "'" end
  end
  return "an array"
end

--- Raises ARR when the loop would read an array whose contents were lost, or write a snapshot.
function M.check_contents(plan, space, bindings, values)
  for c, binding in ipairs(bindings) do
    if binding.kind == "array" then
      local access = plan.array_of[c].access
      if access == "read" or access == "read+write" then array.checked(values[c]) end
      if plan.array_of[c].written and access ~= "read" and array.core(values[c]).writable == 0 then
        errors.raise("ARR", "the loop writes %s, which %s", M.name_of(plan, c),
                     array.held_words(values[c]))
      end
    end
  end
  if space.array then array.checked(space.array) end
end

local explained, told = setmetatable({}, {__mode = "k"}), {}
local silent = false

--- Calls fn, whose loops are not the user's: MEISSA_EXPLAIN does not show them.
-- @return what pcall gives
function M.silently(fn, ...)
  local before = silent
  silent = true
  local results = {pcall(fn, ...)}
  silent = before
  return unpack(results)
end

--- Shows a plan once where that was asked for; results go to stdout, explanations to stderr. Plans
-- of one loop that differ in nothing but their grid, as a driver loop makes them whose bounds move,
-- count as one.
function M.explain(plan, space)
  if silent or explained[plan] then return end
  if not (space.explain or environment.flag "MEISSA_EXPLAIN") then return end
  explained[plan] = true
  local context = context_of(plan)
  context.grid, context.moves = nil, nil
  local words = report.text(plan, context)
  if told[words] then return end
  told[words] = true
  io.stderr:write(tostring(plan), "\n")
end

-- Bytes of a plan, and of a letter of the loop's text; see remember.lua.
local PLAN_BYTES, PLAN_LETTER = 21000, 2

--- A loop's plans and kernels take so many bytes more. All are made anew when they become too many,
-- as for a driver loop with moving bounds, which makes a plan for each.
function M.charge(record, bytes)
  local kept = remember.weight(record)
  record.planned = (record.planned or 0) + bytes
  if kept + bytes > remember.MOST_OF_ONE then
    for _, recent in ipairs(record.recent or {}) do remember.charge(record, -recent.bytes) end
    record.plans, record.kernels, record.recent = {}, {}, nil
    remember.charge(record, bytes - record.planned)
    record.planned = bytes
  end
  remember.charge(record, bytes)
end

-- The plans of a loop for situations that differ in numbers alone, by these.
local function plans_of(record, shape)
  local list = record.plans[shape]
  if not list then
    list = {}
    record.plans[shape] = list
  end
  return list
end

local function keep(record, shape, numbers, plan)
  local info = record.info
  M.charge(record, PLAN_BYTES + PLAN_LETTER * (info.finish - info.begin))
  plans_of(record, shape)[numbers] = plan
end

-- Raises ARR where the body calls a method that arrays do not have.
local function check_methods(record, plan)
  if not plan.stranger then return end
  local ok, err = interrupt.pcall(array.check_method, plan.stranger)
  if ok then return end
  err.file, err.line = record.file, plan.stranger_line
  error(err, 0)
end

-- Makes a plan.
local function make(record, space, bindings, situation)
  local plan, err = core.plan(record.loop, bindings, space)
  if not plan then errors.raise_core(err) end
  check_methods(record, plan)
  report.drop_impossible_fixes(plan)
  plan.address = ffi.cast("const void *", plan.address) -- LuaJIT compiles what is done with it
  plan.file, plan.line, plan.engine = record.file, record.line, "lua"
  plan.serial, plan.entries = space.serial, space.array ~= nil and not space.shared
  plan.record, plan.ordered, plan.kernels = record, space.ordered, {}
  if plan.collisions then
    plan.inspect = inspect.names(record.captures, bindings, plan.collisions)
  end
  if space.assume == "inspection" then plan.reasons = inspect.proved(plan.reasons) end
  index(plan, bindings)
  views.name_bases(plan.arrays, bindings)
  plan.kind, plan.shape = kind_of(plan, situation.form), situation.extents
  return setmetatable(plan, Plan)
end

--- The plan of a loop for a space and bindings, from the record's cache or made.
-- @tab[opt] situation see meissa.plan.situation
-- Errors: SRC, OPT, BUG; a loop that may not run in parallel has a plan that says so.
function M.get(record, space, bindings, situation)
  situation = situation or {}
  situations.describe(situation, record, space, bindings)
  local numbers = situations.numbers(situation, space)
  local plan = plans_of(record, situation.shape)[numbers]
  if not plan then
    plan = make(record, space, bindings, situation)
    keep(record, situation.shape, numbers, plan)
    if trace.on.plan then
      trace.say("plan", "analysed loop=%s:%d strategy=%s", record.file, record.line, plan.strategy)
    end
  end
  return plan
end

local MEASURED = {"seconds", "launch", "workers", "moved", "shares", "deaths", "redone", "repeated",
                  "rounds", "exchanged", "missed", "decisions", "levels", "listing"}

--- A plan without what its last run took, which failed otherwise: of a loop that has an error
-- meissa.last() gives the plan alone.
function M.unmeasured(plan)
  for _, name in ipairs(MEASURED) do rawset(plan, name, nil) end
  return plan
end

--- A plan with what running it took: `seconds` in all, `launch` until the first iteration,
-- `workers` (how many), `moved` (bytes), in `shares` for each worker busy, waited and moved; of
-- workers that died meanwhile `deaths`, blocks `redone` alone, and how often all were `repeated`.
function M.measured(plan, measured)
  for name, value in tables.each(measured) do rawset(plan, name, value) end
  return plan
end

local snapshots = setmetatable({}, {__mode = "k"})

--- What a plan says now: another one with the same fields, which later runs leave as it is; of a
-- snapshot itself.
function M.snapshot(plan)
  if snapshots[plan] then return plan end
  local copy = setmetatable(tables.copy(plan), Plan)
  snapshots[copy] = true
  return copy
end

return M
