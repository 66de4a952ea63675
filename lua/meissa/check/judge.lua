-- SPDX-License-Identifier: MIT
--- What a recorded loop did, held against its plan.
--
-- Judged are: which arrays are touched, the distances between iterations that meet at an element,
-- whether the blocks that meet are kept in order by the schedule, and the roles of scalars. The
-- rules are those of the manual; nothing here comes from the analyser.
-- @module meissa.check.judge

local kernel = require "meissa.kernel"
local recorder = require "meissa.check.recorder"
local strategies = require "meissa.plan.strategy"
local worlds = require "meissa.check.world"
local tables = require "meissa.base.tables"

local M = {}

-- Pairs of iterations that are looked at for one element, but where all is to be checked.
local MOST_PAIRS = 2000

-- ------------------------------------------------------------------------------------- conflicts

-- Row-major order of two iterations, by how many steps each index has made.
local function ordinals(run, entry)
  local at = {}
  for d = 1, run.dims do
    local range = run.space.ranges[d]
    local step = range and range[3] or run.steps[d]
    at[d] = entry[d] / step
  end
  return at
end

-- Later minus earlier, and whether the first was the earlier one; nil when they are one iteration.
local function distance_of(a, b)
  local d, sign = {}, 0
  for k = 1, #a do
    d[k] = math.floor(b[k] - a[k] + 0.5) -- a third of 4 and of 7 are not quite 1 apart
    if sign == 0 and d[k] ~= 0 then sign = d[k] > 0 and 1 or -1 end
  end
  if sign == 0 then return nil end
  for k = 1, #d do d[k] = sign * d[k] + 0 end -- no -0
  return d, sign == 1
end

local function covers(pattern, d)
  for k = 1, #d do
    local p = pattern[k]
    local inside = p == "*" or p == d[k] or (p == "+" and d[k] > 0) or (p == "-" and d[k] < 0)
    if not inside then return false end
  end
  return true
end

local function covered(patterns, d)
  for _, pattern in ipairs(patterns) do
    if covers(pattern, d) then return true end
  end
  return false
end

-- Calls visit(x, y) for the first `most` pairs of a cell's visits of which one writes, until an
-- answer is not nil. One that reads is paired with those that write alone: most cells are read by
-- all iterations, and written by none.
local function meet(cell, most, visit)
  local writers, count = {}, 0
  for k, each in ipairs(cell) do
    if each.write then writers[#writers + 1] = k end
  end
  local next_writer = 1
  for x, each in ipairs(cell) do
    while writers[next_writer] and writers[next_writer] <= x do next_writer = next_writer + 1 end
    local first, last = x + 1, #cell
    if not each.write then first, last = next_writer, #writers end
    for k = first, last do
      if count == most then return nil end
      count = count + 1
      local problem = visit(each, cell[each.write and k or writers[k]])
      if problem then return problem end
    end
  end
end

-- Calls visit(store, place, x, y) for visits of one cell by different iterations, one of which
-- writes; stops at the first answer that is not nil.
local function each_meeting(run, log, kind, visit)
  local most = run.space.check == "all" and math.huge or MOST_PAIRS
  for _, store in ipairs(log.stores) do
    if store.kind == kind then
      for place, cell in tables.each(store.cells) do
        local problem = meet(cell, most, function(x, y) return visit(store, place, x, y) end)
        if problem then return problem end
      end
    end
  end
end

-- ------------------------------------------------------------------------------------- schedules

local function parts_of(number, ranges)
  local parts = {}
  for c = #ranges, 1, -1 do
    parts[c] = number % ranges[c]
    number = (number - parts[c]) / ranges[c]
  end
  return parts
end

-- Which phase of a sweep a block is in.
local function phase_of(parts, grid)
  local phase = 0
  for c = 1, grid.sequential do phase = phase * grid.ranges[c] + parts[c] end
  return phase
end

-- Whether a schedule keeps two blocks in order, by their ranges: everything else may run at the
-- same time. Of a sweep, those of different phases, as far as ranges reach from each to the next.
local function in_phases(a, b, grid)
  local steps, axis = phase_of(b, grid) - phase_of(a, grid), grid.sequential + 1
  if steps < 0 then return in_phases(b, a, grid) end
  local up = a[axis] - b[axis]
  local reach = grid.reach[up > 0 and 2 or 1]
  return steps > 0 and (reach == 0 or math.abs(up) <= steps * (reach - 1))
end

-- Where iterations may come in any order: those that share a range.
local function share_range(a, b)
  for c = 1, #a do
    if a[c] == b[c] then return true end
  end
  return false
end

-- Where each waits for those before it along every axis.
local function follow_all(a, b)
  local up, down = true, true
  for c = 1, #a do up, down = up and a[c] <= b[c], down and a[c] >= b[c] end
  return up or down
end

local function never() return false end

local function kept_by(strategy)
  local traits = strategies[strategy]
  if traits.sweeps then return in_phases end
  if not traits.waits then return never end
  return traits.unordered and share_range or follow_all
end

-- ---------------------------------------------------------------------------------------- words

local function iteration_text(run, entry)
  local parts = {}
  for d, name in ipairs(run.plan.indices) do parts[d] = string.format("%s = %d", name, entry[d]) end
  return table.concat(parts, ", ")
end

-- "A[3][4]": an element by its place in storage.
local function element_text(store, place)
  local rest, parts = place - (store.offset or 0), {}
  if not store.dims or rest < 0 then return store.name or "an array" end
  if store.sparse then
    for d = #store.dims, 1, -1 do
      parts[d] = string.format("[%d]", rest % store.dims[d] + 1)
      rest = math.floor(rest / store.dims[d])
    end
  else
    for d = 1, #store.dims do
      local at = math.floor(rest / store.strides[d])
      parts[d] = string.format("[%d]", at + 1)
      rest = rest - at * store.strides[d]
    end
  end
  return (store.name or "an array") .. table.concat(parts)
end

local function did(run, seen, visit, element)
  local line = visit.write and visit.write_line or visit.read_line
  return string.format("iteration (%s) %s %s%s", iteration_text(run, seen.log.iterations[visit.n]),
    visit.write and "writes" or "reads", element, line and " at line " .. line or "")
end

local function problem(kind, visit, text, ...)
  return {kind = kind, visit = visit, text = string.format(text, ...)}
end

-- ------------------------------------------------------------------------------------ judgements

--- Distances that were seen and that the plan does not have.
function M.distances(run, seen)
  local steps, known = {}, {}
  for n, entry in ipairs(seen.log.iterations) do steps[n] = ordinals(run, entry) end
  return each_meeting(run, seen.log, "array", function(store, place, x, y)
    local d, forward = distance_of(steps[x.n], steps[y.n])
    if not d then return nil end
    local key = table.concat(d, ",")
    if known[key] == nil then known[key] = covered(run.plan.distances, d) end
    if known[key] then return nil end
    local first, second = x, y
    if not forward then first, second = y, x end
    local element = element_text(store, place)
    return problem("distance", first, "%s and %s: distance (%s)", did(run, seen, first, element),
                   did(run, seen, second, element), (string.gsub(key, ",", ", ")))
  end)
end

--- Meetings that the plan's schedule does not keep in order.
function M.schedule(run, seen)
  if not seen.grid then return nil end
  local plan, numbers, parts, position = run.plan, recorder.blocks(run, seen), {}, {}
  local kept = kept_by(plan.strategy)
  for n, number in ipairs(numbers) do parts[n] = parts_of(number, seen.grid.ranges) end
  local count = 0
  for number in recorder.serial_order(seen) do
    count = count + 1
    position[number] = count
  end
  return each_meeting(run, seen.log, "array", function(store, place, x, y)
    local a, b = numbers[x.n], numbers[y.n]
    if a == b then return nil end
    local same_way = position[a] < position[b] -- recorded in the order that must result
    if kept(parts[x.n], parts[y.n], seen.grid) and same_way then return nil end
    local element = element_text(store, place)
    return problem("schedule", x, "%s and %s, in blocks %d and %d that may run %s",
                   did(run, seen, x, element), did(run, seen, y, element), a, b,
                   same_way and "at the same time" or "the other way round")
  end)
end

-- What the plan allows, by the memory of its arrays: {read =, write =}.
local function allowed_accesses(run)
  local allowed = {}
  for c, about in tables.each(run.plan.array_of) do
    local key = worlds.key(run.values[c])
    local entry = allowed[key] or {}
    entry.read = entry.read or string.find(about.access, "read", 1, true) ~= nil
    entry.write = entry.write or string.find(about.access, "write", 1, true) ~= nil
    allowed[key] = entry
  end
  return allowed
end

--- Arrays that are read or written although the plan says that they are not.
function M.accesses(run, seen)
  local allowed = allowed_accesses(run)
  local space_key = run.space.array and worlds.key(run.space.array)
  for _, store in ipairs(seen.log.stores) do
    local about = allowed[store.key] or {}
    for place, cell in tables.each(store.key and store.cells or {}) do
      for _, visit in ipairs(cell) do
        if (visit.write and not about.write) or
          (visit.read and not about.read and store.key ~= space_key) then
          return problem("access", visit, "%s, which the plan does not say of that array",
                         did(run, seen, visit, element_text(store, place)))
        end
      end
    end
  end
end

--- Variables that are used in another way than their role allows.
function M.scalars(run, seen)
  local roles = {}
  for _, scalar in ipairs(run.plan.scalar_list) do roles[scalar.name] = scalar.role end
  if run.plan.strategy == "serial" then return nil end
  return each_meeting(run, seen.log, "variable", function(_, name, x, y)
    local role = roles[name]
    if role == "reduction" or role == "carried" then return nil end
    local reader = x.fresh and x or y.fresh and y
    if role == "private" and not reader then return nil end
    return problem("scalar", reader or x, "%s and %s, and the plan calls it %s",
                   did(run, seen, x, name), did(run, seen, y, name), role or "no variable of it")
  end)
end

local function close(a, b)
  if rawequal(a, b) or (a ~= a and b ~= b) then return true end
  if type(a) ~= "number" or type(b) ~= "number" then return type(a) == "cdata" and a == b end
  return math.abs(a - b) <= 1e-6 * math.max(1, math.abs(a), math.abs(b))
end

-- Queues what two tables hold at the same keys; false if one has a key that the other has not.
-- Keys that are tables are those of each recording, and not looked for.
local function queue_entries(queue, x, y)
  for key, value in tables.each(x) do
    if type(key) ~= "table" then queue[#queue + 1] = {value, rawget(y, key)} end
  end
  for key in tables.each(y) do
    if type(key) ~= "table" and rawget(x, key) == nil then return false end
  end
  queue[#queue + 1] = {getmetatable(x), getmetatable(y)}
  return true
end

-- Whether two recordings left the same value. Each makes tables and functions of its own: tables
-- are compared by what they hold, functions not at all.
local function alike(a, b)
  local paired, queue, at = {}, {{a, b}}, 0
  while at < #queue do
    at = at + 1
    local x, y = queue[at][1], queue[at][2]
    if type(x) ~= type(y) then return false end
    if type(x) ~= "table" then
      if type(x) ~= "function" and not close(x, y) then return false end
    elseif paired[x] == nil and paired[y] == nil then
      paired[x], paired[y] = y, x
      if not queue_entries(queue, x, y) then return false end
    elseif paired[x] ~= y then
      return false
    end
  end
  return true
end

--- Variables that the plan takes for reductions and that are none: begun with the operation's
-- identity, they end in something else.
function M.reductions(run, seen)
  local none = #seen.reductions == 0 or run.plan.strategy == "serial"
  if none or seen.failed then return nil end
  local again = {}
  for key, value in tables.each(run) do again[key] = value end
  again.identities = kernel.identity
  again.most, again.seconds = #seen.log.iterations, nil -- the same ones, however long they take now
  local other = recorder.record(again)
  for _, each in ipairs(seen.reductions) do
    local combined = kernel.combine_one(each, seen.initial[each.name], other.finals[each.name])
    if not alike(combined, seen.finals[each.name]) then
      return problem("reduction", nil, "'%s' is no reduction by %s: begun with %s it ends in " ..
                     "%s, where %s was expected", each.name, each.op,
                     tostring(seen.initial[each.name]),
                     tostring(seen.finals[each.name]), tostring(combined))
    end
  end
end

--- The first thing that the plan does not predict, {kind =, text =}, or nil.
function M.unpredicted(run, seen)
  return M.accesses(run, seen) or M.distances(run, seen) or M.schedule(run, seen)
    or M.scalars(run, seen) or M.reductions(run, seen)
end

return M
