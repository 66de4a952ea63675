-- SPDX-License-Identifier: MIT
--- Rounds: `for t, j in meissa.iterate(A, T) do ... end`, in which each round makes a version of an
-- array from the version of the round before it.
--
-- The loop's text is taken as it is written, and the names of the versioned arrays are split in
-- two: what the body writes is the next version, all else the last one
-- (csrc/syntax/version_split.h). So to the analyser it is a loop over rounds and elements that
-- reads some arrays and writes others, and that has to be one that can be cut along the elements.
-- How rounds are run is in rounds.lua.
-- @module meissa.driver.iterate

local array = require "meissa.array"
local errors = require "meissa.base.errors"
local failures = require "meissa.driver.loop_failure"
local frames = require "meissa.capture.stack_frame"
local helpers = require "meissa.kernel.helpers"
local late = require "meissa.base.late"
local loop = require "meissa.driver.loop"
local planning = require "meissa.driver.planning"
local plans = require "meissa.plan"
local records = require "meissa.driver.record"
local requests = require "meissa.driver.round_request"
local replay = require "meissa.driver.replay"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"
local versioned = require "meissa.plan.versioned"
local version_memory = require "meissa.driver.version_memory"

local rounds = late(function() return require "meissa.driver.rounds" end)

local M = {}

local function finished() return nil end

local function path_of(capture)
  return table.concat({capture.root, unpack(capture.fields)}, ".")
end

-- Which captures are versioned arrays: the numbers of the arrays by path, and by capture.
local function find_versioned(record, roots, values)
  local by_path, flags, any = {}, {}, false
  for c, each in ipairs(record.captures) do
    local value = frames.follow(each, roots[c])
    for k, own in ipairs(values) do
      if rawequal(value, own) then
        by_path[path_of(each)], flags[c], any = k, true, true
      end
    end
  end
  if not any then
    errors.raise("OPT", "the body of meissa.iterate uses none of its arrays: in it A[j] = ... " ..
                 "makes the round's version, and A[i] reads that of the round before")
  end
  return by_path, flags
end

-- The names by which a loop by range finds its bounds.
local RANGE, FIRST, COUNT, PARTS, FLOOR = "meissa_range", "meissa_first", "meissa_count",
  "meissa_parts", "meissa_floor"

-- Of range r of so many parts: the first element, then the last one.
local BOUNDS = string.format("%s + %s((%s - 1) * %s / %s), %s - 1 + %s(%s * %s / %s)", FIRST,
  FLOOR, RANGE, COUNT, PARTS, FIRST, FLOOR, RANGE, COUNT, PARTS)

-- Gives a loop by range what it finds its bounds with.
local function bind_parts(record, roots, parts)
  local own = {[FIRST] = parts.first, [COUNT] = parts.count, [PARTS] = parts.parts,
               [FLOOR] = math.floor}
  for c, each in ipairs(record.captures) do
    if own[each.root] ~= nil then roots[c] = own[each.root] end
  end
end

-- Where the ranges begin, and the last one ends, as rows of the arrays.
local function starts_of(parts)
  local starts = {}
  for r = 0, parts.parts do
    starts[r + 1] = parts.first + math.floor(r * parts.count / parts.parts)
  end
  return starts
end

-- A root variable from which a capture's path leads to a value.
local function root_to(capture, value)
  for f = #capture.fields, 1, -1 do value = {[capture.fields[f]] = value} end
  return value
end

-- Makes the versioned arrays what the split loop finds under their names; which of its captures
-- they are: {of = {[capture] = {array =, next =}}, next = {[array] = capture}, numbers = {array, or
-- 0, of each capture}, memory =}.
local function bind(record, roots, by_path, memory)
  local found = {of = {}, next = {}, numbers = {}, memory = memory}
  for c, each in ipairs(record.captures) do
    local k = by_path[path_of(each)]
    if k then
      local own = memory.arrays[k]
      found.of[c] = {array = k, next = each.next}
      if each.next then found.next[k] = c end
      roots[c] = root_to(each, each.next and own.ring[1] or own.last)
    end
    found.numbers[c] = k or 0
  end
  return found
end

-- Refuses what reaches the memory of a versioned array by another way than its name.
local function check_ways(run, values)
  local stores = {}
  for k, value in ipairs(values) do stores[array.describe(value).store] = k end
  local function check(binding, name)
    local k = binding.kind == "array" and stores[binding.storage]
    if not k then return end
    errors.raise("DEP", "%s reaches the memory of array %d of meissa.iterate by another way " ..
      "than its name, where it is what it was before the first round: use the array's name in " ..
      "the body, or give it to the function as an argument", name, k)
  end
  for c, binding in ipairs(run.bindings) do
    local capture = run.record.captures[c]
    if not run.versions.of[c] then
      check(binding, capture and "'" .. path_of(capture) .. "'" or "what the body calls")
    end
  end
  for _, binding in ipairs(run.bindings.inner or {}) do check(binding, "what the body calls") end
end

-- The values of variables; nil where a kernel's text has one that no iteration of the loop around
-- has assigned.
local function read_roots(slots, func, level)
  local roots = frames.read(slots, func, level and level + 1)
  for c = 1, #slots do
    if rawequal(roots[c], helpers.none) then roots[c] = nil end
  end
  return roots
end

-- A loop in rounds, ready to be run: {request =, record =, slots =, roots =, env =, versions =}.
-- `level` is that of the loop's function, seen from here; nil for a closure.
local function find(request, record, func, level)
  local roots = frames.read(frames.slots(record.captures, func, level and level + 1), func,
                            level and level + 1)
  local by_path, flags = find_versioned(record, roots, request.values)
  local parts = request.parts
  local text, moved
  if parts then text, moved = records.by_range(record, RANGE, BOUNDS) end
  local split = records.split(record, flags, text, moved)
  local slots = frames.slots(split.captures, func, level and level + 1)
  roots = read_roots(slots, func, level and level + 1)
  if parts then bind_parts(split, roots, parts) end
  local along = request.sync.images and replay.record()
  local depth = math.max(request.sync.versions, along and along.depth or 0)
  local memory = version_memory.new(request.values, depth, request.sync)
  local found = bind(split, roots, by_path, memory)
  found.starts = parts and starts_of(parts)
  return {request = request, record = split, slots = slots, roots = roots, env = getfenv(func),
          versions = found, names = record.variables}
end

-- Refuses what writes the last version: through a view of it, or where it was given to a function.
local function check_last(run)
  for c, version in tables.each(run.versions.of) do
    local about = run.plan.array_of[c]
    about.version = version.next and "next" or "last"
    if not version.next and about.written then
      errors.raise("DEP", "'%s' is written through a view or by a function, which in " ..
        "meissa.iterate have the round before: write %s[i] = ..., or %s[i][j] = ..., itself",
        path_of(run.record.captures[c]), path_of(run.record.captures[c]),
        path_of(run.record.captures[c]))
    end
  end
end

-- Refuses a body that makes no version.
local function check_next(run)
  if tables.next(run.versions.next) ~= nil then return end
  errors.raise("OPT", "the body of meissa.iterate reads %s and writes no version of it: in it " ..
    "A[j] = ... makes the round's version, and A[i] reads that of the round before; there is no " ..
    "second array", path_of(run.record.captures[tables.next(run.versions.of)]))
end

-- Has a report call the number of a range by the names that the body has for its ends.
local function name_parts(plan, names)
  local shown = string.format("%s..%s", names[2], names[3])
  local function rename(list)
    for k, name in ipairs(list) do
      if name == RANGE then list[k] = shown end
    end
  end
  rename(plan.indices)
  rename(plan.dims)
  for _, about in tables.each(plan.arrays) do
    if about.follows == RANGE then about.follows = shown end
  end
end

-- Places of reasons that are where the user has written them.
local right_places = setmetatable({}, {__mode = "k"})

-- Has reasons show places where the user has written them. `moved` is of records.by_range.
local function place_reasons(plan, moved)
  for _, reason in ipairs(plan.reasons) do
    for _, place in ipairs {reason.first or reason.second, reason.second} do
      local is_moved = place.line == moved.line and place.column >= moved.column
      if is_moved and not right_places[place] then
        place.column, place.end_column = place.column - moved.by, place.end_column - moved.by
      end
      right_places[place] = true
    end
  end
end

-- Plans the rounds `first` .. `last` of a loop.
local function plan(self, first, last)
  local space = requests.space(self.request, first, last)
  space.versions = self.versions.numbers
  local run = planning.plan(self.record, space, self.roots, self.env)
  run.versions = self.versions
  run.plan.guarantee = (versioned.guarantee(self.request.sync))
  if self.request.parts then
    name_parts(run.plan, self.names)
    place_reasons(run.plan, self.record.moved)
  end
  run.plan.in_rounds = true -- the first number of an iteration is a round
  check_ways(run, self.request.values)
  plans.check(run.plan, space)
  check_last(run)
  check_next(run)
  rounds.check(run)
  plans.check_contents(run.plan, space, run.bindings, run.values)
  return run
end

-- Runs a loop that was found; the scalars to assign.
local function execute(self)
  local request = self.request
  if request.dry or request.rounds == 0 or request.space.count == 0 then
    local run = plan(self, 1, math.max(1, math.min(request.rounds, 2)))
    loop.remember(plans.unmeasured(planning.complete(run)))
    if not request.dry then run.plan.rounds = 0 end
    if run.grid then rounds.describe(self, run) end
    return {}
  end
  return rounds.run(self, plan)
end

local function write_back(self, assigned, func, level)
  local list = {}
  for c, value in tables.each(assigned) do list[#list + 1] = {capture = c, value = value} end
  failures.assign(self, self.slots, list, func, level and level + 1)
end

-- Runs a closure in rounds; the plan where that is all that is wanted.
local function iterate_closure(request)
  local fn = request.fn
  local record = records.find(fn, debug.getinfo(fn, "S"), nil)
  requests.check_variables(request, record.variables)
  local self = find(request, record, fn, nil)
  write_back(self, execute(self), fn, nil)
  if request.dry then return loop.last() end
end

--- The iterator of a loop in rounds; see the manual.
-- Errors: SRC DEP OPT ARR BDY WRK INT NET.
function M.iterate(...)
  local called = system.clock()
  local request = requests.parse(...)
  request.called = called
  if request.fn then return iterate_closure(request) end
  local info = debug.getinfo(2, "Slf")
  if not info or info.what == "C" then
    errors.raise("SRC", "iterate must be called in a `for` statement: for t, j in " ..
                 "meissa.iterate(A, T) do")
  end
  local func = info.func
  local record = records.find(func, info, info.currentline)
  planning.check_callee(record, func, 2, M.iterate, "iterate")
  requests.check_variables(request, record.variables)
  local self = find(request, record, func, 2)
  write_back(self, execute(self), func, 2)
  return finished
end

return M
