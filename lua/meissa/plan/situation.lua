-- SPDX-License-Identifier: MIT
--- Situations: what an analysis depends on beside the loop's text.
--
-- A situation is a table that belongs to a loop's bindings but for their numbers, and to its space
-- but for where its ranges begin and end: `form`, a string; `extents`, those of arrays, as one;
-- `shape`, both; `parameters`, the bindings of numbers that may reach a subscript; `operands`, see
-- meissa.plan.operands.
-- @module meissa.plan.situation

local ffi = require "ffi"
local spaces = require "meissa.plan.space"
local views = require "meissa.plan.views"

local M = {}

local FLAGS = {
  "draws", "changes", "stores", "aliased", "sole_name", "plain_data", "stores_nothing", "kept",
  "numbers", "listed", "owned",
}

--- By capture, whether a plan may depend on what it holds, if that is a number.
-- @tab record the loop's @tab bindings those of all captures; they keep the answer
function M.parameters(record, bindings)
  if bindings.parameters then return bindings.parameters end
  local arrays = {}
  for c, binding in ipairs(bindings) do arrays[c] = binding.kind == "array" end
  bindings.parameters = record.loop:parameters(arrays, bindings.inside)
  return bindings.parameters
end

-- What the analysis depends on, but for extents, numbers, and where ranges begin and end, as one
-- string: which arrays are the same and which extents are equal, kinds of values, the space's
-- options. The second result are the extents as a string, the third the bindings of numbers that
-- may reach a subscript: what a driver loop changes from one plan to the next.
local function describe(record, space, bindings)
  local parts, parameters = {spaces.shape(space), space.source or ""}, {}
  local extents, equal, different = {}, {}, 0
  local function add(value) parts[#parts + 1] = value end
  local function add_extent(extent)
    if not equal[extent] then
      different = different + 1
      equal[extent] = different
    end
    add(equal[extent])
    extents[#extents + 1] = extent
  end
  local seen, stores, names, memories = {}, {}, 0, 0
  local function memory_of(storage)
    if not stores[storage] then
      memories = memories + 1
      stores[storage] = memories
    end
    return stores[storage]
  end
  local function describe_one(binding, matters)
    add(binding.kind)
    add(binding.depth)
    if binding.kind == "array" then
      if not seen[binding.array] then
        names = names + 1
        seen[binding.array] = names
      end
      add(seen[binding.array]) add(memory_of(binding.storage))
      add(#binding.dims)
      for _, extent in ipairs(binding.dims) do add_extent(extent) end
      if binding.view then extents[#extents + 1] = views.words(binding.view) end
      add(binding.sparse and "s" or "d")
      add(binding.integer and "i" or "f")
      if binding.scratch then add(binding.replica and "replica" or "scratch") end
      if binding.frozen then add "frozen" end
      if binding.buffers then
        add "b"
        add(memory_of(binding.buffers))
        add(binding.delay or "")
      end
    elseif binding.kind == "number" or binding.kind == "boolean" then
      if matters then parameters[#parameters + 1] = binding end
    elseif binding.name then
      add(binding.name)
    elseif binding.reached then
      add(table.concat(binding.reached, ","))
    end
    if binding.code then
      add(binding.code_id)
      add(table.concat(binding.means, ","))
    end
    if binding.fields then add(table.concat(binding.fields, ",")) end
    for _, flag in ipairs(FLAGS) do
      if binding[flag] then add(flag) end
    end
    if binding.metamethods then add(binding.metamethods) end
    if binding.levels then add("l" .. binding.levels) end
    if binding.receiver then add("r" .. binding.receiver) end
    if binding.impure then add(binding.impure) end
    if binding.changer then add(binding.changer) end
    if binding.globals then add(binding.globals) end
    if binding.alias then add("= " .. binding.alias) end
    if binding.other then add("also by " .. binding.other) end
  end
  local is_parameter = M.parameters(record, bindings)
  for c, binding in ipairs(bindings) do describe_one(binding, is_parameter[c]) end
  for _, binding in ipairs(bindings.inner) do describe_one(binding, true) end
  return table.concat(parts, "|"), table.concat(extents, "x"), parameters
end

local doubles = ffi.typeof "double[?]"

--- The numbers of a situation, and where its ranges begin and end, as bytes.
function M.numbers(situation, space)
  local parameters, ranges = situation.parameters, space.ranges
  local count = #parameters + 2 * #ranges
  situation.room = situation.room or doubles(count)
  local room = situation.room
  for k, binding in ipairs(parameters) do room[k - 1] = binding.number end
  for d, range in ipairs(ranges) do
    room[count - 2 * d], room[count - 2 * d + 1] = range[1], range[2]
  end
  return ffi.string(room, 8 * count)
end

--- Fills a situation, unless it is known.
-- @tab situation empty, or what this has filled before
function M.describe(situation, record, space, bindings)
  if situation.shape then return end
  local form, extents, parameters = describe(record, space, bindings)
  situation.form, situation.extents, situation.parameters = form, extents, parameters
  situation.shape = form .. "|" .. extents
end

return M
