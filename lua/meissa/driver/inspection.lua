-- SPDX-License-Identifier: MIT
--- Inspection: proofs at run time that no two iterations of a loop meet.
--
-- A loop that is kept from running by nothing but subscripts of writes that come from data
-- (`out[perm[i]] = f(i)`) has a verdict with two slices of its body (csrc/depend/inspector.h). One
-- stores the iteration's number wherever it may write, in an array of marks; the other looks if
-- another one's number stands where the iteration reads or writes. Both are parallel loops. Where
-- nobody meets anybody the loop is planned again without those dependences, and the proof is kept
-- until something changes that the slices read. Lives on the driver.
-- @module meissa.driver.inspection

local array = require "meissa.array"
local errors = require "meissa.base.errors"
local inspect = require "meissa.plan.inspect"
local plans = require "meissa.plan"
local random = require "meissa.kernel.random"
local spread = require "meissa.base.spread"
local tables = require "meissa.base.tables"
local versions = require "meissa.array.version"

local M = {}

-- Names in the slices, as in csrc/depend/inspector.h.
local MARKS = "meissa_marks_"

-- Errors of a slice that prove nothing: the loop has them, too, or would not have come there.
local HARMLESS = {BDY = true, ARR = true, OPT = true, SRC = true, DEP = true}

-- More names than these make no Lua function.
local MOST_NAMES = 58

-- ------------------------------------------------------------------------------- the slices' loops

-- The captures whose root variables a slice has, each root once.
local function roots_in(run, text)
  local list, known = {}, {}
  for c, each in ipairs(run.record.captures) do
    if not known[each.root] and inspect.has_name(text, each.root) then
      known[each.root], list[#list + 1] = true, c
    end
  end
  return list
end

-- What a slice is given beside the variables of the body: names and values.
local function add_own(run, marks, names, values)
  local width = 1
  for k, each in ipairs(marks) do
    names[#names + 1], values[#values + 1] = MARKS .. k, each
  end
  for d = #run.space.ranges, 1, -1 do
    local range = run.space.ranges[d]
    for name, value in tables.each {lo = range[1], step = range[3], width = width} do
      names[#names + 1], values[#values + 1] = "meissa_" .. name .. "_" .. d, value
    end
    width = width * ((range[2] - range[1]) / range[3] + 1)
  end
end

-- A slice as a function of the loop's variables, and what tells who met whom; nil if it has too
-- many variables.
local function make_slice(run, text, marks)
  local names, values, count = {}, {}, 0
  for _, c in ipairs(roots_in(run, text)) do
    count = count + 1
    names[count], values[count] = run.record.captures[c].root, run.roots[c]
  end
  local own_names, own_values = {}, {}
  add_own(run, marks, own_names, own_values)
  for k, name in ipairs(own_names) do
    names[count + k], values[count + k] = name, own_values[k]
  end
  count = count + #own_names
  if count > MOST_NAMES then return nil end
  local chunk = loadstring(string.format(
    "local %s = ...\nlocal meissa_none, meissa_first, meissa_other = 1/0, 1/0, 0\n" ..
    "return %s,\nfunction() return meissa_first, meissa_other end",
    table.concat(names, ", "), text))
  return setfenv(chunk, run.env)(unpack(values, 1, count))
end

-- Runs a slice over the loop's space.
local function run_slice(run, slice)
  local space, engine = run.space, run.space.options.engine
  local options = {ordered = true, assume = "independent",
                   engine = engine == "lua" and "lua" or nil}
  if space.array then return spread.each(space.array, options, slice) end
  local arguments = {}
  for d, range in ipairs(space.ranges) do arguments[d] = range end
  arguments[#arguments + 1], arguments[#arguments + 2] = options, slice
  spread.each(unpack(arguments))
end

-- Arrays of numbers of iterations.
local function make_marks(run)
  local marks = {}
  for k, b in ipairs(run.plan.collisions.arrays) do
    marks[k] = array.zeros(array.describe(run.bindings[b].value or run.values[b]).dims)
  end
  return marks
end

local function look(run)
  local marks = make_marks(run)
  local stores = make_slice(run, run.plan.collisions.stores, marks)
  local looks, met = make_slice(run, run.plan.collisions.looks, marks)
  if not (stores and looks) then return nil end
  run_slice(run, stores)
  run_slice(run, looks)
  for _, each in ipairs(marks) do each:free() end
  return met()
end

-- The indices of an iteration, by its number.
local function iteration_of(space, number)
  local rest, index = number - 1, {}
  for d = #space.ranges, 1, -1 do
    local range = space.ranges[d]
    local extent = (range[2] - range[1]) / range[3] + 1
    index[d] = range[1] + rest % extent * range[3]
    rest = math.floor(rest / extent)
  end
  return index
end

-- --------------------------------------------------------------------------------------- proofs

-- Bytes of an element.
local BYTES = {float = 4, int32 = 4, double = 8, int64 = 8}

-- The contents of an array, as a string.
local function contents_of(value)
  local about = array.describe(value)
  local box = {pointer = array.core(value).data, dims = about.dims, strides = about.strides}
  local id = string.format("inspected %d", about.id)
  return string.format("%d:%d", about.id, versions.of_boxes(id, {box}, BYTES[about.type]))
end

-- Values that say all of themselves.
local PLAIN = {number = true, boolean = true, string = true, ["nil"] = true, builtin = true}

-- What a proof depends on beside the plan, as a string; nil if it cannot be said.
local function state_of(run)
  local text, parts = run.plan.collisions.stores .. run.plan.collisions.looks, {}
  local marked = {}
  for _, b in ipairs(run.plan.collisions.arrays) do marked[run.bindings[b].array] = true end
  for c, binding in ipairs(run.bindings) do
    local capture = run.record.captures[c]
    if not capture then return nil end -- functions and tables lead on
    if inspect.has_name(text, capture.root) then
      local value = run.values[c]
      if binding.kind == "array" and not marked[binding.array] then
        if binding.sparse or binding.scratch then return nil end
        parts[#parts + 1] = contents_of(value)
      elseif PLAIN[binding.kind] then
        parts[#parts + 1] = tostring(value)
      elseif binding.kind ~= "array" then
        return nil
      end
    end
  end
  for _, range in ipairs(run.space.ranges) do parts[#parts + 1] = table.concat(range, ":") end
  return table.concat(parts, "|")
end

--- Finds out whether iterations of a loop meet, unless that is known from the last time.
-- @tab run a planned run whose plan has `collisions`
-- @treturn boolean|nil true: none do; false: some do; nil: it cannot be known
-- @treturn table|nil of false: two that meet, {from =, to = indices}; of nil: the error that the
-- inspection ended in, if any
-- Errors: WRK INT NET.
function M.prove(run)
  local plan = run.plan
  local state = state_of(run)
  if state and plan.proved == state then return true end
  plan.proved = nil
  local ok, first, other = random.uncounted(plans.silently, look, run)
  if not ok then
    if not errors.is(first) or not HARMLESS[first.code] then error(first, 0) end
    return nil, first
  elseif not first then
    return nil
  elseif first < math.huge then
    local from, to = math.min(first, other), math.max(first, other)
    return false, {from = iteration_of(run.space, from), to = iteration_of(run.space, to)}
  end
  plan.proved = state
  return true
end

return M
