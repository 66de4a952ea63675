-- SPDX-License-Identifier: MIT
--- What a loop's captures are, from one execution to the next.
--
-- Finding out what captured values mean to the analyser takes time, and in a driver loop little
-- changes: what the last execution found is kept as long as the same values are captured, but for
-- numbers. Lives in the loop's record; keeps no array alive.
-- @module meissa.captured

local analyze = require "meissa.analyze"
local array = require "meissa.array"
local buffers = require "meissa.buffer"
local capture = require "meissa.capture"
local frame = require "meissa.frame"
local scratches = require "meissa.scratch"
local spaces = require "meissa.space"
local undefined = require "meissa.undefined"

local M = {}

-- What the analyser is told of an array.
local function describe_array(value)
  if not array.is(value) then return buffers.describe(value) end
  local about = array.describe(value)
  return {array = about.id, storage = about.store, dims = about.dims, sparse = about.sparse,
          integer = about.type:find("^int") ~= nil, type = about.type,
          scratch = scratches.is(value)}
end

analyze.add_describer(describe_array)

-- Kinds of captured values that are what they were when they are the same value.
local UNCHANGING = {["nil"] = true, number = true, boolean = true, string = true, array = true,
                    builtin = true}

-- The value that a kernel gets for a captured one: a row of an array stands for its view, a buffer
-- for what is pending in it.
local function value_of(binding, value)
  return binding.kind == "array" and array.to_handle(buffers.pending(value), true) or value
end

-- What the last execution resolved, if nothing has changed since but numbers and ranges: bindings,
-- brought up to date, the captured values, and the plan, unless it may depend on what has changed.
local function recall(record, space, roots)
  local recent = record.recent
  if not recent or recent.shape ~= spaces.shape(space) then return nil end
  if space.array and array.describe(space.array).id ~= recent.source_id then return nil end
  local bindings, values, given = recent.bindings, {}, {}
  local same = recent.space_key == spaces.key(space)
  for c, each in ipairs(record.captures) do
    local value, binding = frame.follow(each, roots[c]), bindings[c]
    if type(value) == "number" and binding.kind == "number" then
      same = same and not (each.parameter and value ~= binding.number)
      binding.number = value
    elseif not rawequal(value, recent.seen[c]) then
      record.recent = nil -- its numbers may be half up to date
      return nil
    end
    values[c], given[c] = value_of(binding, value), value
  end
  space.source = recent.source
  if same then
    space.positions = recent.positions
    return bindings, values, recent.plan
  end
  for c, binding in ipairs(bindings) do binding.value = given[c] end
  return bindings, values
end

-- Finds out what is captured.
local function resolve(record, space, roots, env)
  local numbers = {}
  for c, each in ipairs(record.captures) do numbers[each] = c end
  local bindings = capture.resolve(record.captures, function(each) return roots[numbers[each]] end,
                                   describe_array, nil, record.names)
  if not space.serial then undefined.check(record, bindings, roots, env) end
  if space.array then
    space.source = capture.source(bindings, describe_array(space.array), space.array)
  end
  local values = {}
  for c, binding in ipairs(bindings) do values[c] = value_of(binding, binding.value) end
  return bindings, values
end

--- Remembers what an execution found, for the next one.
function M.remember(record, space, plan, bindings)
  for _, binding in ipairs(bindings) do
    if not UNCHANGING[binding.kind] then return end
  end
  if #bindings ~= #record.captures then return end
  -- Weak: a loop that has run does not keep its arrays alive.
  local seen = setmetatable({}, {__mode = "v"})
  for c, binding in ipairs(bindings) do seen[c], binding.value = binding.value, nil end
  record.recent = {space_key = spaces.key(space), shape = spaces.shape(space),
                   source = space.source, plan = plan,
                   positions = space.positions,
                   source_id = space.array and array.describe(space.array).id,
                   bindings = bindings, seen = seen}
end

--- What is captured.
-- @tab record the loop's @tab space the iteration space; its `source` is set
-- @tab roots the captures' root variables @tab env globals of the caller
-- @treturn table bindings, by capture and beyond @treturn table values, by capture
-- @treturn table|nil the last execution's plan, if nothing has changed that a plan depends on
-- Errors: SRC for undefined names.
function M.find(record, space, roots, env)
  local bindings, values, plan = recall(record, space, roots)
  if not bindings then bindings, values = resolve(record, space, roots, env) end
  return bindings, values, plan
end

return M
