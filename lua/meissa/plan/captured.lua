-- SPDX-License-Identifier: MIT
--- What a loop's captures are, from one execution to the next.
--
-- Finding out what captured values mean to the analyser takes time, and in a driver loop little
-- changes: what the last execution found is kept as long as the same values are captured, but for
-- numbers. Lives in the loop's record; keeps no array alive.
-- @module meissa.plan.captured

local array = require "meissa.array"
local basics = require "meissa.base.basics"
local buffers = require "meissa.array.buffer"
local capture = require "meissa.capture"
local errors = require "meissa.base.errors"
local models = require "meissa.sync.models"
local frames = require "meissa.capture.stack_frame"
local reached = require "meissa.capture.reached"
local remember = require "meissa.base.remember"
local replica_groups = require "meissa.sync.replica_group"
local replicas = require "meissa.sync.replica"
local scratches = require "meissa.array.scratch"
local shares = require "meissa.plan.share"
local situations = require "meissa.plan.situation"
local spaces = require "meissa.plan.space"
local tables = require "meissa.base.tables"
local tensor = require "meissa.array.tensor"
local undefined = require "meissa.capture.undefined"
local views = require "meissa.plan.views"

local M = {}

-- What the analyser is told of an array.
local function describe_array(value)
  if not array.is(value) then return buffers.describe(value) or replica_groups.describe(value) end
  local about = array.describe(value)
  return {array = about.id, storage = about.store, dims = about.dims, sparse = about.sparse,
          integer = string.find(about.type, "^int") ~= nil, type = about.type,
          scratch = scratches.is(value), frozen = array.is_frozen(value)}
end

M.describe_array = describe_array

-- Kinds of captured values that are what they were when they are the same value.
local UNCHANGING = {["nil"] = true, number = true, boolean = true, string = true, array = true,
                    builtin = true}

-- The value that a kernel gets for a captured one: a row of an array stands for its view, a buffer
-- for what is pending in it, a replica for its copy, models for the function that gives them.
local function value_of(binding, value)
  if binding.owned then return models.function_of(value) end
  return binding.kind == "array" and
    array.to_handle(replicas.copy(buffers.pending(value)), true) or value
end

-- Executions of a loop that are remembered: arrays that take turns have one each.
local MOST_RECENT = 4

-- Bytes of a place that a loop's functions and tables lead to; see remember.lua.
local PLACE_BYTES = 48

-- Forgets execution k of those that are remembered.
local function forget(record, k)
  local recent = table.remove(record.recent, k)
  remember.charge(record, -recent.bytes)
end

-- Whether the captures are what they were but for numbers; nil if they will never be again. Behind
-- those of the captures there are bindings of arrays that functions and tables lead to; what else
-- these lead to is compared apart. A launch that has run with others that are alike has what they
-- lead to tell of these: it says nothing of the captures any more.
local function is_captured(recent, given, count)
  local leads_to = recent.bindings.reached
  if leads_to and leads_to:moved() then return nil end
  for c, binding in ipairs(recent.bindings) do
    local value, before = given[c], recent.bindings.seen[c]
    if before == nil and binding.kind ~= "nil" and binding.kind ~= "number" then return nil end
    if c <= count and not (type(value) == "number" and binding.kind == "number") and
       not rawequal(value, before) then
      return false
    end
  end
  return true
end

local function is_reached(recent)
  local leads_to = recent.bindings.reached
  return not leads_to or leads_to:same() and not basics.are_changed()
end

-- The remembered execution with these captures and this space, but for numbers and ranges, as the
-- first of the list, and whether the ranges are the same; nil if there is none. Those whose arrays
-- are gone go.
local function find_recent(record, space, given)
  local list, source = record.recent or {}, space.array and array.describe(space.array).id
  local fits, count = {}, #record.captures
  for k = #list, 1, -1 do
    fits[list[k]] = is_captured(list[k], given, count)
    if fits[list[k]] == nil then forget(record, k) end
  end
  for k, recent in ipairs(list) do
    local alike, same = spaces.compare(space, recent.made.outline)
    if alike and source == recent.source_id and fits[recent] and is_reached(recent) then
      table.remove(list, k)
      table.insert(list, 1, recent)
      return recent, same
    end
  end
end

-- What an execution resolved that is remembered, if nothing has changed since but numbers and
-- ranges: it, with bindings that are brought up to date; the captured values, and whether the plan
-- may depend on what has changed.
local function recall(record, space, roots)
  local given, values = {}, {}
  for c, each in ipairs(record.captures) do given[c] = frames.follow(each, roots[c]) end
  local recent, same = find_recent(record, space, given)
  if not recent then return nil end
  recent.written.recalled, record.passing = true, nil
  for c = #record.captures + 1, #recent.bindings do
    given[c] = recent.bindings.seen[c]
  end
  local made, is_parameter = recent.made, situations.parameters(record, recent.bindings)
  same = same and made.plan ~= nil
  for c, binding in ipairs(recent.bindings) do
    local moves = binding.kind == "number" and is_parameter[c] and given[c] ~= binding.number
    same = same and not moves
  end
  -- Its plan is not that of the numbers which bindings get here.
  if not same then recent.made = {outline = made.outline} end
  for c, binding in ipairs(recent.bindings) do
    if binding.kind == "number" then binding.number = given[c] end
    values[c] = value_of(binding, given[c])
  end
  space.source = recent.source
  if same then
    space.positions = made.positions
  else
    for c, binding in ipairs(recent.bindings) do binding.value = given[c] end
  end
  return recent, values, same
end

-- What a message ends in where a loop may run serially: not over replicas, nor in rounds.
local function or_serially(space, bindings, words)
  return (space.rounds or shares.has(bindings)) and "" or words .. ": {serial = true}"
end

-- What was not searched to its end may lead to any array: no loop over it could be proved.
local function check_size(space, bindings)
  if not bindings.crowded then return end
  errors.raise("DEP", "%s leads to more than %d tables and functions, and no more are " ..
               "searched for arrays: keep them in arrays, as in meissa.objects(n)%s",
               bindings.crowded, capture.MOST, or_serially(space, bindings, ", or run it serially"))
end

-- A tensor is not sent to workers, and what they write into a copy would be lost.
local function check_tensors(record, space, bindings)
  for c, each in ipairs(record.captures) do
    local binding = bindings[c]
    local outside = binding.kind == "unknown" or binding.kind == "table"
    local class = outside and tensor.class(binding.value)
    if class then
      local path = {each.root, unpack(each.fields, 1, binding.depth)}
      local name, last = table.concat(path, "."), path[#path]
      errors.raise("DEP", "'%s' is a %s, which workers do not have: make an array of it before " ..
                   "the loop, local %s = meissa.from(%s), and a tensor after it, " ..
                   "%s:totensor()%s", name, class, last, name, last,
                   or_serially(space, bindings, "; or run it serially"))
    end
  end
end

-- Finds out what is captured.
local function resolve(record, space, roots, env)
  local numbers = {}
  for c, each in ipairs(record.captures) do numbers[each] = c end
  local bindings = capture.resolve(record.captures,
    function(each) return roots[numbers[each]] end, describe_array,
    {env = env, names = record.names, calls = record.calls})
  if not space.serial then
    check_size(space, bindings)
    check_tensors(record, space, bindings)
    undefined.check(record, bindings, roots, env)
  end
  if space.array then
    space.source = capture.source(bindings, describe_array(space.array), space.array)
  end
  views.resolve(bindings, #record.captures)
  local values = {}
  for c, binding in ipairs(bindings) do values[c] = value_of(binding, binding.value) end
  return bindings, values
end

-- So many places are looked at in vain without a second thought; where there are more, twice as
-- many executions pass each time before they are looked at again.
local FEW, MOST_PASSING = 256, 64

-- Whether what was written down the last time was for nothing: nothing has come back to it.
local function was_in_vain(record)
  local last = record.written
  return last ~= nil and last.places > FEW and not last.recalled
end

-- What captured functions and tables lead to, and how many places that is; nil where it cannot be
-- told, or where it lately could not or was of no use.
local function find_reached(record, bindings)
  local passing = record.passing
  if passing and passing.left > 0 then
    passing.left = passing.left - 1
    return nil
  end
  local found, count = reached.take(bindings, UNCHANGING)
  if count <= FEW or found and not was_in_vain(record) then
    record.passing = nil
  else
    local wait = passing and math.min(2 * passing.wait, MOST_PASSING) or 1
    record.passing = {wait = wait, left = wait}
  end
  return found, count
end

-- Whether an execution's captures can be recalled by the next one; what its functions and tables
-- lead to, if there are any, and how many places that is.
local function is_lasting(record, bindings)
  if bindings.moves or bindings.requires then return false end
  local changing = false
  for _, binding in ipairs(bindings) do
    if binding.name == "require" then return false end
    changing = changing or not UNCHANGING[binding.kind]
  end
  if not changing then return true end
  if basics.are_changed() then return false end
  local found, count = find_reached(record, bindings)
  return found ~= nil, found, count
end

-- A driver loop with moving bounds comes back to plans: what was made ready for so many is kept.
local MOST_READY = 1000

-- What is ready for a plan and these bindings; `fresh` if nothing is.
local function ready_for(recent, plan, fresh)
  if not recent.by_plan or recent.plan_count == MOST_READY then
    recent.by_plan, recent.plan_count = {}, 0
  end
  local ready = recent.by_plan[plan]
  if not ready then
    recent.by_plan[plan], recent.plan_count = fresh, recent.plan_count + 1
    return fresh
  end
  return ready
end

-- Enters what an execution found among the most recent ones.
local function enter(record, recent)
  record.written, record.recent = recent.written, record.recent or {}
  table.insert(record.recent, 1, recent)
  if record.recent[MOST_RECENT + 1] then forget(record, MOST_RECENT + 1) end
  remember.charge(record, recent.bytes)
end

--- Remembers what an execution found, for the next one. Ctrl-C may raise an error between any two
-- instructions: what goes together is stored at once, and nothing is found before it is whole.
-- @tab found what M.find gave; its `ready` may become one that was made before
-- @tab plan the loop's plan
function M.remember(record, space, plan, found)
  local bindings, recent = found.bindings, found.recent
  if recent then
    for _, binding in ipairs(bindings) do binding.value = nil end
  else
    local lasting, leads_to, places = is_lasting(record, bindings)
    if not lasting then return end
    -- Weak: a loop that has run does not keep its arrays alive.
    local seen = setmetatable({}, {__mode = "v"})
    for c, binding in ipairs(bindings) do seen[c], binding.value = binding.value, nil end
    for _, binding in ipairs(bindings.inner) do binding.value = nil end
    bindings.seen, bindings.reached = seen, leads_to
    recent = {bindings = bindings, source = space.source,
              situation = found.situation, written = {places = places or 0, recalled = false},
              bytes = PLACE_BYTES * (places or 0),
              source_id = space.array and array.describe(space.array).id}
  end
  found.ready = ready_for(recent, plan, found.ready)
  recent.made = {outline = spaces.outline(space), plan = plan, positions = space.positions,
                 ready = found.ready}
  if not found.recent then enter(record, recent) end
end

-- What the analyser is told of the fields of plain values that are refused, in lines (see
-- csrc/depend/meaning.h); nil if there are none.
local function barred_lines(metas, refused)
  local found, lines = basics.refused_fields(metas, capture.is_searched, refused), {}
  for _, name in ipairs(tables.keys(found)) do
    if type(name) == "string" and string.find(name, "^[%a_][%w_]*$") then
      local about = found[name]
      lines[#lines + 1] = string.format("%s\t%s\t%s", name, about.remedy, about.why)
    end
  end
  return lines[1] and table.concat(lines, "\n") or nil
end

-- Why a function is not to be called as a method or operator of plain values, and the remedy; nil
-- where it may be.
local function refusal_of(fn, method, space, travels)
  local why, impure = capture.refusal(fn, describe_array, method, space.impure)
  if why then return {why = why, remedy = impure and "impure" or "name"} end
  return not travels(fn) and {why = "holds what cannot be sent to the workers", remedy = ""} or nil
end

--- The program's basic metatables, for meissa.kernel.pack, if it has changed them; nil else.
-- @tab space the iteration space; its `methods`, `operators` and `barred` are set
-- @func travels travels(fn) says whether a function can be sent to workers
function M.basics(space, travels)
  space.methods, space.operators, space.barred = basics.are_changed(), false, nil
  if not space.methods then return nil end
  local metas, refused, words = basics.changed(), {}, {}
  space.operators = basics.have_operators(metas)
  local through = basics.each_function(metas, capture.is_searched, function(fn, method)
    local about = refusal_of(fn, method, space, travels)
    refused[fn] = about
    words[fn] = about and about.why .. ": a parallel loop cannot call it as a method or " ..
      "operator of plain values. Call it by its name"
  end)
  space.barred = barred_lines(metas, refused)
  return {metas = metas, refused = words, tables = through}
end

--- Ends what is said of functions that it refuses, once it is known what a loop captures.
-- @tab[opt] known what M.basics gave
function M.end_refusals(known, space, bindings)
  local last = or_serially(space, bindings, ", or run the loop serially")
  for fn, words in tables.each(known and known.refused or {}) do
    known.refused[fn] = words .. last
  end
end

--- What is captured.
-- @tab record the loop's @tab space the iteration space; its `source` is set
-- @tab roots the captures' root variables @tab env globals of the caller
-- @treturn table `bindings`, by capture and beyond; `values`, by capture; `plan`, that of the last
-- execution with these, if nothing has changed that a plan depends on; `situation`, a table that
-- belongs to these bindings but for their numbers; `ready`, one that belongs to them and to the
-- plan, for what is made for an execution and is good for the next one
-- Errors: SRC for undefined names.
function M.find(record, space, roots, env)
  local recent, values, same = recall(record, space, roots)
  if recent then
    return {bindings = recent.bindings, values = values, recent = recent,
            plan = same and recent.made.plan, situation = recent.situation,
            ready = same and recent.made.ready or {}}
  end
  local bindings
  bindings, values = resolve(record, space, roots, env)
  return {bindings = bindings, values = values, situation = {}, ready = {}}
end

return M
